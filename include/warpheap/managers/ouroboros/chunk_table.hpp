// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The state of each base chunk: a state word and a bitmap of free pages. They are in tables beside
/// the chunks, so that a lane that comes late with an index reads a state, and never the data of a
/// new owner.
///
///     state: [ offset 14 | kind 2 | unused 1 | class 5 | free pages 10 ]
///
/// The state of a chunk of several base chunks is with the first one; the others say how far back
/// that is. `free pages` counts set bits of the bitmap that no lane has claimed; bits are set
/// before the count grows and cleared after it shrinks, so a lane that has claimed n pages finds n
/// bits.
///
/// A queue, or the tree of parked chunks, has an entry for a chunk if and only if the chunk counts
/// free pages, except while a lane is at work: the lane that frees the first page makes the entry;
/// only the lane that takes the entry out may claim pages, and puts it back if it leaves some.
///
/// Orders: a count grows with release and is claimed with acquire. A claimer may find a bit whose
/// page is not yet counted, while another claimer gets the bit that its count stood for; so the bit
/// of a freed page is also set with release, and cleared with acquire. Bits of pages that were
/// never used are set relaxed.

#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

enum class chunk_kind : std::uint32_t { unused, data, tail, queue };

/// A state word, taken apart.
class chunk_state {
 public:
  WARPHEAP_HD constexpr explicit chunk_state(std::uint32_t word) : word_(word) {}
  WARPHEAP_HD static constexpr chunk_state data(std::uint32_t cls, std::uint32_t free_pages) {
    return chunk_state(kind_bits(chunk_kind::data) | cls << 10 | free_pages);
  }
  WARPHEAP_HD static constexpr chunk_state tail(std::uint32_t offset) {
    return chunk_state(kind_bits(chunk_kind::tail) | offset << 18);
  }
  WARPHEAP_HD static constexpr chunk_state queue() {
    return chunk_state(kind_bits(chunk_kind::queue));
  }

  WARPHEAP_HD constexpr std::uint32_t word() const { return word_; }
  WARPHEAP_HD constexpr chunk_kind kind() const {
    return static_cast<chunk_kind>(word_ >> 16 & 3u);
  }
  WARPHEAP_HD constexpr std::uint32_t cls() const { return word_ >> 10 & 31u; }
  WARPHEAP_HD constexpr std::uint32_t free_pages() const { return word_ & 1023u; }
  WARPHEAP_HD constexpr std::uint32_t offset() const { return word_ >> 18; }

 private:
  WARPHEAP_HD static constexpr std::uint32_t kind_bits(chunk_kind kind) {
    return static_cast<std::uint32_t>(kind) << 16;
  }

  std::uint32_t word_;
};

/// \tparam Words 32-bit words of a bitmap
template <std::uint32_t Words>
class chunk_table {
 public:
  /// What a lane that holds a chunk's entry has claimed.
  struct claim {
    std::uint32_t pages;
    /// The number of free pages before.
    std::uint32_t before;
    /// Pages are left, so the entry must go back.
    bool some_left;
  };

  chunk_table() = default;
  chunk_table(std::uint32_t* states, std::uint32_t* masks) : states_(states), masks_(masks) {}

  WARPHEAP_DEVICE void set(std::uint32_t chunk, chunk_state state) const {
    simt::atomic_ref(states_[chunk]).store(state.word(), simt::order::relaxed);
  }
  WARPHEAP_DEVICE chunk_state get(std::uint32_t chunk) const {
    return chunk_state(simt::atomic_ref(states_[chunk]).load(simt::order::relaxed));
  }

  /// Whether all `pages` pages of a chunk are free. \pre the caller holds the chunk's entry
  ///
  /// Acquire pairs with the release in `add`: what the pages' last owners did comes before the next
  /// use of the chunk.
  WARPHEAP_DEVICE bool wholly_free(std::uint32_t chunk, std::uint32_t pages) const {
    return chunk_state(simt::atomic_ref(states_[chunk]).load(simt::order::acquire)).free_pages() ==
           pages;
  }

  /// Makes a data chunk of `span` base chunks that belong to the caller; its pages from `used` to
  /// `pages` are free, the others in use.
  WARPHEAP_DEVICE void form(std::uint32_t chunk, std::uint32_t cls, std::uint32_t span,
                            std::uint32_t used, std::uint32_t pages) const {
    for (std::uint32_t w = 0; w * 32 < pages; ++w) {
      masks_[chunk * Words + w] = range(w, used, pages);
    }
    set(chunk, chunk_state::data(cls, pages - used));
    for (std::uint32_t i = 1; i < span; ++i) set(chunk + i, chunk_state::tail(i));
  }

  WARPHEAP_DEVICE void dissolve(std::uint32_t chunk, std::uint32_t span) const {
    for (std::uint32_t i = 0; i < span; ++i) set(chunk + i, chunk_state(0));
  }

