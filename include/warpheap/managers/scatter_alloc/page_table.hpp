// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The page usage table, and the chunks of single pages.
///
/// A page's state is one word {use:32 | count:32}. Use 0: free, or behind the first page of a run.
/// Below `run_bit`: a page of chunks of that many units, `count` of which are held. With it: the
/// first of a run of this many pages.
///
/// A chunk is reserved first, in the state, and then taken, in a mask; it is freed in the opposite
/// order. So there are never more bits set than chunks reserved, a lane with a reservation always
/// finds a bit, and a page without reservations has no bit set. Use and count share a word, so a
/// reservation is always of the size that the lane saw, even if the page was freed in the meantime.
///
/// Orders: `open` publishes masks by a release, which pairs with the acquire of `reserve`; later
/// reservations and frees are read-modify-writes, so the chain from it does not break. Taking a bit
/// acquires what freeing it released: the last owner's accesses. `leave` releases a page's use, and
/// acquires that of all lanes that left before, for the lane that finds the page empty.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

/// What a page is used for.
class page_state {
 public:
  static constexpr std::uint32_t run_bit = 1u << 31;

  WARPHEAP_HD constexpr explicit page_state(std::uint64_t word) : word_(word) {}
  WARPHEAP_HD static constexpr page_state chunks(std::uint32_t units, std::uint32_t count) {
    return page_state{std::uint64_t{units} << 32 | count};
  }
  WARPHEAP_HD static constexpr page_state run(std::uint32_t pages) {
    return page_state{std::uint64_t{pages | run_bit} << 32};
  }

  WARPHEAP_HD constexpr std::uint64_t word() const { return word_; }
  WARPHEAP_HD constexpr bool is_unused() const { return use() == 0; }
  WARPHEAP_HD constexpr bool is_run() const { return (use() & run_bit) != 0; }
  WARPHEAP_HD constexpr bool has_chunks() const { return !is_unused() && !is_run(); }
  /// \pre `is_run()`
  WARPHEAP_HD constexpr std::uint32_t pages() const { return use() & ~run_bit; }
  /// \pre `has_chunks()`
  WARPHEAP_HD constexpr std::uint32_t units() const { return use(); }
  WARPHEAP_HD constexpr std::uint32_t count() const { return static_cast<std::uint32_t>(word_); }

 private:
  WARPHEAP_HD constexpr std::uint32_t use() const {
    return static_cast<std::uint32_t>(word_ >> 32);
  }

  std::uint64_t word_;
};

/// Chunks of one page: number `first + i` for every bit i.
struct chunk_set {
  std::uint32_t first = 0;
  std::uint32_t bits = 0;
};

template <scatter_config Config>
class page_table {
 public:
  using sizes = geometry<Config>;

  page_table() = default;
  page_table(region_cursor& cursor, std::uint32_t pages)
      : states_(cursor.take<std::uint64_t>(pages, 128)),
        masks_(cursor.take<std::uint32_t>(pages, 128)),
        memory_(cursor.take<std::byte>(std::size_t{pages} * sizes::page_bytes, 256)),
        pages_(pages) {}

  WARPHEAP_HD std::uint32_t pages() const { return pages_; }
  WARPHEAP_HD std::byte* address(std::uint32_t page) const {
    return memory_ + std::size_t{page} * sizes::page_bytes;
  }
  WARPHEAP_HD std::byte* address(std::uint32_t page, std::uint32_t units,
                                 std::uint32_t chunk) const {
    return address(page) + chunk * units * sizes::unit_bytes;
  }
  /// Bytes from the first page on; beyond all pages for pointers that are not from this heap.
  WARPHEAP_HD std::uint64_t offset_of(const void* block) const {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(memory_);
  }

