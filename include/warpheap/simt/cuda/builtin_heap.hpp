// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cuda/device.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The allocator that comes with CUDA. Its heap belongs to the device.
struct builtin_heap {
  /// \throws cuda_error if a kernel has already used the built-in heap, because its size is then
  /// fixed
  static void set_size(std::size_t bytes) {
    runtime::check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes),
                   "set the size of the built-in heap");
  }
  WARPHEAP_DEVICE static void* malloc(std::size_t bytes) { return ::malloc(bytes); }
  WARPHEAP_DEVICE static void free(void* block) { ::free(block); }
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
