// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that call malloc and new, with kernels whose launch bounds leave few registers. Runs on a
// machine with a GPU, and says what it is missing on another.
#include <cuda_runtime.h>
#include <cstdio>

struct pair {
  int first;
  int second;
};

__global__ void take(pair** out) { out[threadIdx.x] = new pair{1, 2}; }

// 32 registers per lane.
__global__ void __launch_bounds__(1024, 2) give(pair** out) { delete out[threadIdx.x]; }
__global__ void __launch_bounds__(1024, 2) take_bounded(pair** out) {
  out[threadIdx.x] = static_cast<pair*>(malloc(sizeof(pair)));
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("linked; no GPU to run on");
    return 0;
  }
  pair** out = nullptr;
  cudaMallocManaged(&out, 64 * sizeof *out);
  take<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  const bool served = out[0] != nullptr && out[0] != out[1];
  give<<<1, 64>>>(out);
  take_bounded<<<1, 64>>>(out);
  const bool bounded = cudaDeviceSynchronize() == cudaSuccess && out[0] != nullptr;
  give<<<1, 64>>>(out);
  return served && bounded && cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
