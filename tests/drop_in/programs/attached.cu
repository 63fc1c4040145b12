// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program without kernels of its own gives the heap to a module of others, here a place in
// memory, and reports at exit: to be run with WARPHEAP_MALLOC_REPORT=1.
#include "check.h"

#include "warpheap/malloc.h"

int main() {
  void* state = nullptr;
  CUDA_CHECK(cudaMalloc(&state, warpheap_malloc_state_bytes()));
  CHECK(warpheap_malloc_attach(state, warpheap_malloc_state_bytes()) == 0);
  std::puts("attached");
  return 0;
}
