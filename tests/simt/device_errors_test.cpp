// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only CUDA's error for a lack of memory becomes out_of_memory. Without a GPU: the linker replaces
// the functions of CUDA by those below (`--wrap`).
#include "message_of.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/bump/bump.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <cstddef>
#include <string>
#include <utility>

namespace {

/// What `cudaMalloc` returns, and the error that it leaves for `cudaGetLastError`.
cudaError_t refusal = cudaSuccess;
cudaError_t left_behind = cudaSuccess;

cudaError_t describe(cudaDeviceProp* properties) {
  *properties = {};
  properties->totalGlobalMem = 1000;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return describe(properties);
}
cudaError_t __wrap_cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int) {
  return describe(properties);
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaMalloc(void** pointer, std::size_t) {
  *pointer = nullptr;
  return left_behind = refusal;
}
cudaError_t __wrap_cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = 100;
  *all = 1000;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() { return std::exchange(left_behind, cudaSuccess); }

}  // extern "C"

namespace warpheap {
namespace {

TEST(device_errors, a_lack_of_memory_becomes_out_of_memory) {
  refusal = cudaErrorMemoryAllocation;
  const device there = device::cuda(0);
  const auto message = test::message_of<out_of_memory>([&] { there.allocate(12345); });
  EXPECT_NE(message.find("cannot allocate 12345 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("100 of 1000 bytes of memory free"), std::string::npos) << message;
  EXPECT_EQ(left_behind, cudaSuccess) << "the next call would report it";
  EXPECT_THROW((heap<bump<>>(there, 12345)), out_of_memory);
}

TEST(device_errors, any_other_error_is_cudas_own) {
  const device there = device::cuda(0);
  for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure,
                                  cudaErrorInvalidDevice, cudaErrorStreamCaptureUnsupported}) {
    refusal = error;
    const auto message = test::message_of<simt::cuda_error>([&] { there.allocate(12345); });
    EXPECT_NE(message.find("allocate device memory on CUDA device 0"), std::string::npos)
        << message;
    EXPECT_NE(message.find(cudaGetErrorName(error)), std::string::npos) << message;
    EXPECT_EQ(left_behind, cudaSuccess) << "the next call would report it";
    EXPECT_THROW((heap<bump<>>(there, 12345)), simt::cuda_error);
  }
}

}  // namespace
}  // namespace warpheap
