// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The state of each page: whether a large block or a slab begins there, and how many of a
/// slab's items are free. A slab is a bin, whose items are blocks, or a chunk, whose items are
/// bins.
///
/// The state of a page is one word, [ owner: 19 | noted: 1 | count: 12 ]. The owner is the list
/// that the slab belongs to (slab_lists.hpp); `count` of its items are free and not promised;
/// `noted` says that a reclaim will look at the slab (reclaiming.hpp). It is kept in a table, so a
/// late lane reads the state of whatever is there now, and never mistakes a caller's data for a
/// header: a compare-exchange of the whole word takes from a slab of the intended list, or fails.
///
/// A map in the slab's own header says which items are free: one bit per item, set if it is taken.
/// Only lanes that have taken from `count`, or have an item to give back, touch it.
///
/// Orders: a freed item's bit is cleared (release) before `count` rises (release); `count` is taken
/// (acquire) before a bit is set (acquire). So a clear bit exists for everyone who has taken from
/// `count`, and what the last owner did with an item comes before what the next one does. A slab's
/// map is written before the state that names its owner (release).

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

class page_state {
 public:
  static constexpr std::uint32_t most_lists = (1u << 19) - 2;
  static constexpr std::uint32_t note = 1u << 12;

  page_state() = default;
  WARPHEAP_HD static constexpr page_state decode(std::uint32_t word) { return page_state(word); }
  /// Nothing begins here.
  WARPHEAP_HD static constexpr page_state nothing() { return page_state(0); }
  WARPHEAP_HD static constexpr page_state large_block(int order) {
    return page_state(large << owner_shift | static_cast<std::uint32_t>(order));
  }
  WARPHEAP_HD static constexpr page_state slab(std::uint32_t list, std::uint32_t count) {
    return page_state((list + 1) << owner_shift | count);
  }

  /// The same slab, but `items` of its free items are taken. \pre it has them
  WARPHEAP_HD constexpr page_state without(std::uint32_t items) const {
    return page_state(word_ - items);
  }
  WARPHEAP_HD constexpr page_state noted() const { return page_state(word_ | note); }

  WARPHEAP_HD constexpr std::uint32_t encode() const { return word_; }
  WARPHEAP_HD constexpr bool is_large_block() const { return word_ >> owner_shift == large; }
  WARPHEAP_HD constexpr bool is_slab() const {
    return word_ >> owner_shift != 0 && !is_large_block();
  }
  WARPHEAP_HD constexpr bool is_slab_of(std::uint32_t list) const {
    return word_ >> owner_shift == list + 1;
  }
  /// \pre it is a slab
  WARPHEAP_HD constexpr std::uint32_t list() const { return (word_ >> owner_shift) - 1; }
  /// \pre it is a slab
  WARPHEAP_HD constexpr std::uint32_t count() const { return word_ & (note - 1); }
  WARPHEAP_HD constexpr bool is_noted() const { return (word_ & note) != 0; }
  /// \pre it is a large block
  WARPHEAP_HD constexpr int order() const { return static_cast<int>(count()); }

 private:
  static constexpr int owner_shift = 13;
  static constexpr std::uint32_t large = (1u << 19) - 1;

  WARPHEAP_HD constexpr explicit page_state(std::uint32_t word) : word_(word) {}

  std::uint32_t word_;
};

/// A handle: copies refer to the same table.
class slab_table {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  /// What `previous` can also be: the slab is in no list, or is the first of it.
  static constexpr std::uint32_t unlinked = 0xffffffffu;
  static constexpr std::uint32_t first = 0xfffffffeu;

