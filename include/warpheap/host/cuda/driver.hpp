// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "warpheap/core/error.hpp"

// cuda.h renames functions to their newest version by macros; the name that the driver exports is
// the one behind the macro.
#define WARPHEAP_EXPORTED_NAME(function) WARPHEAP_EXPORTED_NAME_TEXT(function)
#define WARPHEAP_EXPORTED_NAME_TEXT(function) #function

namespace warpheap::host::cuda {

/// The driver has refused a call. The message is the driver's, and says what was attempted.
class driver_error : public error {
 public:
  using error::error;
};

/// The functions of the CUDA driver that the pools use, looked up when first needed, so that a
/// program with pools also runs without a driver.
class driver {
 public:
  /// \throws error if there is no driver or no device
  static const driver& get() {
    static const driver loaded;
    return loaded;
  }

#define WARPHEAP_DRIVER_FUNCTION(function)     \
  decltype(&::function) const function##_ptr = \
      reinterpret_cast<decltype(&::function)>(find(WARPHEAP_EXPORTED_NAME(function)))
  WARPHEAP_DRIVER_FUNCTION(cuInit);
  WARPHEAP_DRIVER_FUNCTION(cuGetErrorString);
  WARPHEAP_DRIVER_FUNCTION(cuDeviceGet);
  WARPHEAP_DRIVER_FUNCTION(cuDeviceGetCount);
  WARPHEAP_DRIVER_FUNCTION(cuDevicePrimaryCtxRetain);
  WARPHEAP_DRIVER_FUNCTION(cuCtxGetCurrent);
  WARPHEAP_DRIVER_FUNCTION(cuCtxPushCurrent);
  WARPHEAP_DRIVER_FUNCTION(cuCtxPopCurrent);
  WARPHEAP_DRIVER_FUNCTION(cuCtxSynchronize);
  WARPHEAP_DRIVER_FUNCTION(cuMemAlloc);
  WARPHEAP_DRIVER_FUNCTION(cuMemFree);
  WARPHEAP_DRIVER_FUNCTION(cuMemGetInfo);
  WARPHEAP_DRIVER_FUNCTION(cuMemAllocAsync);
  WARPHEAP_DRIVER_FUNCTION(cuMemFreeAsync);
  WARPHEAP_DRIVER_FUNCTION(cuMemPoolSetAttribute);
  WARPHEAP_DRIVER_FUNCTION(cuDeviceGetDefaultMemPool);
  WARPHEAP_DRIVER_FUNCTION(cuMemGetAllocationGranularity);
  WARPHEAP_DRIVER_FUNCTION(cuMemAddressReserve);
  WARPHEAP_DRIVER_FUNCTION(cuMemAddressFree);
  WARPHEAP_DRIVER_FUNCTION(cuMemCreate);
  WARPHEAP_DRIVER_FUNCTION(cuMemRelease);
  WARPHEAP_DRIVER_FUNCTION(cuMemMap);
  WARPHEAP_DRIVER_FUNCTION(cuMemUnmap);
  WARPHEAP_DRIVER_FUNCTION(cuMemSetAccess);
  WARPHEAP_DRIVER_FUNCTION(cuStreamIsCapturing);
  WARPHEAP_DRIVER_FUNCTION(cuStreamSynchronize);
  WARPHEAP_DRIVER_FUNCTION(cuStreamWaitEvent);
  WARPHEAP_DRIVER_FUNCTION(cuEventCreate);
  WARPHEAP_DRIVER_FUNCTION(cuEventDestroy);
  WARPHEAP_DRIVER_FUNCTION(cuEventRecord);
  WARPHEAP_DRIVER_FUNCTION(cuEventQuery);
  WARPHEAP_DRIVER_FUNCTION(cuEventSynchronize);
#undef WARPHEAP_DRIVER_FUNCTION
  /// Null in older drivers.
  CUresult(CUDAAPI* const cuCtxRecordEvent_ptr)(CUcontext, CUevent) =
      reinterpret_cast<CUresult(CUDAAPI*)(CUcontext, CUevent)>(look_up("cuCtxRecordEvent"));

  std::string text(CUresult result) const {
    const char* message = nullptr;
    cuGetErrorString_ptr(result, &message);
    return message != nullptr ? message : "error " + std::to_string(static_cast<int>(result));
  }

  /// \throws driver_error with what failed and why
  void expect(CUresult result, const char* what) const {
    if (result != CUDA_SUCCESS) throw driver_error(std::string(what) + ": " + text(result));
  }

  /// Whether a call that asks for memory has succeeded; false when out of memory. After any other
  /// error, such as that of an earlier kernel, it would help neither to free something nor to ask
  /// for less. \throws driver_error in that case
  bool granted(CUresult result, const char* what) const {
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
    expect(result, what);
    return true;
  }

 private:
  driver() { expect(cuInit_ptr(0), "the CUDA driver does not start"); }

  static void* look_up(const char* name) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) throw error("no CUDA driver: libcuda.so.1 was not found");
    return ::dlsym(library, name);
  }

  static void* find(const char* name) {
    void* const function = look_up(name);
    if (function == nullptr) throw error(std::string("the CUDA driver is too old: no ") + name);
    return function;
  }
};

}  // namespace warpheap::host::cuda

#undef WARPHEAP_EXPORTED_NAME
#undef WARPHEAP_EXPORTED_NAME_TEXT
