// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that was not written for warpheap: C++14, malloc, new, delete, free in
// kernels. Linked with or without warpheap::malloc it prints how long a round takes.
//
// usage: unchanged [THREADS [ROUNDS]]
#include "check.h"

#include <algorithm>
#include <new>
#include <vector>

struct node {
  __device__ explicit node(unsigned v) : value(v), next(nullptr) {}
  __device__ ~node() { value = ~0u; }
  unsigned value;
  node* next;
};

struct blocks {
  unsigned* by_malloc;
  int* by_new_array;
  node* by_new;
};

__global__ void take(blocks* all, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  blocks mine = {static_cast<unsigned*>(malloc(16)), new int[4], new node(i)};
  if (mine.by_malloc != nullptr) mine.by_malloc[3] = i;
  if (mine.by_new_array != nullptr) mine.by_new_array[3] = static_cast<int>(i);
  all[i] = mine;
}

__global__ void give(const blocks* all, unsigned count, unsigned* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const blocks mine = all[i];
  const bool right = mine.by_malloc != nullptr && mine.by_malloc[3] == i &&
                     mine.by_new_array != nullptr && mine.by_new_array[3] == static_cast<int>(i) &&
                     mine.by_new != nullptr && mine.by_new->value == i;
  if (!right) atomicAdd(wrong, 1u);
  free(mine.by_malloc);
  delete[] mine.by_new_array;
  delete mine.by_new;
  free(nullptr);
  delete static_cast<node*>(nullptr);
}

__global__ void sizes(const std::size_t* bytes, unsigned char** all) {
  const unsigned i = threadIdx.x;
  all[i] = static_cast<unsigned char*>(malloc(bytes[i]));
  if (all[i] != nullptr) all[i][0] = all[i][bytes[i] - 1] = static_cast<unsigned char>(i);
}

__global__ void give_sizes(const std::size_t* bytes, unsigned char** all, unsigned* wrong) {
  const unsigned i = threadIdx.x;
  if (all[i] == nullptr || all[i][0] != i || all[i][bytes[i] - 1] != i) atomicAdd(wrong, 1u);
  free(all[i]);
}

__global__ void exhaust(void** all, unsigned count, std::size_t bytes, unsigned* got) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    all[i] = malloc(bytes);
    if (all[i] != nullptr) atomicAdd(got, 1u);
  }
}

__global__ void give_exhausted(void** all, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) free(all[i]);
}

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? whole("THREADS", argv[1], 1000000000) : 100000;
  const unsigned rounds = argc > 2 ? whole("ROUNDS", argv[2], 1000) : 3;
  const std::size_t heap = std::size_t(512) << 20;
  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap));
  blocks* all = managed<blocks>(threads);
  unsigned* wrong = managed<unsigned>(1);
  *wrong = 0;
  cudaEvent_t begin, end;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (unsigned round = 0; round <= rounds; ++round) {
    CUDA_CHECK(cudaMemset(all, 0, threads * sizeof(blocks)));
    CUDA_CHECK(cudaEventRecord(begin));
    take<<<(threads + 255) / 256, 256>>>(all, threads);
    give<<<(threads + 255) / 256, 256>>>(all, threads, wrong);
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(*wrong == 0);
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (round != 0) times.push_back(ms);  // the first one warms up
  }
  std::sort(times.begin(), times.end());

  const unsigned count = 6;
  std::size_t* bytes = managed<std::size_t>(count);
  unsigned char** some = managed<unsigned char*>(count);
  const std::size_t wanted[count] = {1, 5000, 8192, 8193, 100000, 5000000};
  std::copy(wanted, wanted + count, bytes);
  sizes<<<1, count>>>(bytes, some);
  give_sizes<<<1, count>>>(bytes, some, wrong);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(*wrong == 0);

  // More than twice what the program asked CUDA for, so that both heaps are exhausted where the
  // environment chooses no more.
  const unsigned most = 20000;
  void** many = managed<void*>(most);
  unsigned* got = managed<unsigned>(2);
  got[0] = got[1] = 0;
  for (int again = 0; again < 2; ++again) {
    exhaust<<<1, 256>>>(many, most, 100000, got + again);
    give_exhausted<<<1, 256>>>(many, most);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(got[0] > 0 && got[0] < most);
  CHECK(got[1] > got[0] / 10 * 9);
  std::printf("unchanged: %u threads, three blocks of 16 bytes each, malloc and free: %.3f ms\n",
              threads, times[times.size() / 2]);
  return 0;
}
