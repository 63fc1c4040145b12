// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times every kernel of a program that was not built for this: to be preloaded (LD_PRELOAD) into
// one that is linked with the shared CUDA runtime. A launch passes through here between two events,
// and is waited for, so kernels of different streams no longer overlap. At exit, one line per
// kernel goes to the file $LAUNCH_TIMES: launches, milliseconds of all of them, name.
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

struct kernel_times {
  unsigned long launches = 0;
  double ms = 0;
};

std::mutex mutex;
/// Never destroyed: launches may come from destructors of the program.
std::map<std::string, kernel_times>& times() {
  static auto* const all = new std::map<std::string, kernel_times>;
  return *all;
}

std::string name_of(const void* kernel) {
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess || mangled == nullptr) {
    cudaGetLastError();
    return "unknown";
  }
  int status = 0;
  char* const plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string name = status == 0 ? plain : mangled;
  std::free(plain);
  return name;
}

template <class Launch>
cudaError_t timed(const void* kernel, cudaStream_t stream, const Launch& launch) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  // What is captured does not run yet.
  if (cudaStreamIsCapturing(stream, &capturing) != cudaSuccess ||
      capturing != cudaStreamCaptureStatusNone || cudaEventCreate(&begin) != cudaSuccess ||
      cudaEventCreate(&end) != cudaSuccess) {
    return launch();
  }
  cudaEventRecord(begin, stream);
  const cudaError_t status = launch();
  cudaEventRecord(end, stream);
  float ms = 0;
  if (status == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
      cudaEventElapsedTime(&ms, begin, end) == cudaSuccess) {
    const std::lock_guard lock(mutex);
    kernel_times& sum = times()[name_of(kernel)];
    ++sum.launches;
    sum.ms += static_cast<double>(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return status;
}

/// The runtime's own function, which this library hides.
template <class Function>
Function next(const char* name) {
  auto* const found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) {
    std::fprintf(stderr, "launch_times: %s is not in the shared CUDA runtime\n", name);
    std::abort();
  }
  return found;
}

__attribute__((destructor)) void report() {
  const char* const path = std::getenv("LAUNCH_TIMES");
  if (path == nullptr || times().empty()) return;
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  for (const auto& [name, sum] : times()) {
    std::fprintf(file, "%lu %.6f %s\n", sum.launches, sum.ms, name.c_str());
  }
  std::fclose(file);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  static auto* const real = next<decltype(&cudaLaunchKernel)>("cudaLaunchKernel");
  return timed(kernel, stream,
               [&] { return real(kernel, grid, block, arguments, shared, stream); });
}

#if CUDART_VERSION >= 13000
// What nvcc makes of <<<...>>> from CUDA 13 on.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  using function = cudaError_t (*)(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
  static const auto real = next<function>("__cudaLaunchKernel");
  return timed(reinterpret_cast<const void*>(kernel), stream,
               [&] { return real(kernel, grid, block, arguments, shared, stream); });
}
#endif

}  // extern "C"
