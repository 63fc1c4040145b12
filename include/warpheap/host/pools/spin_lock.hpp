// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace warpheap::host {

/// A lock for sections of some tens of nanoseconds: it takes one atomic exchange to lock and a
/// plain store to unlock, where a mutex needs two exchanges.
///
/// A thread that finds it locked spins for about as long as one section takes, and then sleeps: if
/// the lock changed hands at every call, each call would have to transfer the pool's cache lines
/// between processors, whereas a holder that is left alone makes thousands of calls in that time.
/// So threads that compete take turns of about the length of a sleep: the lock is not fair from
/// call to call, but over milliseconds (docs/host.md).
///
/// Progress: a holder never waits for a waiting thread, and each sleep ends by itself; a waiting
/// thread takes the lock once it finds it free.
class spin_lock {
 public:
  void lock() {
    if (!take()) wait_and_take();
  }

  bool try_lock() { return take(); }

  void unlock() {
    // Release: whatever this holder wrote is visible to the next one.
    taken_.store(false, std::memory_order_release);
  }

 private:
  // About the length of a section.
  static constexpr int short_spin = 16;
  static constexpr std::chrono::microseconds turn{50};

  bool take() {
    // Acquire: pairs with the release of unlock, so that what the last holder wrote is visible.
    return !taken_.exchange(true, std::memory_order_acquire);
  }

  // Separate from `lock`, so that the common case of `lock` is short enough to be inlined.
  [[gnu::noinline]] void wait_and_take() {
    spin();
    while (!take()) std::this_thread::sleep_for(turn);
  }

  void spin() const {
    // Reads before it tries again, so that waiting threads share the cache line. Relaxed: only a
    // hint.
    for (int round = 0; round < short_spin && taken_.load(std::memory_order_relaxed); ++round) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace warpheap::host
