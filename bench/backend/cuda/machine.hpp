// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/backend/machine.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

/// The machine of the CUDA model. Scans and sorts are CUB's; pooled memory, CUB's scratch space
/// included, is the stream-ordered pool of the driver, which keeps what was freed. Everything is on
/// the default stream.
class cuda_machine final : public local_machine {
 public:
  cuda_machine(int ordinal, const catalog& entries)
      : local_machine(device::cuda(ordinal), entries), device_(device::cuda(ordinal)) {
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, ordinal), "find the device's pool");
    std::uint64_t all = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
          "let the device's pool keep its memory");
  }

  void* allocate_pooled(std::size_t bytes) override {
    void* pointer = nullptr;
    const cudaError_t status = cudaMallocAsync(&pointer, bytes, nullptr);
    if (status == cudaSuccess) return pointer;
    cudaGetLastError();  // the error must not surface at the next call
    if (status != cudaErrorMemoryAllocation)
      check(status, "allocate memory from the device's pool");
    throw out_of_memory("cannot allocate " + std::to_string(bytes) + " bytes from the pool of " +
                        info().device + ", which has " + std::to_string(info().memory_bytes) +
                        " bytes of memory");
  }
  void deallocate_pooled(void* pointer, std::size_t /*bytes*/) noexcept override {
    cudaFreeAsync(pointer, nullptr);
  }

  void exclusive_scan(std::uint64_t* numbers, std::uint64_t count) override {
    with_scratch([&](void* scratch, std::size_t& bytes) {
      check(cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, numbers, count), "add up");
    });
    device_.synchronize();
  }

  double sort(const bench::columns& from, const bench::columns& to, std::uint64_t count,
              int first_bit, int end_bit) override {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    check(cudaEventCreate(&begin), "create an event");
    check(cudaEventCreate(&end), "create an event");
    with_scratch([&](void* scratch, std::size_t& bytes) {
      if (scratch != nullptr) check(cudaEventRecord(begin), "record an event");
      check(cub::DeviceRadixSort::SortPairs(scratch, bytes, from.keys, to.keys, from.values,
                                            to.values, count, first_bit, end_bit),
            "sort");
      if (scratch != nullptr) check(cudaEventRecord(end), "record an event");
    });
    device_.synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "read a timer");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms;
  }

 private:
  static void check(cudaError_t status, const char* attempted) {
    simt::runtime::check(status, attempted);
  }

  /// Calls `act` as CUB wants it: without scratch space it says how much it needs.
  template <class Act>
  void with_scratch(const Act& act) {
    std::size_t bytes = 0;
    act(nullptr, bytes);
    if (bytes == 0) bytes = 1;
    void* scratch = allocate_pooled(bytes);
    act(scratch, bytes);
    deallocate_pooled(scratch, bytes);
  }

  device device_;
};

}  // namespace backend
WARPHEAP_END_NAMESPACE
