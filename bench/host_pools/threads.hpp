// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "subjects.hpp"
#include "warpheap/host/replay/tick_clock.hpp"

namespace warpheap::bench::host_pools {

/// The processor time since `start`, a value of the same clock.
inline double nanoseconds_since(std::uint64_t start, clockid_t whose = CLOCK_THREAD_CPUTIME_ID) {
  return static_cast<double>(host::processor_nanoseconds(whose) - start);
}

/// What some threads did that shared an allocator for a while.
struct sharing {
  double calls_per_second;
  double cpu_ns;  ///< processor time of all threads over their calls: other programs do not count
  double
      fairness;   ///< calls of the thread that made the fewest over those of the one with the most
  double p50_ns;  ///< of single calls, the clock included
  double p999_ns;
  double max_ns;
};

/// A subject for several threads. All but the pools, which have a lock of their own, are put under
/// a mutex, as their users would.
template <class Subject>
class shared_subject {
 public:
  using handle = decltype(std::declval<Subject&>().allocate(0));

  shared_subject(std::uint64_t range, std::size_t most_blocks) : subject_(range, most_blocks) {}
  handle allocate(std::uint64_t bytes) {
    if constexpr (Subject::has_lock) return subject_.allocate(bytes);
    const std::lock_guard guard(mutex_);
    return subject_.allocate(bytes);
  }
  void deallocate(handle block) {
    if constexpr (Subject::has_lock) return subject_.deallocate(block);
    const std::lock_guard guard(mutex_);
    subject_.deallocate(block);
  }

 private:
  std::mutex mutex_;
  Subject subject_;
};

/// Replays the operations on a shared subject, again and again until `stop`, and times every 16th
/// call. Returns the number of calls.
template <class Subject>
std::uint64_t replay_until(Subject& subject, const std::vector<std::int64_t>& operations,
                           std::size_t asks, const std::atomic<bool>& stop,
                           std::vector<std::uint64_t>& ticks) {
  std::vector<typename Subject::handle> blocks(asks);
  std::vector<bool> live(asks);
  std::uint64_t calls = 0;
  // Relaxed: the flag orders nothing, the threads are joined.
  while (!stop.load(std::memory_order_relaxed)) {
    std::size_t asked = 0;
    for (const std::int64_t operation : operations) {
      const bool timed = calls++ % 16 == 0;
      const std::uint64_t before = timed ? host::tick_clock::now() : 0;
      if (operation >= 0) {
        blocks[asked] = subject.allocate(static_cast<std::uint64_t>(operation));
      } else {
        subject.deallocate(blocks[static_cast<std::size_t>(-1 - operation)]);
      }
      if (timed) ticks.push_back(host::tick_clock::now() - before);
      if (operation >= 0) {
        live[asked++] = true;
      } else {
        live[static_cast<std::size_t>(-1 - operation)] = false;
      }
      if (timed && stop.load(std::memory_order_relaxed)) break;
    }
    for (std::size_t n = 0; n < asked; ++n) {
      if (live[n]) subject.deallocate(blocks[n]);
      live[n] = false;
    }
  }
  return calls;
}

/// Lets `threads` threads replay the same operations on one subject for `span`.
template <class Subject>
sharing share(const std::vector<std::int64_t>& operations, std::size_t asks, std::uint64_t range,
              std::size_t most_blocks, unsigned threads, std::chrono::milliseconds span) {
  shared_subject<Subject> subject(range, most_blocks);
  std::atomic<bool> stop{false};
  std::latch ready(threads + 1);
  std::vector<std::uint64_t> calls(threads);
  std::vector<std::vector<std::uint64_t>> ticks(threads);
  const host::tick_clock clock;
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      ticks[thread].reserve(std::size_t{1} << 22);
      ready.arrive_and_wait();
      calls[thread] = replay_until(subject, operations, asks, stop, ticks[thread]);
    });
  }
  ready.arrive_and_wait();
  const std::uint64_t cpu_start = host::processor_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(span);
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : running) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const double cpu_ns = nanoseconds_since(cpu_start, CLOCK_PROCESS_CPUTIME_ID);

  std::vector<std::uint64_t> all;
  double made = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    made += static_cast<double>(calls[thread]);
    all.insert(all.end(), ticks[thread].begin(), ticks[thread].end());
  }
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(all.size() - 1);
    return clock.nanoseconds(all[static_cast<std::size_t>(share * last)]);
  };
  const auto [least, most] = std::minmax_element(calls.begin(), calls.end());
  return {made / seconds.count(),
          cpu_ns / made,
          static_cast<double>(*least) / static_cast<double>(*most),
          at(0.5),
          at(0.999),
          at(1)};
}

}  // namespace warpheap::bench::host_pools
