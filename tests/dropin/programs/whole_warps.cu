// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole warps take a small block and one of each of many sizes, from a heap of the size that nobody
// chose: larger than 16 GiB on a GPU with more than 128 GiB, where its chunks are larger, too.
#include "check.h"

__global__ void churn(std::size_t bytes, unsigned* served) {
  int* block = new int(threadIdx.x);
  void* other = malloc(bytes);
  if (block != nullptr && *block == static_cast<int>(threadIdx.x) && other != nullptr) {
    atomicAdd(served, 1u);
  }
  delete block;
  free(other);
}

int main() {
  unsigned* served = managed<unsigned>(1);
  for (std::size_t bytes = 16; bytes <= std::size_t(1) << 20; bytes = 2 * bytes + 3) {
    *served = 0;
    // On stderr, so that the size it stopped at is known.
    std::fprintf(stderr, "whole_warps: %zu bytes\n", bytes);
    churn<<<4, 64>>>(bytes, served);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(*served == 256);
  }
  std::puts("whole_warps");
  return 0;
}
