// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Knows that no run of a given number of units is free, without counting what is free.
///
/// A caller that searches in vain says so: it announces the search, looks at everything, and
/// confirms that it found nothing. From then on, callers that want as much or more give up at once.
/// A lane that frees something withdraws all announcements and confirmations, so a confirmation
/// stands only if nothing was freed between the announcement and the end of the search.
///
/// One word: [ epoch 40 bits | units 23 bits | searching 1 bit ]. It says that a lane has searched
/// since the epoch began, and that no run of `units` or more was there (0: nothing is known). Each
/// withdrawal begins a new epoch, so a confirmation that comes late finds a different epoch and
/// does nothing.
///
/// Orders: `released` and a search are the two sides of a store-load race: free the unit, then look
/// for announcements; announce, then look for units. No fence is needed, which would make frees
/// slower, if both sides access the word that says whether the unit is free by a read-modify-write
/// with acquire and release. If the searcher's comes later, it sees the unit. If the freeing lane's
/// comes later, it acquires what the searcher released, so its look for announcements, although
/// relaxed, cannot miss the searcher's. The word here is accessed relaxed, except by a
/// confirmation, which releases: a lane that reads it and then acquires by a fence knows all that
/// the searcher knew.
///
/// Progress: `is_out` is wait-free; the compare-exchange loops repeat only when another lane has
/// changed the word.
class exhaustion {
 public:
  /// What a searcher keeps between its announcement and its confirmation.
  struct token {
    std::uint64_t epoch;
  };

  static constexpr std::uint32_t most_units = (1u << 23) - 1;

  WARPHEAP_DEVICE void format() { word_ = 0; }

  /// True if it is known that there is no run of `units`. \pre `0 < units <= most_units`
  WARPHEAP_DEVICE bool is_out(std::uint32_t units) {
    return says_out(simt::atomic_ref(word_).load(simt::order::relaxed), units);
  }

  /// The same from the multiprocessor's cache: it may no longer be true.
  WARPHEAP_DEVICE bool seems_out(std::uint32_t units) {
    return says_out(simt::load_hint(word_), units);
  }

  /// The word if it says so, else 0. If the word is seen unchanged later, it was true all the time.
  WARPHEAP_DEVICE std::uint64_t known(std::uint32_t units) {
    const std::uint64_t now = simt::atomic_ref(word_).load(simt::order::relaxed);
    return says_out(now, units) ? now : 0;
  }

  /// Announces that the caller begins to search everything, each place by a read-modify-write with
  /// acquire and release.
  WARPHEAP_DEVICE token announce() {
    simt::atomic_ref word(word_);
    std::uint64_t seen = word.load(simt::order::relaxed);
    while ((seen & searching) == 0 &&
           !word.compare_exchange(seen, seen | searching, simt::order::relaxed)) {
    }
    return {seen & epoch_mask};
  }

  /// Confirms that the search announced as `mine` found no run of `units`. False if something has
  /// been freed since: the finding may then no longer be true.
  WARPHEAP_DEVICE bool confirm(token mine, std::uint32_t units) {
    simt::atomic_ref word(word_);
    std::uint64_t seen = word.load(simt::order::relaxed);
    while ((seen & epoch_mask) == mine.epoch && !says_out(seen, units)) {
      const std::uint64_t confirmed = mine.epoch | std::uint64_t{units} << 1 | searching;
      if (word.compare_exchange(seen, confirmed, simt::order::release)) return true;
    }
    return (seen & epoch_mask) == mine.epoch;
  }

  /// Must be called after units have become free, by the lane that freed them by a
  /// read-modify-write with acquire and release.
  WARPHEAP_DEVICE void released() {
    simt::atomic_ref word(word_);
    std::uint64_t seen = word.load(simt::order::relaxed);
    while ((seen & searching) != 0 &&
           !word.compare_exchange(seen, (seen & epoch_mask) + epoch_one, simt::order::relaxed)) {
    }
  }

 private:
  static constexpr std::uint64_t searching = 1;
  static constexpr std::uint64_t epoch_one = std::uint64_t{1} << 24;
  static constexpr std::uint64_t epoch_mask = ~(epoch_one - 1);

  WARPHEAP_DEVICE static bool says_out(std::uint64_t word, std::uint32_t units) {
    const auto out_from = static_cast<std::uint32_t>(word >> 1) & most_units;
    return out_from != 0 && units >= out_from;
  }

  std::uint64_t word_;
};

WARPHEAP_END_NAMESPACE
