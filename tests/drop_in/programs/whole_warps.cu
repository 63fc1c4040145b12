// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole warps take a small block and one of each of many sizes, from a heap of the default size,
// which is larger than 16 GiB on a GPU with more than 128 GiB, where its chunks are larger, too.
#include "check.h"
#include "lane_steps.h"

__global__ void churn(std::size_t bytes, unsigned* served, volatile unsigned char* steps) {
  volatile unsigned char& step = steps[blockIdx.x * blockDim.x + threadIdx.x];
  step = 1;
  int* block = new int(threadIdx.x);
  step = 2;
  void* other = malloc(bytes);
  step = 3;
  if (block != nullptr && *block == static_cast<int>(threadIdx.x) && other != nullptr) {
    atomicAdd(served, 1u);
  }
  delete block;
  step = 4;
  free(other);
  step = 5;
}

int main() {
  unsigned* served = managed<unsigned>(1);
  lane_steps steps(256);
  for (std::size_t bytes = 16; bytes <= std::size_t(1) << 20; bytes = 2 * bytes + 3) {
    *served = 0;
    steps.clear();
    // On stderr, so that the size it stopped at is known.
    std::fprintf(stderr, "whole_warps: %zu bytes\n", bytes);
    churn<<<4, 64>>>(bytes, served, steps.seen_by_device());
    steps.wait(10, "whole_warps: churn");
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(*served == 256);
  }
  std::puts("whole_warps");
  return 0;
}
