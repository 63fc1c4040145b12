// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/error.hpp"
#include "warpheap/core/kernel_resources.hpp"
#include "warpheap/simt/cuda/driver_version.hpp"
#include "warpheap/simt/types.hpp"

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// CUDA has refused a call, or lanes have failed. The message is CUDA's, and says what was
/// attempted.
class cuda_error : public error {
 public:
  using error::error;
};

namespace runtime {

inline void check(cudaError_t status, const std::string& attempted) {
  if (status != cudaSuccess) {
    throw cuda_error(attempted + ": " + cudaGetErrorString(status) + " (" +
                     cudaGetErrorName(status) + ")");
  }
}

/// The most threads of a block, as `launch` promises: a lane of such a block has 64 registers. At
/// least one block must fit on a multiprocessor; asking for two would halve the registers.
inline constexpr int most_threads = 1024;
inline constexpr int least_blocks = 1;

template <class Functor>
__global__ void __launch_bounds__(most_threads, least_blocks) run(const Functor functor) {
  functor();
}
/// Blocks of `most_threads` can be launched, too.
template <class Functor>
__global__ void __maxnreg__(enough_registers<Functor>) run_in_few(const Functor functor) {
  functor();
}
template <class Functor>
constexpr auto kernel_of() {
  if constexpr (enough_registers<Functor> != 0) {
    return &run_in_few<Functor>;
  } else {
    return &run<Functor>;
  }
}

}  // namespace runtime

/// A launch that was started, with CUDA events around it.
class timed_launch {
 public:
  /// Waits for the launch. Returns how many milliseconds it took.
  /// \throws cuda_error if a lane has failed
  double ms() const {
    runtime::check(cudaEventSynchronize(end_->handle), "wait for a launch");
    float ms = 0;
    runtime::check(cudaEventElapsedTime(&ms, begin_->handle, end_->handle), "read a timer");
    return ms;
  }

 private:
  friend class device;
  struct event {
    event() { runtime::check(cudaEventCreate(&handle), "create an event"); }
    ~event() { cudaEventDestroy(handle); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    cudaEvent_t handle = nullptr;
  };
  std::shared_ptr<event> begin_ = std::make_shared<event>();
  std::shared_ptr<event> end_ = std::make_shared<event>();
};

/// A machine that runs lanes: here a CUDA GPU. Copies refer to the same machine. Everything is
/// queued on one stream: the default stream of the device unless `on` or `queue` named another.
/// Calls make the device current for the calling thread.
class device {
 public:
  /// \throws invalid_argument always: nvcc compiles for CUDA; use a host compiler for the CPU model
  static device cpu() {
    throw invalid_argument(
        "the CPU model is not available here: this program was compiled by nvcc");
  }