  void lay_out(region_cursor& cursor, std::uint32_t pages, int page_shift) {
    states_ = cursor.take<std::uint32_t>(pages, 128);
    nexts_ = cursor.take<std::uint32_t>(pages, 128);
    previous_ = cursor.take<std::uint32_t>(pages, 128);
    heap_ = cursor.take<std::byte>(std::size_t{pages} << page_shift, std::size_t{1} << page_shift);
    page_shift_ = page_shift;
    pages_ = pages;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t page = rank; page < pages_; page += count) {
      states_[page] = page_state::nothing().encode();
      nexts_[page] = none;
      previous_[page] = unlinked;
    }
  }

  WARPHEAP_HD std::uint32_t pages() const { return pages_; }
  /// Where page 0 begins.
  WARPHEAP_HD std::byte* heap() const { return heap_; }

  WARPHEAP_DEVICE page_state state(std::uint32_t page) const {
    return page_state::decode(state_word(page).load(simt::order::relaxed));
  }
  WARPHEAP_DEVICE void set_state(std::uint32_t page, page_state state) const {
    state_word(page).store(state.encode(), simt::order::release);
  }
  /// Acquire: with the count come the map, and the bits that were cleared.
  WARPHEAP_DEVICE bool change_state(std::uint32_t page, page_state& from, page_state to) const {
    std::uint32_t word = from.encode();
    const bool changed = state_word(page).compare_exchange(word, to.encode(), simt::order::acq_rel);
    from = page_state::decode(word);
    return changed;
  }
  /// Adds free items; returns the previous state. \pre the caller has them, so the slab keeps its
  /// owner
  WARPHEAP_DEVICE page_state add_free(std::uint32_t page, std::uint32_t items) const {
    return page_state::decode(state_word(page).fetch_add(items, simt::order::acq_rel));
  }
  /// Says that a slab is noted, unless it does already, or some of its `items` are not free any
  /// more. \pre the caller notes it next
  WARPHEAP_DEVICE void say_noted(std::uint32_t page, std::uint32_t list,
                                 std::uint32_t items) const {
    page_state whole = page_state::slab(list, items);
    change_state(page, whole, whole.noted());
  }
  /// Says that it is not; returns the previous state. \pre the caller has taken the note away, and
  /// acquired by that what made it
  WARPHEAP_DEVICE page_state say_not_noted(std::uint32_t page) const {
    return page_state::decode(state_word(page).fetch_and(~page_state::note, simt::order::relaxed));
  }

  /// Links: changed under the lock of the list, and read by any lane.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> next(std::uint32_t page) const {
    return simt::atomic_ref(nexts_[page]);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> previous(std::uint32_t page) const {
    return simt::atomic_ref(previous_[page]);
  }

  /// A new map, in which the first `taken` of `items` are. \pre the page is the caller's
  WARPHEAP_DEVICE void format_map(std::uint32_t page, std::uint32_t items,
                                  std::uint32_t taken) const {
    for (std::uint32_t word = 0; word < map_words(items); ++word) {
      map_word(page, word).store(below(taken, word) | ~below(items, word), simt::order::relaxed);
    }
  }

  /// Takes a free item; callers with different hashes seldom meet.
  /// \pre the caller has taken one from the count
  ///
  /// Lock-free: there is a clear bit for each lane that looks for one. If a round does not find it,
  /// others have taken bits, and freed some that this lane had already passed.
  WARPHEAP_DEVICE std::uint32_t claim(std::uint32_t page, std::uint32_t items,
                                      std::uint32_t hash) const {
    const std::uint32_t words = map_words(items);
    const std::uint32_t from = hash % items;
    std::uint32_t word = from / 64;
    // First the bits from the hashed one on; then every further word as a whole.
    std::uint64_t mask = ~low_bits<std::uint64_t>(static_cast<int>(from % 64));
    for (;;) {
      std::uint64_t clear = ~map_word(page, word).load(simt::order::relaxed) & mask;
      while (clear != 0) {
        const int bit = lowest_bit(clear);
        const std::uint64_t before =
            map_word(page, word).fetch_or(std::uint64_t{1} << bit, simt::order::acquire);
        if ((before >> bit & 1u) == 0) return word * 64 + static_cast<std::uint32_t>(bit);
        clear = ~before & mask;
      }
      word = word + 1 < words ? word + 1 : 0;
      mask = ~std::uint64_t{0};
    }
  }

  /// Frees an item for `claim`; `add_free` must follow.
  WARPHEAP_DEVICE void unclaim(std::uint32_t page, std::uint32_t item) const {
    map_word(page, item / 64).fetch_and(~(std::uint64_t{1} << (item % 64)), simt::order::release);
  }

  WARPHEAP_DEVICE bool is_claimed(std::uint32_t page, std::uint32_t item) const {
    return (map_word(page, item / 64).load(simt::order::relaxed) >> (item % 64) & 1u) != 0;
  }
  /// Whether the bits that stand for no item are set, and how many of the others are clear.
  WARPHEAP_DEVICE bool map_is_closed(std::uint32_t page, std::uint32_t items) const {
    const std::uint32_t last = map_words(items) - 1;
    return (~map_word(page, last).load(simt::order::relaxed) & ~below(items, last)) == 0;
  }
  WARPHEAP_DEVICE std::uint32_t count_free(std::uint32_t page, std::uint32_t items) const {
    int free = 0;
    for (std::uint32_t word = 0; word < map_words(items); ++word) {
      free += popcount(~map_word(page, word).load(simt::order::relaxed));
    }
    return static_cast<std::uint32_t>(free);
  }

 private:
  WARPHEAP_HD static constexpr std::uint32_t map_words(std::uint32_t items) {
    return ceil_div<std::uint32_t>(items, 64);
  }
  /// The bits of map word `word` that stand for items below `end`.
  WARPHEAP_HD static constexpr std::uint64_t below(std::uint32_t end, std::uint32_t word) {
    const std::uint32_t left = end > word * 64 ? end - word * 64 : 0;
    return low_bits<std::uint64_t>(left < 64 ? static_cast<int>(left) : 64);
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> state_word(std::uint32_t page) const {
    return simt::atomic_ref(states_[page]);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> map_word(std::uint32_t page,
                                                           std::uint32_t word) const {
    auto* map = reinterpret_cast<std::uint64_t*>(heap_ + (std::size_t{page} << page_shift_));
    return simt::atomic_ref(map[word]);
  }

  std::uint32_t* states_ = nullptr;
  std::uint32_t* nexts_ = nullptr;
  std::uint32_t* previous_ = nullptr;
  std::byte* heap_ = nullptr;
  std::uint32_t pages_ = 0;
  int page_shift_ = 0;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
