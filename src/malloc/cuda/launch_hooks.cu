// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception Sends every launch of a program through
// warpheap_malloc_before_launch, so that a device has its heap before its first kernel, whenever
// and from whichever thread it is launched. The linker's option --wrap (link_options.txt) sends
// calls of NAME to __wrap_NAME, and those of __real_NAME to NAME.
#include <cuda_runtime_api.h>
#include <cstddef>

#define WARPHEAP_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

WARPHEAP_HIDDEN void warpheap_malloc_before_launch();
WARPHEAP_HIDDEN void warpheap_malloc_before_reset();
/// Tells device_malloc.cu that it has nothing to do before main.
extern WARPHEAP_HIDDEN const char warpheap_malloc_hooked = 1;

#define WARPHEAP_HOOK(NAME, BEFORE, PARAMETERS, ARGUMENTS) \
  cudaError_t __real_##NAME PARAMETERS;                    \
  WARPHEAP_HIDDEN cudaError_t __wrap_##NAME PARAMETERS {   \
    BEFORE();                                              \
    return __real_##NAME ARGUMENTS;                        \
  }
// The same functions for programs that are compiled with per-thread default streams.
#define WARPHEAP_LAUNCH(NAME, PARAMETERS, ARGUMENTS)                        \
  WARPHEAP_HOOK(NAME, warpheap_malloc_before_launch, PARAMETERS, ARGUMENTS) \
  WARPHEAP_HOOK(NAME##_ptsz, warpheap_malloc_before_launch, PARAMETERS, ARGUMENTS)

WARPHEAP_LAUNCH(cudaLaunchKernel,
                (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 cudaStream_t stream),
                (kernel, grid, block, arguments, shared, stream))
WARPHEAP_LAUNCH(cudaLaunchCooperativeKernel,
                (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 cudaStream_t stream),
                (kernel, grid, block, arguments, shared, stream))
WARPHEAP_LAUNCH(cudaLaunchKernelExC,
                (const cudaLaunchConfig_t* shape, const void* kernel, void** arguments),
                (shape, kernel, arguments))
WARPHEAP_LAUNCH(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
#if CUDART_VERSION >= 13000
// What nvcc turns <<<...>>> into from CUDA 13 on.
WARPHEAP_LAUNCH(__cudaLaunchKernel,
                (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 cudaStream_t stream),
                (kernel, grid, block, arguments, shared, stream))
#endif
WARPHEAP_HOOK(cudaDeviceReset, warpheap_malloc_before_reset, (), ())

}  // extern "C"
