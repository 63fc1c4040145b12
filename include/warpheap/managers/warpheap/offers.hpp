// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Free slots of full classes of the manager `warpheap`, on offer to the next requests: so near
/// exhaustion a block goes from the lane that frees it to one that wants it without a search.
///
/// An offer is the number of a word that has a free slot; a lane that takes the offer claims the
/// slot, or finds that it is gone. A class has a ring of cells:
///
///     cell   [ 0: empty | 1 + number of a word | left ]
///
/// A lane that makes an offer draws a number, puts the offer into the cell of that number, and then
/// counts it as open. A lane that wants one takes it from the count, then draws a number, and looks
/// into the cell of that number. So there are as many offers in cells as lanes that look for one,
/// or more; and nearly always the cells that they look into are those.
///
/// Nobody waits for long. A lane that does not find the offer of its number, because the one who
/// makes it is slow, leaves a mark in the cell and draws another number; so does the maker, when it
/// finds the mark, or an offer of the round before. So an offer in a cell always has a number that
/// nobody has drawn who wants one, or a lane that is about to take it.
class warpheap_offers {
 public:
  struct alignas(32) ring {
    std::uint32_t open;   ///< offers that nobody has asked for; signed
    std::uint32_t made;   ///< numbers drawn by those who make offers
    std::uint32_t taken;  ///< numbers drawn by those who take them
    std::uint32_t first;  ///< of its cells; never changes
    std::uint32_t cells;  ///< a power of two; never changes
  };
  static constexpr std::uint32_t none = 0xffffffffu;

  /// Cells of all rings in a heap of this many chunks.
  WARPHEAP_HD static constexpr std::uint32_t all_cells(const warpheap_size_classes& sizes,
                                                       std::uint32_t chunks) {
    std::uint32_t cells = 0;
    for (std::uint32_t of = 0; of < sizes.count(); ++of) cells += cells_of(sizes, of, chunks);
    return cells;
  }

  warpheap_offers() = default;
  /// \param rings one a class
  /// \param cells `count` of them: `all_cells` of the heap
  warpheap_offers(ring* rings, std::uint32_t* cells, std::uint32_t count)
      : rings_(rings), cells_(cells), count_(count) {}

  WARPHEAP_DEVICE void format(const warpheap_size_classes& sizes, std::uint32_t chunks,
                              std::uint64_t rank, std::uint64_t count) const {
    // Where a ring begins is added up by the one lane that writes it, and not by every lane.
    std::uint32_t first = 0;
    std::uint32_t of = 0;
    for (std::uint64_t mine = rank; mine < sizes.count(); mine += count) {
      for (; of < mine; ++of) first += cells_of(sizes, of, chunks);
      rings_[of] = {0, 0, 0, first, cells_of(sizes, of, chunks)};
    }
    for (std::uint64_t i = rank; i < count_; i += count) cells_[i] = 0;
  }

