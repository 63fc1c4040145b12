// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Device memory and times for the peers. As the survey's own baselines they take memory from the
/// driver's stream-ordered pool, which keeps what is freed, so that no peer pays for `cudaMalloc`.

#include <cuda_runtime_api.h>
#include <chrono>
#include <cstddef>
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

template <class T>
std::vector<T> copy_to_host(const T* from, std::size_t count) {
  std::vector<T> copy(count);
  check(cudaMemcpy(copy.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
  return copy;
}

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

 private:
  std::size_t count_;
  T* data_;
};

inline void wait() { check(cudaDeviceSynchronize(), "run a peer's kernels"); }

/// Appends the milliseconds of `act`, and of what it launched, to `times`.
template <class Act>
void timed(std::vector<double>& times, const Act& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  wait();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  times.push_back(took.count());
}

}  // namespace warpheap::bench::peers
