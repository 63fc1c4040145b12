// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One line for the size and the manager, what the heap reports about itself, wrong settings, a
// reset of the device, pointers that are not from the heap.
#include "check.h"

#include "warpheap/malloc.h"

#include <cstring>

__global__ void take(void** all, std::size_t bytes) {
  all[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes);
}
__global__ void give(void** all) { free(all[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void give_foreign(char* memory) { free(memory + 256 * threadIdx.x); }

static warpheap_malloc_statistics now() {
  warpheap_malloc_statistics found;
  CHECK(warpheap_malloc_get_statistics(&found) == 0);
  return found;
}

int main() {
  CHECK(warpheap_malloc_use(1 << 28, "galatin") == 1);
  CHECK(std::strstr(warpheap_malloc_error(), "'galatin'") != nullptr);
  CHECK(warpheap_malloc_use(1, nullptr) == 1);
  CHECK(std::strstr(warpheap_malloc_error(), "too small") != nullptr);
  CHECK(warpheap_malloc_use(~std::size_t(0) / 4, "gallatin") == 1);
  CHECK(now().heap_bytes == 0);
  CHECK(warpheap_malloc_use(1 << 28, "gallatin") == 0);

  const unsigned blocks = 1000;
  void** all = managed<void*>(blocks);
  take<<<10, 100>>>(all, 40);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(now().heap_bytes == 1 << 28);
  CHECK(now().blocks_in_use == blocks);
  CHECK(warpheap_malloc_use(1 << 27, nullptr) == 1);
  CHECK(std::strstr(warpheap_malloc_error(), "already") != nullptr);

  char* foreign = nullptr;
  CUDA_CHECK(cudaMalloc(&foreign, 256 * 32));
  CUDA_CHECK(cudaMemset(foreign, 7, 256 * 32));
  give_foreign<<<1, 32>>>(foreign);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(now().blocks_in_use == blocks);
  char byte = 0;
  CUDA_CHECK(cudaMemcpy(&byte, foreign + 256, 1, cudaMemcpyDeviceToHost));
  CHECK(byte == 7);

  give<<<10, 100>>>(all);
  take<<<10, 100>>>(all, std::size_t(1) << 40);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(now().blocks_in_use == 0 && now().impossible == blocks && now().unserved == 0);

  CUDA_CHECK(cudaDeviceReset());
  all = managed<void*>(blocks);
  take<<<10, 100>>>(all, 40);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(all[0] != nullptr && now().blocks_in_use == blocks && now().unserved == 0);
  std::puts("says_size");
  return 0;
}
