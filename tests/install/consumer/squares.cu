// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "squares.hpp"

#include <warpheap/warpheap.hpp>

__global__ void squares(warpheap::heap_ref heap, int* sum) {
  int* mine = static_cast<int*>(heap.malloc(sizeof(int)));
  if (mine == nullptr) return;
  *mine = static_cast<int>(threadIdx.x * threadIdx.x);
  atomicAdd(sum, *mine);
}

int sum_of_squares(const warpheap::any_heap& heap, int lanes) {
  int* sum = nullptr;
  cudaMallocManaged(&sum, sizeof *sum);
  *sum = 0;
  squares<<<1, lanes>>>(heap.ref<warpheap::heap_ref>(), sum);
  cudaDeviceSynchronize();
  const int result = *sum;
  cudaFree(sum);
  return result;
}
