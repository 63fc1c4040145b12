// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code that NVRTC compiles and nvJitLink links with the device code of warpheap::malloc
// while the program runs. usage: jit DEVICE_MALLOC.fatbin ARCHITECTURE, for example sm_90
//
// Says on stderr what each step took, and where its lanes are if the kernel has not finished in
// time, so that the place where it stops is known.
#include "check.h"
#include "lane_steps.h"

#include "warpheap/malloc.h"

#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <chrono>
#include <string>
#include <vector>

static const char source[] = R"(
extern "C" __global__ void churn(unsigned* served, volatile unsigned char* steps) {
  volatile unsigned char& step = steps[blockIdx.x * blockDim.x + threadIdx.x];
  step = 1;
  int* block = new int(threadIdx.x);
  step = 2;
  void* other = malloc(20000);
  step = 3;
  if (block != nullptr && *block == threadIdx.x && other != nullptr) atomicAdd(served, 1u);
  delete block;
  step = 4;
  free(other);
  step = 5;
}
)";

static void done(const char* step) {
  using clock = std::chrono::steady_clock;
  static clock::time_point last = clock::now();
  const clock::time_point now = clock::now();
  std::fprintf(stderr, "jit: %s: %.3f s\n", step,
               std::chrono::duration<double>(now - last).count());
  last = now;
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  done("started");
  const std::string architecture = std::string("-arch=") + argv[2];
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "churn.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char* options[] = {architecture.c_str(), "--relocatable-device-code=true"};
  CHECK(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS);
  std::size_t bytes = 0;
  CHECK(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS);
  std::vector<char> compiled(bytes);
  CHECK(nvrtcGetCUBIN(program, compiled.data()) == NVRTC_SUCCESS);

  done("compiled");

  nvJitLinkHandle link;
  const char* link_options[] = {architecture.c_str()};
  CHECK(nvJitLinkCreate(&link, 1, link_options) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_CUBIN, compiled.data(), bytes, "churn") ==
        NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddFile(link, NVJITLINK_INPUT_FATBIN, argv[1]) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkComplete(link) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkGetLinkedCubinSize(link, &bytes) == NVJITLINK_SUCCESS);
  std::vector<char> linked(bytes);
  CHECK(nvJitLinkGetLinkedCubin(link, linked.data()) == NVJITLINK_SUCCESS);
  done("linked");

  CUDA_CHECK(cudaFree(nullptr));  // the device's context is current
  done("context");
  CUmodule module;
  CHECK(cuModuleLoadData(&module, linked.data()) == CUDA_SUCCESS);
  CUdeviceptr state = 0;
  done("loaded");
  CHECK(cuModuleGetGlobal(&state, &bytes, module, "warpheap_malloc_state") == CUDA_SUCCESS);
  CHECK(warpheap_malloc_attach(reinterpret_cast<void*>(state), bytes + 1) == 1);
  CHECK(warpheap_malloc_attach(reinterpret_cast<void*>(state), bytes) == 0);
  done("attached");
  CUfunction kernel;
  CHECK(cuModuleGetFunction(&kernel, module, "churn") == CUDA_SUCCESS);
  unsigned* served = managed<unsigned>(1);
  *served = 0;
  const lane_steps steps(256);
  unsigned char* seen_by_device = steps.seen_by_device();
  void* arguments[] = {&served, &seen_by_device};
  CHECK(cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
  done("launched");
  steps.wait(10, "jit: churn");
  CUDA_CHECK(cudaDeviceSynchronize());
  done("ran");
  CHECK(*served == 256);
  warpheap_malloc_statistics found;
  CHECK(warpheap_malloc_get_statistics(&found) == 0);
  CHECK(found.blocks_in_use == 0);
  std::puts("jit");
  return 0;
}
