// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace warpheap::host {

/// A lock for sections of some tens of nanoseconds: one atomic exchange to take it, a plain store
/// to give it back, where a mutex needs two exchanges. A thread that waits long (the holder may be
/// in a call to the driver) yields, then sleeps. Not fair.
class spin_lock {
 public:
  void lock() {
    if (take()) return;
    wait_and_take();
  }

  void unlock() {
    // Release: whatever this holder wrote is visible to the next one.
    taken_.store(false, std::memory_order_release);
  }

 private:
  bool take() {
    // Acquire: pairs with the release of unlock, so that what the last holder wrote is visible.
    return !taken_.exchange(true, std::memory_order_acquire);
  }

  // Apart from `lock`, so that its usual case is short enough to be inlined.
  [[gnu::noinline]] void wait_and_take() {
    int round = 0;
    do {
      wait(round++);
    } while (!take());
  }

  void wait(int round) const {
    // Reads before it tries again, so that waiting threads share the line. Relaxed: only a hint.
    for (int spin = 0; spin < 64 && taken_.load(std::memory_order_relaxed); ++spin) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    if (round > 200) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    } else if (round > 4) {
      std::this_thread::yield();
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace warpheap::host
