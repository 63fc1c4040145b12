// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user compiles: one kernel that allocates, and its launch.
#include <warpheap/warpheap.hpp>

__global__ void squares(warpheap::heap_ref heap, int** out) {
  int* mine = static_cast<int*>(heap.malloc(sizeof(int)));
  if (mine != nullptr) *mine = static_cast<int>(threadIdx.x * threadIdx.x);
  out[threadIdx.x] = mine;
}

void run(int** out) {
  const warpheap::heap heap{warpheap::device::cuda(0), 1 << 20};
  squares<<<1, 32>>>(heap.ref(), out);
}
