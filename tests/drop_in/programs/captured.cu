// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first launch of the process is captured into a graph, in CUDA's strictest mode.
#include "check.h"

__global__ void churn(unsigned* served) {
  unsigned* block = new unsigned(threadIdx.x);
  if (block != nullptr && *block == threadIdx.x) atomicAdd(served, 1u);
  delete block;
}

int main() {
  unsigned* served = managed<unsigned>(1);
  *served = 0;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  churn<<<4, 64, 0, stream>>>(served);
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t launchable;
  CUDA_CHECK(cudaGraphInstantiate(&launchable, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA_CHECK(cudaGraphLaunch(launchable, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(*served == 3 * 256);
  std::puts("captured");
  return 0;
}