  /// The chunk that base chunk `chunk` belongs to.
  WARPHEAP_DEVICE std::uint32_t head_of(std::uint32_t chunk) const {
    const chunk_state state = get(chunk);
    return state.kind() == chunk_kind::tail ? chunk - state.offset() : chunk;
  }

  /// Marks a page as free; it counts only once `add` has been called for it.
  WARPHEAP_DEVICE void free_page(std::uint32_t chunk, std::uint32_t page) const {
    simt::atomic_ref(masks_[chunk * Words + page / 32])
        .fetch_or(1u << page % 32, simt::order::release);
  }
  /// Marks pages `first..last-1` as free.
  WARPHEAP_DEVICE void free_range(std::uint32_t chunk, std::uint32_t first,
                                  std::uint32_t last) const {
    for (std::uint32_t w = first / 32; w * 32 < last; ++w) {
      simt::atomic_ref(masks_[chunk * Words + w])
          .fetch_or(range(w, first, last), simt::order::relaxed);
    }
  }

  /// Counts pages that were marked as free. Returns how many were counted before; if none, the
  /// caller must make an entry for the chunk.
  WARPHEAP_DEVICE std::uint32_t add(std::uint32_t chunk, std::uint32_t pages) const {
    return chunk_state(simt::atomic_ref(states_[chunk]).fetch_add(pages, simt::order::acq_rel))
        .free_pages();
  }

  /// Claims up to `pages` pages. \pre the caller holds the chunk's entry
  WARPHEAP_DEVICE claim take(std::uint32_t chunk, std::uint32_t pages) const {
    const simt::atomic_ref state(states_[chunk]);
    // If a compare-exchange fails, another lane has freed a page: there is more for all.
    std::uint32_t seen = state.load(simt::order::relaxed);
    for (;;) {
      const std::uint32_t free_pages = chunk_state(seen).free_pages();
      const std::uint32_t taken = free_pages < pages ? free_pages : pages;
      if (state.compare_exchange(seen, seen - taken, simt::order::acq_rel)) {
        return {taken, free_pages, taken != free_pages};
      }
    }
  }

  /// Clears up to `most` bits of one word of a chunk whose pages the caller has claimed. Returns
  /// those bits.
  WARPHEAP_DEVICE std::uint32_t clear_bits(std::uint32_t chunk, std::uint32_t word,
                                           std::uint32_t most) const {
    const simt::atomic_ref bits(masks_[chunk * Words + word]);
    std::uint32_t wanted = bits.load(simt::order::relaxed);
    if (wanted == 0) return 0;
    const auto count = static_cast<std::uint32_t>(popcount(wanted));
    if (count > most) {
      wanted &= low_bits<std::uint32_t>(kth_set_bit(wanted, static_cast<int>(most) - 1) + 1);
    }
    // Acquire: the lanes that set the bits had read the pages before.
    return bits.fetch_and(~wanted, simt::order::acquire) & wanted;
  }

  /// Clears one bit, searching from word `start` of the first `words`. \pre one page was claimed
  WARPHEAP_DEVICE std::uint32_t clear_one(std::uint32_t chunk, std::uint32_t start,
                                          std::uint32_t words) const {
    for (std::uint32_t word = start;; ++word) {
      const std::uint32_t w = word & (words - 1);
      const std::uint32_t bit = clear_bits(chunk, w, 1);
      if (bit != 0) return w * 32 + static_cast<std::uint32_t>(lowest_bit(bit));
    }
  }

  // Only while no lane allocates.
  WARPHEAP_DEVICE bool page_is_free(std::uint32_t chunk, std::uint32_t page) const {
    return (masks_[chunk * Words + page / 32] >> page % 32 & 1u) != 0;
  }
  WARPHEAP_DEVICE std::uint32_t free_bits(std::uint32_t chunk, std::uint32_t pages) const {
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w * 32 < pages; ++w) {
      count += static_cast<std::uint32_t>(popcount(masks_[chunk * Words + w]));
    }
    return count;
  }

 private:
  /// The bits of word `w` that stand for pages `first..last-1`.
  WARPHEAP_HD static constexpr std::uint32_t range(std::uint32_t w, std::uint32_t first,
                                                   std::uint32_t last) {
    const std::uint32_t low = first > w * 32 ? first - w * 32 : 0;
    const std::uint32_t high = last > w * 32 ? last - w * 32 : 0;
    if (low >= 32 || high <= low) return 0;
    return bit_range<std::uint32_t>(static_cast<int>(low),
                                    static_cast<int>((high < 32 ? high : 32) - low));
  }

  std::uint32_t* states_ = nullptr;
  std::uint32_t* masks_ = nullptr;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
