// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a shard's translation unit consists of: `WARPHEAP_BENCH_SHARD` is its number.

#include "bench/backend/catalog.hpp"
#include "bench/backend/heap_of.hpp"
#include "warpheap/registry.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

template <std::size_t Shard>
void add_shard(catalog& entries) {
  std::size_t number = Shard;
  shard_of<managers, Shard, WARPHEAP_BENCH_SHARDS>::for_each([&](auto type) {
    using manager = typename decltype(type)::type;
    entries[number] = entry_of<manager>();
    number += WARPHEAP_BENCH_SHARDS;
  });
}

template void add_shard<WARPHEAP_BENCH_SHARD>(catalog& entries);

}  // namespace backend
WARPHEAP_END_NAMESPACE
