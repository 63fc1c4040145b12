// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every module and every device of a process. The library (modules_library.cu) has device code and
// symbols of its own: blocks that it takes are freed here, and the other way round. It is linked
// with this program, or opened while it runs.
//
//   modules               compiled with LIBRARY_IS_LINKED
//   modules LIBRARY       the library to open
#include "check.h"

#include <dlfcn.h>

__global__ void take(void** all) { all[threadIdx.x] = malloc(100); }
__global__ void give(void** all) { free(all[threadIdx.x]); }

struct library {
  void (*take)(void** all, unsigned count);
  void (*give)(void** all, unsigned count);
};

#ifdef LIBRARY_IS_LINKED
extern "C" void library_take(void** all, unsigned count);
extern "C" void library_give(void** all, unsigned count);
static library find_library(int, char**) { return {library_take, library_give}; }
#else
static library find_library(int argc, char** argv) {
  CHECK(argc == 2);
  void* const opened = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  CHECK(opened != nullptr);
  library found = {};
  *reinterpret_cast<void**>(&found.take) = dlsym(opened, "library_take");
  *reinterpret_cast<void**>(&found.give) = dlsym(opened, "library_give");
  CHECK(found.take != nullptr && found.give != nullptr);
  return found;
}
#endif

int main(int argc, char** argv) {
  const library other = find_library(argc, argv);
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    void** all = managed<void*>(128);
    for (int round = 0; round < 2; ++round) {
      other.take(all, 64);
      take<<<1, 64>>>(all + 64);
      CUDA_CHECK(cudaDeviceSynchronize());
      for (int i = 0; i < 128; ++i) CHECK(all[i] != nullptr);
      // Of one heap: within the size that the script chose.
      const char* low = static_cast<char*>(all[0]);
      for (int i = 0; i < 128; ++i) {
        CHECK(std::labs(static_cast<char*>(all[i]) - low) < (1l << 28));
      }
      give<<<1, 64>>>(all);
      other.give(all + 64, 64);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }
  std::printf("modules: an executable and a library on %d devices\n", devices);
  return 0;
}
