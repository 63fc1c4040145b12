// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/machine.hpp"
#include "warpheap/heap/contracts/contracts.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

/// A manager that the program was built with.
struct catalog_entry {
  bench::manager_info info;
  std::unique_ptr<bench::test_heap> (*open)(const device& on, const bench::heap_settings& settings);
  bench::call_resources (*resources)(const device& on);
};

/// In the registry's order.
using catalog = std::vector<catalog_entry>;

/// What is to be known of a manager, as far as its claims tell it.
bench::manager_info describe(const capabilities& about, allocation_scope scope);

/// Fills in the managers number `Shard`, `Shard + shards`, ... of the registry. Every shard is a
/// translation unit of its own, so that several compile at the same time.
template <std::size_t Shard>
void add_shard(catalog& entries);

}  // namespace backend
WARPHEAP_END_NAMESPACE
