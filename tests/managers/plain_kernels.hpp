// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels that a user writes first, without launch bounds: a block of 1024 threads is launched
/// only if a thread needs at most 64 registers. CUDA only. `Subject::manager` is the manager; what
/// else is in the name of the type is in the kernel's, too.

#include "warpheap/heap/heap.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <class Subject, class M = typename Subject::manager>
__global__ void allocate_plainly(handle<M> heap, void** out, std::size_t bytes) {
  const auto thread = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (block_manager<M>) {
    out[thread] = heap.malloc(bytes);
  } else {
    const auto mine = heap.begin();
    out[thread] = heap.malloc(mine, bytes);
    heap.end(mine);
  }
}

/// The size is known when the kernel is compiled.
template <class Subject, class M = typename Subject::manager>
__global__ void allocate_constant(handle<M> heap, void** out) {
  const auto thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = heap.malloc(64);
}

template <class Subject, class M = typename Subject::manager>
__global__ void allocate_twice(handle<M> heap, void** out, std::size_t first, std::size_t second) {
  const auto thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[2 * thread] = heap.malloc(first);
  out[2 * thread + 1] = heap.malloc(second);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
