// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain CUDA kernel with the launch syntax that CUDA programmers use.

#include <warpheap/warpheap.hpp>

#include <cstdio>
#include <cstdlib>

using namespace warpheap::literals;

__global__ void squares(warpheap::heap_ref heap, int** out) {
  auto* mine = static_cast<int*>(heap.malloc(sizeof(int)));
  if (mine != nullptr) *mine = static_cast<int>(threadIdx.x * threadIdx.x);
  out[threadIdx.x] = mine;
}

__global__ void collect(warpheap::heap_ref heap, int** out, int* sum) {
  int* theirs = out[threadIdx.x];
  if (theirs != nullptr) atomicAdd(sum, *theirs);
  heap.free(theirs);
}

int main() {
  try {
    warpheap::heap heap{warpheap::device::cuda(0), 1_MiB};
    int** out = nullptr;
    int* sum = nullptr;
    if (cudaMalloc(&out, 100 * sizeof(int*)) != cudaSuccess ||
        cudaMallocManaged(&sum, sizeof(int)) != cudaSuccess) {
      std::fprintf(stderr, "kernel: no device memory\n");
      return EXIT_FAILURE;
    }
    *sum = 0;
    squares<<<1, 100>>>(heap.ref(), out);
    collect<<<1, 100>>>(heap.ref(), out, sum);
    heap.on().synchronize();
    std::printf("sum of squares: %d (expected 328350)\n", *sum);
    const bool right = *sum == 328350;
    cudaFree(out);
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "kernel: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
