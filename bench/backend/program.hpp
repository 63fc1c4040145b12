// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// All managers of the registry, from the shards that they were compiled in.

#include "bench/backend/catalog.hpp"
#include "bench/backend/describe.hpp"
#include "bench/backend/machine.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

template <std::size_t... Shards>
catalog make_catalog(std::index_sequence<Shards...>) {
  catalog entries(managers::size);
  (add_shard<Shards>(entries), ...);
  return entries;
}

inline catalog make_catalog() {
  return make_catalog(std::make_index_sequence<WARPHEAP_BENCH_SHARDS>{});
}

inline bench::backend_info describe(const char* name, std::uint64_t default_heap_bytes) {
  bench::backend_info described;
  described.name = name;
  described.has_clock = simt::has_clock;
  described.tells_resources = device::tells_resources;
  described.default_heap_bytes = default_heap_bytes;
  for (const catalog_entry& entry : make_catalog()) described.managers.push_back(entry.info);
  for (const missing_manager& missing : missing_managers) {
    // It would hand out blocks of any size.
    described.missing.push_back(
        {describe(missing.about, allocation_scope::thread), missing.reason});
  }
  return described;
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
