// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with a frame of 8 KiB, more than cudaLimitStackSize is by default, allocate: the frame
// and what malloc and free need beside it must all be there.
#include "check.h"

constexpr int words = 2048;

__global__ void churn(int step, unsigned* whole) {
  const int rank = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int frame[words];
  // A step that the compiler does not know keeps the array in memory.
  for (int i = 0, at = 0; i < words; ++i, at = (at + step) % words) frame[at] = rank ^ i;
  int* small = new int(rank);
  int* large = static_cast<int*>(malloc(sizeof frame));
  bool right = small != nullptr && *small == rank && large != nullptr;
  for (int i = 0, at = 0; right && i < words; ++i, at = (at + step) % words) {
    right = frame[at] == (rank ^ i);
    large[at] = frame[at];
  }
  delete small;
  free(large);
  for (int i = 0, at = 0; right && i < words; ++i, at = (at + step) % words) {
    right = frame[at] == (rank ^ i);
  }
  if (right) atomicAdd(whole, 1u);
}

int main() {
  const unsigned lanes = 512 * 128;
  unsigned* whole = managed<unsigned>(1);
  *whole = 0;
  churn<<<512, 128>>>(5, whole);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("large_frames: %u of %u lanes right\n", *whole, lanes);
  return *whole == lanes ? 0 : 1;
}
