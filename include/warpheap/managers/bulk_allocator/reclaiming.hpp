// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What there may be to reclaim before memory counts as used up, and who reclaims it: the lanes of
/// one group, while others wait for them.
///
/// Slabs that are wholly free and stay are noted in a bitmap tree, so a reclaim looks at nothing
/// else; pairs of buddies are noted by the tree of pages. `idle` says which of the two have notes,
/// `reclaims` is odd while a group reclaims. A slab's state says that it is noted, too: it may
/// become wholly free again and again, and its lanes change no other word then.
///
/// Orders: a note is made before `idle` says so, by a read-modify-write; it is looked for after
/// `idle` was taken down, by another one. The later of the two sees the other, so no note is lost.
/// A slab's state says that it is noted before the note is made, and ends saying so after the note
/// has gone, before the slab's count is looked at. So where it says so, the note is there or on its
/// way, and the lane that takes it away sees whether the slab is whole.

#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

struct alignas(128) reclaim_words {
  std::uint32_t reclaims;
  std::uint32_t idle;
};

/// A handle: copies refer to the same words.
class reclaiming {
 public:
  /// What there may be to reclaim.
  static constexpr std::uint32_t idle_slabs = 1;
  static constexpr std::uint32_t idle_pairs = 2;

  /// What a lane whose attempt was in vain can expect.
  enum class outlook : std::uint32_t {
    nothing,
    done,  ///< others have reclaimed
    mine,  ///< the caller must, and say `end`
  };

  void lay_out(region_cursor& cursor, std::uint32_t pages) {
    words_ = cursor.take<reclaim_words>(1);
    slabs_ = cursor.take<std::uint64_t>(bitmap_tree::words_for(pages), 128);
    pages_ = pages;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *words_ = {0, 0};
    slabs().format(0, rank, count);
  }

  /// Slabs whose items were all free when they were noted. Some are in use again.
  WARPHEAP_DEVICE bitmap_tree slabs() const { return {slabs_, simt::as_needed(pages_)}; }

  WARPHEAP_DEVICE void note_slab(std::uint32_t slab) const {
    slabs().insert(slab);
    say(idle_slabs);
  }
  /// Whether that has been done: what the caller has freed would be looked for.
  WARPHEAP_DEVICE bool has_note(std::uint32_t slab) const {
    return slabs().contains(slab) &&
           (simt::atomic_ref(words_->idle).load(simt::order::relaxed) & idle_slabs) != 0;
  }
  /// Says that the tree of pages has noted a pair.
  WARPHEAP_DEVICE void note_pairs() const { say(idle_pairs); }

  /// How often memory was reclaimed: to be asked for before an attempt that may fail. Acquire pairs
  /// with the release in `end`, here and in `begin`.
  WARPHEAP_DEVICE std::uint32_t count() const {
    return simt::atomic_ref(words_->reclaims).load(simt::order::acquire);
  }

  /// Begins to reclaim, or waits for the lanes that do.
  /// \param seen of `count`, before the attempt that failed
  ///
  /// Ends: the lanes that reclaim wait for no lane that waits here, so they may be lanes of the
  /// caller's warp.
  WARPHEAP_DEVICE outlook begin(std::uint32_t seen) const {
    std::uint32_t now = count();
    if (now == seen && now % 2 == 0) {
      // Acquire pairs with the exchange in `take_down`: the lane that took the notes down has made
      // `reclaims` odd before, so the second look tells whether one has.
      if (simt::atomic_ref(words_->idle).load(simt::order::acquire) == 0) {
        if (count() == now) return outlook::nothing;
      } else if (simt::atomic_ref(words_->reclaims)
                     .compare_exchange(now, now + 1, simt::order::acquire)) {
        return outlook::mine;
      }
    }
    // Release and acquire: what was reclaimed is visible to the lanes that waited. They look less
    // and less often, because thousands of looks slow down those that reclaim.
    for (std::uint32_t pause = shortest_pause; count() % 2 != 0;) {
      simt::backoff(pause);
      pause = pause < longest_pause ? 2 * pause : longest_pause;
    }
    return outlook::done;
  }

  /// What there may be, of which nothing is said any more. \pre the caller reclaims
  WARPHEAP_DEVICE std::uint32_t take_down() const {
    return simt::atomic_ref(words_->idle).exchange(0, simt::order::acq_rel);
  }
  WARPHEAP_DEVICE void end() const {
    const simt::atomic_ref<std::uint32_t> reclaims(words_->reclaims);
    const std::uint32_t now = reclaims.load(simt::order::relaxed);  // the caller's own
    reclaims.store(now + 1, simt::order::release);
  }

 private:
  // Nanoseconds.
  static constexpr std::uint32_t shortest_pause = 500;
  static constexpr std::uint32_t longest_pause = 16000;

  /// Not only if it is not said yet: see above.
  WARPHEAP_DEVICE void say(std::uint32_t what) const {
    simt::atomic_ref(words_->idle).fetch_or(what, simt::order::acq_rel);
  }

  reclaim_words* words_ = nullptr;
  std::uint64_t* slabs_ = nullptr;
  std::uint32_t pages_ = 0;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
