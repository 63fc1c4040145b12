// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace warpheap::host {

/// The processor time of this thread or, with CLOCK_PROCESS_CPUTIME_ID, of all threads of the
/// process. Other programs on the machine do not take part in it.
inline std::uint64_t processor_nanoseconds(clockid_t whose = CLOCK_THREAD_CPUTIME_ID) {
  std::timespec now{};
  clock_gettime(whose, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// A clock cheap enough to time single calls of some tens of nanoseconds: on x86-64 the processor's
/// time-stamp counter, otherwise the steady clock.
class tick_clock {
 public:
  static std::uint64_t now() {
#if defined(__x86_64__)
    unsigned processor = 0;
    return __rdtscp(&processor);
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  /// Compares the counter with the steady clock for 20 ms.
  tick_clock() {
    using namespace std::chrono;
    const auto start = steady_clock::now();
    const std::uint64_t first = now();
    while (steady_clock::now() - start < milliseconds(20)) {
    }
    const std::uint64_t ticks = now() - first;
    nanoseconds_per_tick_ = duration<double, std::nano>(steady_clock::now() - start).count() /
                            static_cast<double>(ticks);
    overhead_ = ~std::uint64_t{0};
    for (int n = 0; n < 1000; ++n) {
      const std::uint64_t before = now();
      overhead_ = std::min(overhead_, now() - before);
    }
  }

  double nanoseconds(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * nanoseconds_per_tick_;
  }

  /// The time that the clock itself adds to a measurement; never subtracted.
  double overhead_nanoseconds() const { return nanoseconds(overhead_); }

 private:
  double nanoseconds_per_tick_ = 1;
  std::uint64_t overhead_ = 0;
};

}  // namespace warpheap::host