  /// Does not touch the pages themselves: `open` formats what it needs.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < pages_; i += count) {
      states_[i] = 0;
      masks_[i] = 0;
    }
  }

  /// A hint for all but owners of blocks in the page, for whom the use does not change.
  WARPHEAP_DEVICE page_state look(std::uint32_t page) const {
    return page_state{state(page).load(simt::order::relaxed)};
  }
  /// As `size_exhaustion` asks of searchers.
  WARPHEAP_DEVICE page_state examine(std::uint32_t page) const {
    return page_state{state(page).fetch_add(0, simt::order::acq_rel)};
  }

  /// A page with a chunk for a request of `units`.
  WARPHEAP_HD static constexpr bool has_room(page_state seen, std::uint32_t units) {
    return seen.has_chunks() && sizes::suits(units, seen.units()) &&
           seen.count() < sizes::capacity(seen.units());
  }

  /// Reserves up to `want` chunks of a page last seen as `last` for requests of `units`. Returns
  /// the state, with the number of reserved chunks instead of the count; unused if there is none.
  /// Repeats only if another lane has changed the state.
  WARPHEAP_DEVICE page_state reserve(std::uint32_t page, page_state last, std::uint32_t units,
                                     std::uint32_t want) const {
    const auto word = state(page);
    std::uint64_t seen = last.word();
    while (has_room(page_state{seen}, units)) {
      const page_state now{seen};
      const std::uint32_t room = sizes::capacity(now.units()) - now.count();
      const std::uint32_t got = room < want ? room : want;
      // Acquire pairs with the release in `open`: the masks are formatted.
      if (word.compare_exchange(seen, seen + got, simt::order::acquire)) {
        return page_state::chunks(now.units(), got);
      }
    }
    return page_state{0};
  }

  /// Turns a page that the caller has removed from the free ones into a page of chunks, the first
  /// `taken` of which are the caller's. \pre `0 < taken && taken <= 32`, and not above its capacity
  WARPHEAP_DEVICE void open(std::uint32_t page, std::uint32_t units, std::uint32_t taken) const {
    const auto first = low_bits<std::uint32_t>(static_cast<int>(taken));
    // Relaxed: published by the exchange below.
    if (sizes::has_two_levels(units)) {
      for (std::uint32_t s = 0; s < sizes::segments(units); ++s) {
        segment(page, units, s).store(s == 0 ? first : 0, simt::order::relaxed);
      }
      flat(page).store(0, simt::order::relaxed);
    } else {
      flat(page).store(first, simt::order::relaxed);
    }
    // Release pairs with the acquire in `reserve`. Acquire: this makes room, see `size_exhaustion`.
    state(page).exchange(page_state::chunks(units, taken).word(), simt::order::acq_rel);
  }

  /// Takes up to `want` of the chunks that the caller has reserved, all from one segment, which
  /// `turn`, a count, selects. None if that segment is full, or skipped because it was seen full
  /// and `hinted`. Repeats only if other lanes have taken chunks there.
  WARPHEAP_DEVICE chunk_set take(std::uint32_t page, std::uint32_t units, std::uint32_t want,
                                 std::uint32_t turn, bool hinted) const {
    const bool two_levels = sizes::has_two_levels(units);
    const std::uint32_t number = two_levels ? turn % sizes::segments(units) : 0;
    const auto full_hint = 1u << number;
    if (two_levels && hinted && (flat(page).load(simt::order::relaxed) & full_hint) != 0) {
      return {};
    }
    const auto mask = two_levels ? segment(page, units, number) : flat(page);
    const std::uint32_t valid = sizes::chunk_bits(units, number);
    std::uint32_t open_bits = ~mask.load(simt::order::relaxed) & valid;
    while (open_bits != 0) {
      const std::uint32_t wanted = choose(open_bits, want, turn);
      // Acquire pairs with the release in `put_back`: the last owners' accesses come first.
      const std::uint32_t before = mask.fetch_or(wanted, simt::order::acquire);
      if ((wanted & ~before) != 0) return {number * 32, wanted & ~before};
      open_bits = ~before & valid;
    }
    if (two_levels) note_full(page, mask, valid, full_hint);
    return {};
  }

  /// Frees a chunk, but keeps its reservation.
  WARPHEAP_DEVICE void put_back(std::uint32_t page, std::uint32_t units,
                                std::uint32_t chunk) const {
    const std::uint32_t bit = 1u << chunk % 32;
    if (!sizes::has_two_levels(units)) {
      // Release pairs with the acquire in `take`.
      flat(page).fetch_and(~bit, simt::order::release);
      return;
    }
    // Acquire: see `note_full`.
    segment(page, units, chunk / 32).fetch_and(~bit, simt::order::acq_rel);
    const std::uint32_t full_hint = 1u << chunk / 32;
    if ((flat(page).load(simt::order::relaxed) & full_hint) != 0) {
      flat(page).fetch_and(~full_hint, simt::order::relaxed);
    }
  }

  /// Gives up the reservations of `chunks` chunks that were freed. True if nothing of the page is
  /// reserved any more and the caller has made it unused: it has to insert it into the free pages.
  WARPHEAP_DEVICE bool leave(std::uint32_t page, std::uint32_t chunks) const {
    const auto word = state(page);
    const std::uint64_t before = word.fetch_sub(chunks, simt::order::acq_rel);
    if (page_state{before}.count() != chunks) return false;
    // If another lane has reserved a chunk since, the last lane that holds one finds the page
    // empty. If others have emptied it since, either lane may be the one: equal words, equal pages.
    std::uint64_t empty = before - chunks;
    return word.compare_exchange(empty, 0, simt::order::acq_rel);
  }

  /// Relaxed: read by lanes that got the run's address from here, or as a hint.
  WARPHEAP_DEVICE void begin_run(std::uint32_t page, std::uint32_t pages) const {
    state(page).store(page_state::run(pages).word(), simt::order::relaxed);
  }
  /// A read-modify-write: it makes room, see `size_exhaustion`. The next use comes after the
  /// insertion into the free pages.
  WARPHEAP_DEVICE void end_run(std::uint32_t page) const {
    state(page).exchange(0, simt::order::acq_rel);
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE std::uint32_t flat_mask(std::uint32_t page) const { return masks_[page]; }
  WARPHEAP_DEVICE std::uint32_t segment_mask(std::uint32_t page, std::uint32_t units,
                                             std::uint32_t number) const {
    return *segment_word(page, units, number);
  }

 private:
  using word64 = simt::atomic_ref<std::uint64_t>;
  using word32 = simt::atomic_ref<std::uint32_t>;

  WARPHEAP_DEVICE word64 state(std::uint32_t page) const { return word64(states_[page]); }
  /// The mask of a flat page; of another, which segments were seen full.
  WARPHEAP_DEVICE word32 flat(std::uint32_t page) const { return word32(masks_[page]); }
  WARPHEAP_DEVICE word32 segment(std::uint32_t page, std::uint32_t units,
                                 std::uint32_t number) const {
    return word32(*segment_word(page, units, number));
  }
  WARPHEAP_DEVICE std::uint32_t* segment_word(std::uint32_t page, std::uint32_t units,
                                              std::uint32_t number) const {
    std::byte* const end = address(page) + sizes::page_bytes;
    return reinterpret_cast<std::uint32_t*>(end) - sizes::segments(units) + number;
  }

  /// Up to `want` of `bits`, from place `turn` on, wrapping around.
  WARPHEAP_HD static constexpr std::uint32_t choose(std::uint32_t bits, std::uint32_t want,
                                                    std::uint32_t turn) {
    const std::uint32_t behind = bits & ~low_bits<std::uint32_t>(static_cast<int>(turn % 32));
    const auto there = static_cast<std::uint32_t>(popcount(behind));
    if (there >= want) return lowest(behind, want);
    return behind | lowest(bits & ~behind, want - there);
  }
  WARPHEAP_HD static constexpr std::uint32_t lowest(std::uint32_t bits, std::uint32_t count) {
    if (count >= static_cast<std::uint32_t>(popcount(bits))) return bits;
    return bits & low_bits<std::uint32_t>(kth_set_bit(bits, static_cast<int>(count)));
  }

  /// A segment was seen full. A lane that frees a chunk of it clears the mask's bit first and then
  /// looks for the hint. If its read-modify-write of the mask comes before the one here, this lane
  /// sees the bit clear; if it comes after, it acquires what is released here and sees the hint.
  /// So a hint of a segment that is not full does not stay.
  WARPHEAP_DEVICE void note_full(std::uint32_t page, const word32& mask, std::uint32_t valid,
                                 std::uint32_t full_hint) const {
    flat(page).fetch_or(full_hint, simt::order::relaxed);
    if ((mask.fetch_or(0, simt::order::acq_rel) & valid) != valid) {
      flat(page).fetch_and(~full_hint, simt::order::relaxed);
    }
  }

  std::uint64_t* states_ = nullptr;
  std::uint32_t* masks_ = nullptr;
  std::byte* memory_ = nullptr;
  std::uint32_t pages_ = 0;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
