// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Device memory for the peers. As the survey's own baselines they take it from the driver's
/// stream-ordered pool, which keeps what is freed, so that no peer pays for `cudaMalloc`.

#include "bench/workloads/tables/csv.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cuco/pair.cuh>

#include <cuda_runtime_api.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpheap::bench::peers {

inline void check(cudaError_t status, const char* attempted) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("cannot ") + attempted + ": " + cudaGetErrorString(status));
}

template <class T>
T* allocate(std::size_t count) {
  void* pointer = nullptr;
  check(cudaMallocAsync(&pointer, count * sizeof(T), nullptr), "allocate device memory");
  return static_cast<T*>(pointer);
}

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

template <class T>
class array {
 public:
  explicit array(std::size_t count) : count_(count), data_(allocate<T>(count == 0 ? 1 : count)) {}
  explicit array(const std::vector<T>& from) : array(from.size()) {
    check(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() { cudaFreeAsync(data_, nullptr); }

  T* data() const { return data_; }
  void clear() { check(cudaMemsetAsync(data_, 0, count_ * sizeof(T), nullptr), "clear memory"); }
  std::vector<T> to_host(std::size_t count) const {
    std::vector<T> copy(count);
    check(cudaMemcpy(copy.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return copy;
  }

 private:
  std::size_t count_;
  T* data_;
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

/// Adds the time of `act`, and of what it launched, to `times`; returns what it is itself.
template <class Act>
void timed(std::vector<double>& times, const Act& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  check(cudaStreamSynchronize(nullptr), "run a peer's kernels");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  times.push_back(took.count());
}

}  // namespace warpheap::bench::peers
