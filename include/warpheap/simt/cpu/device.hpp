// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/error.hpp"
#include "warpheap/core/kernel_resources.hpp"
#include "warpheap/simt/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// Lanes of a launch wait for each other in a circle, or one of them spins forever. The message
/// lists every lane that was left, and what it waits for.
class no_progress : public error {
 public:
  using error::error;
};

/// How the CPU model runs lanes.
struct cpu_options {
  /// Host threads; 0: one per processor, but at least two (with one, no two blocks run at once).
  unsigned workers = 0;
  /// Blocks that a worker holds and runs in turn.
  unsigned resident_blocks = 4;
  std::size_t stack_bytes = 64 * 1024;
  /// Switch points after which a lane yields to the others.
  std::uint32_t fuel = 64;
  /// Turns of a worker after which the launch is given up if none of its lanes has finished.
  std::uint64_t turn_limit = 20'000'000;
};

namespace runtime {
class executor;
void launch(executor& on, const grid& shape, void (*run)(const void*), const void* functor);
}  // namespace runtime

/// A launch that was started. In the CPU model, it has already ended.
class timed_launch {
 public:
  /// Waits for the launch. Returns how many milliseconds it took.
  double ms() const { return ms_; }

 private:
  friend class device;
  double ms_ = 0;
};

/// A machine that runs lanes: here the host's processors, lane by lane. Copies refer to the same
/// machine. Its timings say nothing about a GPU.
class device {
 public:
  static device cpu(const cpu_options& options = {});
  /// \throws invalid_argument always: this translation unit was not compiled by nvcc
  static device cuda(int ordinal);

  const device_properties& properties() const;

  /// The same machine with its own queue, whose launches may run at the same time as others. In the
  /// CPU model, they never do.
  device queue() const { return *this; }

  /// Memory that lanes can use, aligned to 4 KiB.
  /// \throws out_of_memory with the size requested and the size of the device's memory
  void* allocate(std::size_t bytes) const;
  void deallocate(void* pointer, std::size_t bytes) const noexcept;
  void copy_to_host(void* host, const void* on_device, std::size_t bytes) const;
  void copy_to_device(void* on_device, const void* host, std::size_t bytes) const;
  void fill(void* on_device, std::uint8_t byte, std::size_t bytes) const;

  /// Runs `functor()` once in every lane of `shape`. In the CPU model, waits for the end; on CUDA,
  /// the launch is queued, and its errors may surface in `synchronize`.
  /// \throws no_progress if lanes wait for each other in a circle or spin forever
  template <class Functor>
  requires std::is_trivially_copyable_v<Functor>
  void launch(const grid& shape, const Functor& functor) const {
    runtime::launch(
        *executor_, shape, [](const void* f) { (*static_cast<const Functor*>(f))(); }, &functor);
  }

  /// False: lanes of the CPU model are calls of a host function, so there is no kernel to look at.
  static constexpr bool tells_resources = false;
  /// The resources of the kernel that `launch` runs for functors of this type.
  /// \throws invalid_argument always in the CPU model
  template <class Functor>
  kernel_resources resources() const {
    throw invalid_argument("a kernel of the CPU model takes no registers of its own");
  }

  /// Waits for everything that was launched.
  void synchronize() const {}

  /// Launches; on CUDA, without waiting.
  template <class Functor>
  timed_launch start(const grid& shape, const Functor& functor) const {
    timed_launch timer;
    const double begin = now_ms();
    launch(shape, functor);
    timer.ms_ = now_ms() - begin;
    return timer;
  }

 private:
  explicit device(std::shared_ptr<runtime::executor> executor) : executor_(std::move(executor)) {}
  static double now_ms();

  std::shared_ptr<runtime::executor> executor_;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
