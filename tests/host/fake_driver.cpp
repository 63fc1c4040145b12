// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fake_driver.hpp"

#include <cstdint>

fake_driver& fake_driver::get() {
  static fake_driver driver;
  return driver;
}

namespace {

fake_driver& fake() { return fake_driver::get(); }

CUcontext primary() { return reinterpret_cast<CUcontext>(std::uintptr_t{0x1000}); }

// What the test wants a function to return now.
CUresult verdict(const char* function) {
  if (fake().contexts.empty() || fake().contexts.back() != primary()) ++fake().strays;
  const auto found = fake().refusals.find(function);
  if (found == fake().refusals.end()) return CUDA_SUCCESS;
  return found->second.after-- > 0 ? CUDA_SUCCESS : found->second.error;
}

std::uintptr_t next_place(std::size_t bytes) {
  static std::uintptr_t next = std::uintptr_t{1} << 40;
  const std::uintptr_t place = next;
  next += (bytes + fake_driver::page - 1) / fake_driver::page * fake_driver::page;
  return place;
}

CUresult take(const char* function, CUdeviceptr* place, std::size_t bytes) {
  if (const CUresult error = verdict(function); error != CUDA_SUCCESS) return error;
  if (bytes > fake().device_bytes - fake().used()) return CUDA_ERROR_OUT_OF_MEMORY;
  *place = next_place(bytes);
  fake().blocks[*place] = bytes;
  return CUDA_SUCCESS;
}

CUresult give(const char* function, CUdeviceptr place) {
  if (const CUresult error = verdict(function); error != CUDA_SUCCESS) return error;
  return fake().blocks.erase(place) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                              : "some other error";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = primary();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = fake().contexts.empty() ? nullptr : fake().contexts.back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  fake().contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (fake().contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = fake().contexts.back();
  fake().contexts.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  ++fake().waits;
  return verdict("cuCtxSynchronize");
}

CUresult cuMemAlloc(CUdeviceptr* place, std::size_t bytes) {
  return take("cuMemAlloc", place, bytes);
}
CUresult cuMemFree(CUdeviceptr place) { return give("cuMemFree", place); }
CUresult cuMemAllocAsync(CUdeviceptr* place, std::size_t bytes, CUstream) {
  return take("cuMemAllocAsync", place, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr place, CUstream) { return give("cuMemFreeAsync", place); }
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const CUresult error = verdict("cuMemGetInfo"); error != CUDA_SUCCESS) return error;
  *free = fake().device_bytes - fake().used();
  *total = fake().device_bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) { return CUDA_SUCCESS; }
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool*, CUdevice) { return CUDA_SUCCESS; }

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = fake_driver::page;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* place, std::size_t bytes, std::size_t, CUdeviceptr,
                             unsigned long long) {
  if (const CUresult error = verdict("cuMemAddressReserve"); error != CUDA_SUCCESS) return error;
  if (bytes > fake_driver::address_limit - fake().reserved()) return CUDA_ERROR_OUT_OF_MEMORY;
  *place = next_place(bytes);
  fake().addresses[*place] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr place, std::size_t bytes) {
  const auto found = fake().addresses.find(place);
  if (found != fake().addresses.end() && found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  return fake().addresses.erase(place) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp*, unsigned long long) {
  if (const CUresult error = verdict("cuMemCreate"); error != CUDA_SUCCESS) return error;
  if (bytes > fake().device_bytes - fake().used()) return CUDA_ERROR_OUT_OF_MEMORY;
  static CUmemGenericAllocationHandle last = 0;
  *handle = ++last;
  fake().handles.insert(*handle);
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return fake().handles.erase(handle) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemMap(CUdeviceptr place, std::size_t, std::size_t, CUmemGenericAllocationHandle handle,
                  unsigned long long) {
  if (const CUresult error = verdict("cuMemMap"); error != CUDA_SUCCESS) return error;
  return fake().mapped.emplace(place, handle).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemUnmap(CUdeviceptr place, std::size_t) {
  return fake().mapped.erase(place) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return verdict("cuMemSetAccess");
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return verdict("cuStreamIsCapturing");
}
CUresult cuStreamSynchronize(CUstream) { return verdict("cuStreamSynchronize"); }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return verdict("cuStreamWaitEvent"); }
CUresult cuEventCreate(CUevent* event, unsigned) {
  if (const CUresult error = verdict("cuEventCreate"); error != CUDA_SUCCESS) return error;
  static std::uintptr_t last = 0;
  *event = reinterpret_cast<CUevent>(++last);
  fake().events.insert(*event);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  if (const CUresult error = verdict("cuEventDestroy"); error != CUDA_SUCCESS) return error;
  return fake().events.erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuEventRecord(CUevent, CUstream) { return verdict("cuEventRecord"); }
CUresult cuEventQuery(CUevent) { return verdict("cuEventQuery"); }
CUresult cuEventSynchronize(CUevent) {
  ++fake().waits;
  return verdict("cuEventSynchronize");
}

}  // extern "C"