  /// Offers a slot of `word` to requests of a class; false: there are too many offers. A collective
  /// of those that call together for a class.
  WARPHEAP_DEVICE bool make(std::uint32_t of, std::uint32_t word) const {
    if (open(simt::load_hint(rings_[of].open)) >= static_cast<int>(cells_in(of) / 2)) return false;
    if (!publish(of, word)) return false;
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of);
    if (same.is_leader()) give_back(of, same.size());
    team.sync();
    return true;
  }

  /// A word that was offered, or none: there was no offer, or others have asked for it. A
  /// collective of those that call together for a class.
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t of) const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of);
    int granted = 0;
    if (same.is_leader()) granted = ask(of, same.size());
    team.sync();
    granted = static_cast<int>(team.shuffle(static_cast<std::uint32_t>(granted), same.leader()));
    std::uint32_t word = none;
    if (same.rank() < granted) word = collect(of);
    team.sync();
    return word;
  }

  /// Whether there is one, or there was one a moment ago.
  WARPHEAP_DEVICE bool any(std::uint32_t of) const {
    return simt::atomic_ref(rings_[of].open).load(simt::order::relaxed) != 0;
  }
  /// Whether there is none, as far as the multiprocessor knows.
  WARPHEAP_DEVICE bool seem_gone(std::uint32_t of) const {
    return open(simt::load_hint(rings_[of].open)) <= 0;
  }

  /// How many there are, while no lane allocates; -1: the count does not agree with the cells.
  WARPHEAP_DEVICE int examine(std::uint32_t of) const {
    int offers = 0;
    for (std::uint32_t i = 0; i < cells_in(of); ++i) {
      const std::uint32_t in = cell(of, i).load(simt::order::relaxed);
      offers += in != 0 && in != left ? 1 : 0;
    }
    const int counted = open(simt::atomic_ref(rings_[of].open).load(simt::order::relaxed));
    return offers == counted ? offers : -1;
  }

 private:
  static constexpr std::uint32_t most_cells = 4096;
  /// Slots of a class in the heap for a cell.
  static constexpr std::uint64_t slots_each = 512;
  /// What a lane leaves in a cell that has not found its offer there.
  static constexpr std::uint32_t left = 0xffffffffu;
  /// Numbers that a lane draws which offers, before it gives up.
  static constexpr int most_tries = 8;
  /// Times that a lane looks for the offer of its number, and how long after the first look; then
  /// twice as long, and so on.
  static constexpr int most_looks = 4;
  static constexpr std::uint32_t pause_ns = 200;

  WARPHEAP_HD static constexpr std::uint32_t cells_of(const warpheap_size_classes& sizes,
                                                      std::uint32_t of, std::uint32_t chunks) {
    const std::uint64_t slots = std::uint64_t{sizes.chunk_bytes() / sizes.slot_bytes(of)} * chunks;
    std::uint32_t cells = 8;
    while (cells < most_cells && cells * slots_each < slots) cells *= 2;
    return cells;
  }
  /// More may ask for a moment than there are offers.
  WARPHEAP_HD static constexpr int open(std::uint32_t offers) { return static_cast<int>(offers); }

  WARPHEAP_DEVICE void give_back(std::uint32_t of, int offers) const {
    simt::atomic_ref(rings_[of].open)
        .fetch_add(static_cast<std::uint32_t>(offers), simt::order::relaxed);
  }
  /// Takes up to this many offers from the count.
  WARPHEAP_DEVICE int ask(std::uint32_t of, int lanes) const {
    const simt::atomic_ref count(rings_[of].open);
    const int there = open(count.load(simt::order::relaxed));
    const int wanted = there < lanes ? there : lanes;
    if (wanted <= 0) return 0;
    const int before =
        open(count.fetch_sub(static_cast<std::uint32_t>(wanted), simt::order::relaxed));
    const int granted = before < 0 ? 0 : before < wanted ? before : wanted;
    if (granted != wanted) give_back(of, wanted - granted);
    return granted;
  }

  /// A number that no other lane of the class draws from `counter`, for those that call together.
  WARPHEAP_DEVICE std::uint32_t draw(std::uint32_t of, std::uint32_t ring::*counter) const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of);
    std::uint32_t first = 0;
    if (same.is_leader()) {
      first = simt::atomic_ref(rings_[of].*counter)
                  .fetch_add(static_cast<std::uint32_t>(same.size()), simt::order::relaxed);
    }
    team.sync();
    return team.shuffle(first, same.leader()) + static_cast<std::uint32_t>(same.rank());
  }

  /// Puts an offer into a cell. Release: a lane that takes the offer sees the free slot in the
  /// word.
  WARPHEAP_DEVICE bool publish(std::uint32_t of, std::uint32_t word) const {
    for (int tries = 0; tries < most_tries; ++tries) {
      const simt::atomic_ref mine = cell(of, draw(of, &ring::made));
      std::uint32_t in = 0;
      if (mine.compare_exchange(in, word + 1, simt::order::release)) return true;
      if (in == left) mine.compare_exchange(in, 0, simt::order::relaxed);
    }
    return false;
  }
  /// An offer that the caller has taken from the count. Ends: it has a number that is still to be
  /// drawn, or others have drawn it and take it, and leave another one.
  WARPHEAP_DEVICE std::uint32_t collect(std::uint32_t of) const {
    for (;;) {
      const simt::atomic_ref mine = cell(of, draw(of, &ring::taken));
      for (int looks = 0; looks < most_looks; ++looks) {
        std::uint32_t in = mine.load(simt::order::relaxed);
        // Acquire pairs with `publish`.
        if (in != 0 && in != left && mine.compare_exchange(in, 0, simt::acquire_to_write)) {
          return in - 1;
        }
        simt::backoff(pause_ns << looks);
      }
      std::uint32_t in = 0;
      if (!mine.compare_exchange(in, left, simt::order::relaxed) && in != left &&
          mine.compare_exchange(in, 0, simt::acquire_to_write)) {
        return in - 1;
      }
    }
  }

  WARPHEAP_DEVICE std::uint32_t cells_in(std::uint32_t of) const {
    return simt::load_hint(rings_[of].cells);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> cell(std::uint32_t of, std::uint32_t i) const {
    return simt::atomic_ref(cells_[simt::load_hint(rings_[of].first) + (i & (cells_in(of) - 1))]);
  }

  ring* rings_ = nullptr;
  std::uint32_t* cells_ = nullptr;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
