// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception The code that must be compiled by nvcc
// when host code owns a heap.
#include "warpheap/any_heap.hpp"
#include "warpheap/warpheap.hpp"

namespace warpheap {

any_heap make_cuda_heap(int ordinal, std::size_t bytes, const cuda_heap_options& how) {
  device on = device::cuda(ordinal);
  if (how.stream != nullptr) on = on.on(static_cast<cudaStream_t>(how.stream));
  if (how.memory == nullptr) return heap<>(on, bytes);
  return heap<>(on, region{static_cast<std::byte*>(how.memory), bytes});
}

}  // namespace warpheap
