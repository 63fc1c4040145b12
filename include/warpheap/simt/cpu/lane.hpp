// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the lanes of the CPU model share with the runtime that switches them (src/simt/cpu/).
///
/// Every lane is a fiber. A block of lanes stays on one host thread for its whole life, so a
/// thread-local variable can name the lane that runs now. Lanes yield the thread only at the points
/// that the seam defines: collectives, `coalesced`, barriers, `backoff`, and atomics.

#include "warpheap/simt/lane_mask.hpp"
#include "warpheap/simt/types.hpp"

#include <cstddef>
#include <cstdint>

// The lanes of a warp use the host thread's state one after another. ThreadSanitizer takes every
// lane for a thread and would report that as a race.
#if defined(__SANITIZE_THREAD__)
#define WARPHEAP_SWITCHING inline __attribute__((no_sanitize("thread"), noinline))
#define WARPHEAP_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WARPHEAP_SWITCHING inline __attribute__((no_sanitize("thread"), noinline))
#define WARPHEAP_THREAD_SANITIZER 1
#endif
#endif
#if !defined(WARPHEAP_SWITCHING)
#define WARPHEAP_SWITCHING inline
#define WARPHEAP_THREAD_SANITIZER 0
#endif

WARPHEAP_BEGIN_NAMESPACE
namespace simt::runtime {

/// The operations that lanes of a group perform together.
enum class collective : std::uint8_t { sync, ballot, shuffle, match, scan_add };

/// A lane's place in its grid, and the state that its own code reads.
struct lane_identity {
  std::uint32_t number = 0;
  std::uint32_t thread_in_block = 0;
  std::uint32_t block = 0;
  std::uint32_t threads_per_block = 1;
  std::uint32_t blocks = 1;
  std::uint32_t sm = 0;
  /// The number of lanes that this lane's warp started with.
  lane_mask warp_lanes{1};
  std::uint32_t shared_bytes = 0;
  std::byte* shared = nullptr;
  std::uint64_t noise = 0;

  /// Its number in the grid.
  std::uint64_t rank() const { return std::uint64_t{block} * threads_per_block + thread_in_block; }
};

/// State of the host thread. `fuel` counts the switch points until the lane must yield.
struct host_thread {
  lane_identity* lane = nullptr;
  std::int64_t fuel = INT64_MAX;
  /// Atomic accesses of the running lane go through the functions `weak_...` below.
  bool weak = false;
};
extern constinit thread_local host_thread here;

/// The lane has no fuel left: yields to the others (executor), or lets the seeded scheduler choose
/// the lane that continues (explorer).
void out_of_fuel();

/// Parks the lane until others have had a turn.
void give_way();

/// Parks the lane until the scheduler forms a group of lanes that wait at `site` and pass the same
/// `of`, and returns that group.
lane_mask form_group(const void* site, const void* of);

/// Waits until every live lane of `mask` has called this with the same operation and mask. Returns
/// the result of the calling lane.
std::uint64_t collect(collective operation, lane_mask mask, std::uint64_t value, int source);

/// Waits until every live lane of the block has called this.
void wait_for_block();

// Atomic accesses of lanes to words of 4 or 8 bytes, as weak memory shows them to the lanes.

std::uint64_t weak_load(const void* word, std::uint32_t bytes, order o);
/// The load of a hint, which may be older than what the lane has seen.
std::uint64_t weak_hint(const void* word, std::uint32_t bytes);
void weak_store(void* word, std::uint32_t bytes, std::uint64_t value, order o);
/// The load of a read-modify-write that stores nothing: it reads what is in memory.
void weak_load_newest(const void* word, std::uint32_t bytes, order o);
/// A read-modify-write that changes the word in memory to `value`.
void weak_update(void* word, std::uint32_t bytes, std::uint64_t value, order o);
void weak_fence(order o);

/// The running lane has done `what`, which is an error. In a schedule of the explorer, that is a
/// finding and the end of the schedule; elsewhere, and where no lane runs, this returns.
void misuse(const char* what);

/// Called before every atomic: a lane that only spins must not keep the others from running.
WARPHEAP_SWITCHING void switch_point() {
  if (--here.fuel <= 0) [[unlikely]] {
    out_of_fuel();
  }
}

WARPHEAP_SWITCHING lane_identity& self() { return *here.lane; }

/// Whether only lanes of the running lane's block can reach `word`. So does any word count where no
/// lane runs.
WARPHEAP_SWITCHING bool is_block_shared(const void* word) {
  const lane_identity* const me = here.lane;
  if (me == nullptr) return true;
  const auto offset =
      reinterpret_cast<std::uintptr_t>(word) - reinterpret_cast<std::uintptr_t>(me->shared);
  return offset < me->shared_bytes;
}

/// Whether the running lane's memory is weak. Never under ThreadSanitizer, which must see every
/// access as it is.
inline bool memory_is_weak() {
#if WARPHEAP_THREAD_SANITIZER
  return false;
#else
  return here.weak;
#endif
}

}  // namespace simt::runtime
WARPHEAP_END_NAMESPACE
