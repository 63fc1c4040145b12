// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "warpheap/host/pools/pool_interface.hpp"
#include "warpheap/host/pools/pool_options.hpp"
#include "warpheap/host/streams/stream.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// A pool by the name of its policy (policies/registry.hpp); defined in the library
/// `warpheap::host`. \throws invalid_argument for an unknown name, and what `stream_pool` throws
std::unique_ptr<pool_interface> make_pool(std::string_view name, std::shared_ptr<upstream> source,
                                          std::shared_ptr<stream_events> events,
                                          pool_options options = {});

/// The same in `parts` parts (`divided_pool`), each with events of its own.
std::unique_ptr<pool_interface> make_divided_pool(
    std::string_view name, std::shared_ptr<upstream> source,
    const std::function<std::shared_ptr<stream_events>()>& make_events, std::size_t parts,
    pool_options options = {});

}  // namespace warpheap::host
