// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The lock of one of XMalloc's lists: a count, odd while it is held, so that those who wait see
/// how often others held it.
///
/// Progress: blocking. A lane waits until the lock is free or its caller's patience ends. Those
/// that hold it may be lanes of its warp that do not call with it: they wait for none that waits
/// here.

#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

class turn_lock {
 public:
  WARPHEAP_HD explicit turn_lock(std::uint32_t& word) : word_(word) {}

  /// What `unlock` wants; `none` if others hold the lock.
  WARPHEAP_DEVICE std::uint32_t try_lock() const {
    std::uint32_t seen = word().load(simt::order::relaxed);
    return try_lock(seen) ? seen : none;
  }

  /// \param gives_up asked whenever the lock has changed hands
  template <class GivesUp>
  WARPHEAP_DEVICE std::uint32_t lock(const GivesUp& gives_up) const {
    std::uint32_t pause = shortest_pause;
    std::uint32_t seen = word().load(simt::order::relaxed);
    for (;;) {
      if (try_lock(seen)) return seen;
      const std::uint32_t held = seen;
      simt::backoff(pause);
      pause = pause < longest_pause ? 2 * pause : longest_pause;
      seen = word().load(simt::order::relaxed);
      if (seen != held && gives_up()) return none;
    }
  }

  WARPHEAP_DEVICE void unlock(std::uint32_t key) const {
    word().store(key + 2, simt::order::release);
  }
  /// For the lane that holds the lock, without the key.
  WARPHEAP_DEVICE void unlock() const { unlock(word().load(simt::order::relaxed) - 1); }

  // Only while no lane allocates.

  WARPHEAP_DEVICE void format() const { word_ = 0; }
  WARPHEAP_DEVICE bool is_locked() const { return word_ % 2 != 0; }

 private:
  // Nanoseconds: about the time that the lock is held.
  static constexpr std::uint32_t shortest_pause = 64;
  static constexpr std::uint32_t longest_pause = 2000;

  /// \param seen in the word; what is there now if it fails
  WARPHEAP_DEVICE bool try_lock(std::uint32_t& seen) const {
    // Acquire pairs with the release in `unlock`: what the last holder wrote, and what the last
    // owners of free blocks did in them.
    return seen % 2 == 0 && word().compare_exchange(seen, seen + 1, simt::order::acquire);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> word() const {
    return simt::atomic_ref<std::uint32_t>(word_);
  }

  std::uint32_t& word_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
