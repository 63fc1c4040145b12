// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for the CUDA runtime where there is no GPU, so that the host code behind malloc in
// kernels can be tested: to be preloaded (LD_PRELOAD) into a program that is linked with the shared
// runtime. One device, whose memory is the host's and zero at first; kernels do nothing.
#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {
constexpr std::size_t memory_bytes = std::size_t{1} << 30;
/// The variable of the program's own module.
alignas(256) char variable[4096];
/// Where a stream or a kernel points to that nobody looks into.
char somewhere;
}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int /*device*/) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
  *properties = {};
  std::strcpy(properties->name, "fake");
  properties->major = 9;
  properties->warpSize = 32;
  properties->multiProcessorCount = 1;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->totalGlobalMem = memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t* bytes, cudaLimit /*of*/) {
  *bytes = std::size_t{8} << 20;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  *free_bytes = *all_bytes = memory_bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const std::size_t whole = (bytes + 255) / 256 * 256;
  *memory = std::aligned_alloc(256, whole);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0, whole);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** address, const void* /*symbol*/) {
  *address = variable;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = reinterpret_cast<cudaStream_t>(&somewhere);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* /*mode*/) {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

cudaError_t cudaLaunchKernel(const void* /*kernel*/, dim3 /*grid*/, dim3 /*block*/,
                             void** /*arguments*/, std::size_t /*shared*/,
                             cudaStream_t /*stream*/) {
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
// What nvcc makes of <<<...>>> from CUDA 13 on.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* /*function*/) {
  *kernel = reinterpret_cast<cudaKernel_t>(&somewhere);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t /*kernel*/, dim3 /*grid*/, dim3 /*block*/,
                               void** /*arguments*/, std::size_t /*shared*/,
                               cudaStream_t /*stream*/) {
  return cudaSuccess;
}
#endif

}  // extern "C"
