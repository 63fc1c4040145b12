// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/case.hpp"
#include "bench/host/machine.hpp"

#include <cstdint>
#include <optional>

namespace warpheap::bench {

/// Whether a heap that is all free hands out one block of `bytes`, with contents that stay; null if
/// the manager does not claim such blocks. The block is free again afterwards.
std::optional<bool> gives_block(const case_run& c, test_heap& heap, std::uint64_t bytes);

}  // namespace warpheap::bench
