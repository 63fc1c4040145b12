// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every module and every device of a process. The library (modules_library.cu) has device code and
// symbols of its own: blocks that it takes are freed here, and the other way round.
#include "check.h"

void library_take(void** all, unsigned count);
void library_give(void** all, unsigned count);

__global__ void take(void** all) { all[threadIdx.x] = malloc(100); }
__global__ void give(void** all) { free(all[threadIdx.x]); }

int main() {
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    void** all = managed<void*>(128);
    for (int round = 0; round < 2; ++round) {
      library_take(all, 64);
      take<<<1, 64>>>(all + 64);
      CUDA_CHECK(cudaDeviceSynchronize());
      for (int i = 0; i < 128; ++i) CHECK(all[i] != nullptr);
      // Of one heap: within the size that the script chose.
      const char* low = static_cast<char*>(all[0]);
      for (int i = 0; i < 128; ++i) {
        CHECK(std::labs(static_cast<char*>(all[i]) - low) < (1l << 28));
      }
      give<<<1, 64>>>(all);
      library_give(all + 64, 64);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }
  std::printf("modules: an executable and a library on %d devices\n", devices);
  return 0;
}
