// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception `malloc` and `free` of device code, in
// place of CUDA's: nvlink prefers the symbols that a program defines to those of the driver, and
// device code's `new` and `delete` call them.
//
// The device symbols read the handle of the heap from a variable of their module
// (module_state.hpp). Host code fills it before the first kernel of each device: launch_hooks.cu
// does so if the linker was told to send every launch there; otherwise, a constructor of this file
// does so for the device that is current at that time.
#include "entry.hpp"
#include "malloc_heaps.hpp"
#include "module_state.hpp"

#include "warpheap/malloc.h"

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

extern "C" {
WARPHEAP_HIDDEN __device__ warpheap::malloc_ref warpheap_malloc_state;
}

// For device code only: without the guard, nvcc also defines host functions of these names, which
// would replace the C library's.
#if defined(__CUDA_ARCH__)
extern "C" __device__ void* malloc(std::size_t bytes) noexcept {
  return warpheap_malloc_state.malloc(bytes);
}
extern "C" __device__ void free(void* block) noexcept { warpheap_malloc_state.free(block); }
// For Numba, whose functions all return something: nvJitLink compares the prototypes.
extern "C" __device__ unsigned long long warpheap_free(unsigned long long address) noexcept {
  warpheap_malloc_state.free(reinterpret_cast<void*>(address));
  return 0;
}
#endif

/// Defined by launch_hooks.cu: not null if that file is linked.
extern "C" WARPHEAP_HIDDEN __attribute__((weak)) const char warpheap_malloc_hooked;

namespace {

using namespace warpheap;

/// Also used before main, so it must not need a constructor of this file.
constinit module_state this_module;
thread_local std::string last_error;

int current_device() {
  int ordinal = 0;
  simt::runtime::check(cudaGetDevice(&ordinal), "find the current device");
  if (ordinal >= malloc_heaps::most_devices) {
    throw invalid_argument("device " + std::to_string(ordinal) + ": malloc in kernels serves " +
                           std::to_string(malloc_heaps::most_devices) + " devices");
  }
  return ordinal;
}

template <class Call>
int guarded(const Call& call) {
  try {
    const entry mark;
    call();
    return 0;
  } catch (const std::exception& failed) {
    last_error = failed.what();
    return 1;
  }
}

}  // namespace

/// Every launch passes through this function. After the first one of a device, it costs a
/// `cudaGetDevice`. Never throws and never fails: a program without a heap continues, and its
/// requests return null.
extern "C" WARPHEAP_HIDDEN void warpheap_malloc_before_launch() {
  if (entry::is_inside()) return;
  int ordinal = 0;
  if (cudaGetDevice(&ordinal) != cudaSuccess || ordinal >= malloc_heaps::most_devices) return;
  const std::uint32_t now = malloc_heaps::of_process().epoch(ordinal);
  if (this_module.is_settled(ordinal, now)) return;
  if (guarded([&] { this_module.settle(ordinal); }) == 0) return;
  // Once, not at each launch.
  if (this_module.give_up(ordinal, now)) {
    std::fprintf(stderr, "warpheap: malloc in kernels of device %d returns null: %s\n", ordinal,
                 last_error.c_str());
  }
}

/// Before cudaDeviceReset, which frees the memory of the heap and forgets the variable.
extern "C" WARPHEAP_HIDDEN void warpheap_malloc_before_reset() {
  guarded([] { malloc_heaps::of_process().forget(current_device()); });
}

extern "C" int warpheap_malloc_use(std::size_t bytes, const char* manager) {
  return guarded([&] {
    const int ordinal = current_device();
    malloc_heaps& heaps = malloc_heaps::of_process();
    heaps.make(ordinal, {.bytes = bytes, .manager = manager == nullptr ? "" : manager});
    this_module.settle(ordinal);
  });
}

extern "C" int warpheap_malloc_get_statistics(warpheap_malloc_statistics* result) {
  return guarded([&] {
    *result = {};
    const int ordinal = current_device();
    malloc_ref state;
    simt::runtime::check(
        cudaMemcpy(&state, module_state::address(), sizeof state, cudaMemcpyDeviceToHost),
        "read warpheap_malloc_state");
    result->unserved = state.unserved();
    malloc_heaps::of_process().fill(ordinal, *result);
  });
}

extern "C" int warpheap_malloc_attach(void* state, std::size_t bytes) {
  return guarded([&] {
    if (state == nullptr || bytes != sizeof(malloc_ref)) {
      throw invalid_argument("a warpheap_malloc_state of " + std::to_string(bytes) +
                             " bytes: expected " + std::to_string(sizeof(malloc_ref)) +
                             "; the module was linked with another version of warpheap");
    }
    malloc_heaps& heaps = malloc_heaps::of_process();
    heaps.attach(heaps.get(current_device(), {}), state);
  });
}

extern "C" std::size_t warpheap_malloc_state_bytes() { return sizeof(malloc_ref); }

extern "C" const char* warpheap_malloc_error() { return last_error.c_str(); }

namespace {

/// For programs whose launches do not pass through the hooks. The constructors of the other files,
/// which register their device code, must have run: this object comes last when a program is
/// linked.
__attribute__((constructor)) void before_main() {
  if (&warpheap_malloc_hooked != nullptr) return;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices != 0) {
    warpheap_malloc_before_launch();
  } else {
    cudaGetLastError();  // a program that runs without a GPU goes on as it would without this file
  }
}

}  // namespace
