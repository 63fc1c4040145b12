// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What both hash tables of cuCollections take: rows, and memory.

#include "bench/peers/cuda/memory.hpp"
#include "bench/workloads/tables/table.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cuco/pair.cuh>

#include <cstddef>
#include <cstdint>

namespace warpheap::bench::peers {

/// What cuCollections allocates with.
template <class T>
struct pool_allocator {
  using value_type = T;

  pool_allocator() = default;
  template <class Other>
  pool_allocator(const pool_allocator<Other>&) {}

  T* allocate(std::size_t count) { return peers::allocate<T>(count); }
  void deallocate(T* pointer, std::size_t /*count*/) { cudaFreeAsync(pointer, nullptr); }
};

using row = cuco::pair<std::uint32_t, std::uint32_t>;

/// Row `i` of two columns.
struct row_of_columns {
  const std::uint32_t* keys;
  const std::uint32_t* values;
  __device__ row operator()(std::uint32_t i) const { return {keys[i], values[i]}; }
};

/// A table in columns, which kernels read as pairs.
struct device_rows {
  array<std::uint32_t> keys;
  array<std::uint32_t> values;
  std::uint32_t count;

  explicit device_rows(const table& from)
      : keys(from.keys), values(from.values), count(static_cast<std::uint32_t>(from.rows())) {}

  auto begin() const {
    return thrust::make_transform_iterator(thrust::counting_iterator<std::uint32_t>(0),
                                           row_of_columns{keys.data(), values.data()});
  }
  auto end() const { return begin() + count; }
};

/// Slots of a table that `rows` rows may fill.
inline std::size_t slots_for(std::uint64_t rows, double load) {
  return static_cast<std::size_t>(static_cast<double>(rows) / load) + 1;
}

}  // namespace warpheap::bench::peers