  /// \throws invalid_argument if there is no such device; the message says how many there are
  static device cuda(int ordinal) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || ordinal < 0 || ordinal >= count) {
      throw invalid_argument("CUDA device " + std::to_string(ordinal) +
                             " does not exist: " + std::to_string(count) + " devices were found" +
                             (status == cudaSuccess
                                  ? std::string()
                                  : std::string(" (") + cudaGetErrorString(status) + ")"));
    }
    return device(ordinal);
  }

  const device_properties& properties() const { return *properties_; }

  /// The same machine, with everything queued on a stream of this device that belongs to the caller
  /// and must outlive the result.
  device on(cudaStream_t stream) const {
    device other = *this;
    other.stream_ = std::shared_ptr<CUstream_st>(std::shared_ptr<void>(), stream);
    return other;
  }

  /// The same machine with its own queue, whose launches may run at the same time as others. Not
  /// even the default stream waits for it.
  device queue() const {
    make_current();
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    device other = *this;
    other.stream_ =
        std::shared_ptr<CUstream_st>(stream, [](cudaStream_t s) { cudaStreamDestroy(s); });
    return other;
  }

  /// Memory that lanes can use, aligned to 256 B or better.
  /// \throws out_of_memory with the size requested and the size that is free; cuda_error if CUDA
  ///   refuses for another reason, such as an earlier kernel that failed
  void* allocate(std::size_t bytes) const {
    make_current();
    void* pointer = nullptr;
    const cudaError_t status = bytes == 0 ? cudaErrorMemoryAllocation : cudaMalloc(&pointer, bytes);
    if (status == cudaSuccess) return pointer;
    cudaGetLastError();  // the error must not surface at the next call
    if (status != cudaErrorMemoryAllocation) check(status, "allocate device memory");
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    cudaMemGetInfo(&free_bytes, &all_bytes);
    throw out_of_memory("cannot allocate " + std::to_string(bytes) + " bytes: " + described() +
                        " has " + std::to_string(free_bytes) + " of " + std::to_string(all_bytes) +
                        " bytes of memory free");
  }

  void deallocate(void* pointer, std::size_t /*bytes*/) const noexcept {
    cudaSetDevice(ordinal_);
    cudaFree(pointer);
  }

  void copy_to_host(void* host, const void* on_device, std::size_t bytes) const {
    make_current();
    check(cudaMemcpyAsync(host, on_device, bytes, cudaMemcpyDeviceToHost, stream_.get()),
          "copy to the host");
    check(cudaStreamSynchronize(stream_.get()), "copy to the host");
  }
  void copy_to_device(void* on_device, const void* host, std::size_t bytes) const {
    make_current();
    check(cudaMemcpyAsync(on_device, host, bytes, cudaMemcpyHostToDevice, stream_.get()),
          "copy to the device");
    check(cudaStreamSynchronize(stream_.get()), "copy to the device");
  }
  void fill(void* on_device, std::uint8_t byte, std::size_t bytes) const {
    make_current();
    check(cudaMemsetAsync(on_device, byte, bytes, stream_.get()), "fill device memory");
  }

  /// Runs `functor()` once in every lane of `shape`. The launch is queued: errors of the lanes
  /// surface in `synchronize`.
  template <class Functor>
  requires std::is_trivially_copyable_v<Functor>
  void launch(const grid& shape, const Functor& functor) const {
    if (shape.threads_per_block == 0 || shape.threads_per_block > runtime::most_threads) {
      throw invalid_argument("a block of " + std::to_string(shape.threads_per_block) +
                             " threads: 1 to 1024 are possible");
    }
    if (shape.blocks == 0) return;
    make_current();
    const auto kernel = runtime::kernel_of<Functor>();
    kernel<<<shape.blocks, shape.threads_per_block, shape.shared_bytes, stream_.get()>>>(functor);
    check(cudaGetLastError(), "launch a kernel");
  }

  static constexpr bool tells_resources = true;
  /// The resources of the kernel that `launch` runs for functors of this type.
  template <class Functor>
  kernel_resources resources() const {
    make_current();
    cudaFuncAttributes found;
    check(cudaFuncGetAttributes(&found, runtime::kernel_of<Functor>()), "look at a kernel");
    return {.registers = static_cast<std::uint64_t>(found.numRegs),
            .local_bytes = found.localSizeBytes,
            .shared_bytes = found.sharedSizeBytes,
            .constant_bytes = found.constSizeBytes,
            .block_threads = static_cast<std::uint64_t>(found.maxThreadsPerBlock)};
  }

  /// Waits for everything that was launched here: for the stream if one was named, otherwise for
  /// the whole device. \throws cuda_error if a lane has failed
  void synchronize() const {
    make_current();
    check(stream_ ? cudaStreamSynchronize(stream_.get()) : cudaDeviceSynchronize(),
          "wait for the device");
  }

  /// Launches without waiting.
  template <class Functor>
  timed_launch start(const grid& shape, const Functor& functor) const {
    make_current();
    timed_launch timer;
    check(cudaEventRecord(timer.begin_->handle, stream_.get()), "record an event");
    launch(shape, functor);
    check(cudaEventRecord(timer.end_->handle, stream_.get()), "record an event");
    return timer;
  }

 private:
  explicit device(int ordinal) : ordinal_(ordinal) {
    cudaDeviceProp found;
    runtime::check(cudaGetDeviceProperties(&found, ordinal),
                   "read the properties of CUDA device " + std::to_string(ordinal));
    int driver = 0;
    cudaDriverGetVersion(&driver);
    const auto version = [](int number) {
      return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    auto properties = std::make_shared<device_properties>();
    properties->backend = "cuda";
    properties->name = found.name;
    properties->memory_bytes = found.totalGlobalMem;
    properties->multiprocessors = static_cast<std::uint32_t>(found.multiProcessorCount);
    properties->resident_threads = static_cast<std::uint32_t>(found.multiProcessorCount) *
                                   static_cast<std::uint32_t>(found.maxThreadsPerMultiProcessor);
    const std::string level = "CUDA " + version(driver);
    const std::string loaded = driver_version();
    properties->driver = loaded.empty() ? level : loaded + " (" + level + ")";
    properties->toolkit = "CUDA " + version(CUDART_VERSION);
    properties_ = std::move(properties);
  }

  /// The name of the device in messages. The devices of a machine often have the same name.
  std::string described() const {
    return "CUDA device " + std::to_string(ordinal_) + " (" + properties().name + ")";
  }
  void check(cudaError_t status, const char* attempted) const {
    if (status != cudaSuccess) runtime::check(status, attempted + (" on " + described()));
  }
  void make_current() const { check(cudaSetDevice(ordinal_), "make a call"); }

  int ordinal_;
  /// Null: the default stream.
  std::shared_ptr<CUstream_st> stream_;
  std::shared_ptr<const device_properties> properties_;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
