// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To be run with an impossible WARPHEAP_MALLOC_BYTES: requests return null, frees do nothing, and
// the program can find out.
#include "check.h"

#include "warpheap/malloc.h"

__global__ void churn(unsigned* nulls) {
  void* block = malloc(16);
  if (block == nullptr) atomicAdd(nulls, 1u);
  free(block);
}

int main() {
  unsigned* nulls = managed<unsigned>(1);
  *nulls = 0;
  for (int i = 0; i < 2; ++i) churn<<<4, 64>>>(nulls);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(*nulls == 2 * 256);
  warpheap_malloc_statistics found;
  CHECK(warpheap_malloc_get_statistics(&found) == 0);
  CHECK(found.heap_bytes == 0 && found.unserved == 2 * 256);
  std::puts("no_heap");
  return 0;
}
