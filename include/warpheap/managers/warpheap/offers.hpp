// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Free slots of full classes of the manager `warpheap`, on offer to the next requests: near
/// exhaustion, a block thus goes from the lane that frees it to one that wants it, without a
/// search.
///
/// An offer is the number of a word that has a free slot; a lane that takes the offer claims the
/// slot, or finds that it is gone. A class has a ring of cells, or several if it may have many
/// slots, so that lanes do not all change the same counts:
///
///     cell   [ 0: empty | 1 + number of a word | left ]
///
/// A lane that makes an offer reserves room for it, draws a number, puts the offer into the cell of
/// that number, and then counts it as open. A lane that wants one takes it from the count, then
/// draws a number, and looks into the cell of that number. So there are at least as many offers in
/// cells as lanes that look for one; and these lanes nearly always look into the right cells, since
/// no more numbers are drawn for offers than there are offers.
///
/// No lane waits for long. A lane that does not find the offer of its number, because the lane that
/// makes it is slow, leaves a mark in the cell and draws another number; so does the maker when it
/// finds the mark, or an offer of the previous round. So the number of an offer in a cell has not
/// been drawn by any lane that wants one yet, or a lane is about to take the offer. A mark of an
/// earlier round is overwritten: else both would pass the cell in each round from then on.
class warpheap_offers {
 public:
  /// The cells of a class: [ of each ring, a power of two: 16 | rings but one: 16 | first: 32 ].
  /// Never changes, and lies apart from what lanes change, which its readers would have to wait
  /// for.
  using extent = std::uint64_t;
  struct alignas(32) ring {
    /// Offers that no lane has requested, in two halves: the lower one counts those in cells, and
    /// is signed; the upper one also counts those that have reserved room and are about to be in a
    /// cell.
    std::uint64_t counts;
    std::uint32_t made;   ///< numbers drawn by those who make offers
    std::uint32_t taken;  ///< numbers drawn by those who take them
    /// No other ring shares these 32 bytes. Always 0: no byte of a heap is left as it was found.
    std::uint64_t unused[2];
  };
  /// Rings of a class of many slots: a power of two.
  static constexpr std::uint32_t most_rings = 4;
  static constexpr std::uint32_t none = 0xffffffffu;

  /// Cells of all rings in a heap of this many chunks.
  WARPHEAP_HD static constexpr std::uint32_t all_cells(const warpheap_size_classes& sizes,
                                                       std::uint32_t chunks) {
    std::uint32_t cells = 0;
    for (std::uint32_t of = 0; of < sizes.count(); ++of) cells += cells_of(sizes, of, chunks);
    return cells;
  }

  /// Rings of all classes in a heap of this many chunks. The first class may have the most slots.
  WARPHEAP_HD static constexpr std::uint32_t all_rings(const warpheap_size_classes& sizes,
                                                       std::uint32_t chunks) {
    return sizes.count() * rings_of(cells_of(sizes, 0, chunks));
  }

  warpheap_offers() = default;
  /// \param rings `all_rings` of the heap
  /// \param extents one per class
  /// \param cells `count` of them: `all_cells` of the heap
  warpheap_offers(ring* rings, extent* extents, std::uint32_t classes, std::uint32_t* cells,
                  std::uint32_t count)
      : rings_(rings), extents_(extents), cells_(cells), classes_(classes), count_(count) {}

  WARPHEAP_DEVICE void format(const warpheap_size_classes& sizes, std::uint32_t chunks,
                              std::uint64_t rank, std::uint64_t count) const {
    // Only the lane that writes a class's rings computes their start as a sum, not every lane.
    std::uint32_t first = 0;
    std::uint32_t of = 0;
    for (std::uint64_t mine = rank; mine < classes_; mine += count) {
      for (; of < mine; ++of) first += cells_of(sizes, of, chunks);
      const std::uint32_t cells = cells_of(sizes, of, chunks);
      const std::uint32_t rings = rings_of(cells);
      extents_[of] = std::uint64_t{cells / rings} << 48 | std::uint64_t{rings - 1} << 32 | first;
      for (std::uint32_t i = 0; i < rings; ++i) at(of, i) = {0, 0, 0, {0, 0}};
    }
    for (std::uint64_t i = rank; i < count_; i += count) cells_[i] = 0;
  }

  /// Offers a slot of `word` to requests of a class; false: there are too many offers. A collective
  /// of those that call together for a class.
  WARPHEAP_DEVICE bool make(std::uint32_t of, std::uint32_t word) const {
    const std::uint32_t own = own_ring(of);
    if (reserved(simt::load_hint(at(of, own).counts)) >= room(of)) return false;
    const simt::group team = simt::coalesced(rings_);
    const simt::group same = team.match(of);
    int granted = 0;
    if (same.is_leader()) granted = reserve(of, own, same.size());
    team.sync();
    granted = static_cast<int>(team.shuffle(static_cast<std::uint32_t>(granted), same.leader()));
    const bool made = same.rank() < granted && publish(of, own, word);
    const int published = (team.ballot(made) & same.mask()).count();
    team.sync();  // what the members have put into cells comes before it is counted
    if (same.is_leader() && granted != 0) add(of, own, published, published - granted);
    team.sync();
    return made;
  }

  /// A word that was offered, or none: there was no offer in a ring, or other lanes have requested
  /// it. A collective of those that call together for a class.
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t of) const {
    const simt::group team = simt::coalesced(rings_);
    const simt::group same = team.match(of);
    // [ ring | granted ]
    std::uint32_t won = 0;
    if (same.is_leader()) {
      const sight seen = look_for_offers(of);
      won =
          seen.ring * simt::warp_size * 2 + static_cast<std::uint32_t>(ask(of, seen, same.size()));
    }
    team.sync();
    won = team.shuffle(won, same.leader());
    std::uint32_t word = none;
    if (static_cast<std::uint32_t>(same.rank()) < won % (simt::warp_size * 2)) {
      word = collect(of, won / (simt::warp_size * 2));
    }
    team.sync();
    return word;
  }

  /// How many offers the lanes of the caller's ring have begun to make, and which ring that is, for
  /// `has_made`: a lane may be on another multiprocessor by then.
  WARPHEAP_DEVICE std::uint32_t made(std::uint32_t of) const { return made_in(of, own_ring(of)); }
  /// Whether they have begun to make another one since.
  WARPHEAP_DEVICE bool has_made(std::uint32_t of, std::uint32_t before) const {
    return made_in(of, before % most_rings) != before;
  }

  /// Whether there is one, or there was one a moment ago.
  WARPHEAP_DEVICE bool any(std::uint32_t of) const {
    bool some = false;
    // All of them, so that no load waits for another one.
    for (std::uint32_t i = 0; i <= more(of); ++i) some |= open(counts(of, i)) != 0;
    return some;
  }
  /// Whether there is no offer, according to the multiprocessor's cache.
  WARPHEAP_DEVICE bool seem_gone(std::uint32_t of) const {
    bool gone = true;
    for (std::uint32_t i = 0; i <= more(of); ++i) {
      gone = gone && open(simt::load_hint(at(of, i).counts)) <= 0;
    }
    return gone;
  }
  /// How many there can be at a time.
  WARPHEAP_DEVICE int most(std::uint32_t of) const {
    return room(of) * static_cast<int>(more(of) + 1);
  }
  /// How many there are, while no lane allocates; -1: the counts do not agree with the cells, or
  /// there is an offer of a word that is not below `words`.
  WARPHEAP_DEVICE int examine(std::uint32_t of, std::uint32_t words = none) const {
    int offers = 0;
    for (std::uint32_t i = 0; i <= more(of); ++i) {
      const int in_ring = examine_ring(of, i, words);
      if (in_ring < 0) return -1;
      offers += in_ring;
    }
    return offers;
  }

 private:
  static constexpr std::uint32_t most_cells = 8192;
  /// Cells of a class from which on it has several rings.
  static constexpr std::uint32_t shared_cells = 2048;
  /// Slots of a class in the heap for a cell, if slots have at most `many_bytes`; half of that for
  /// larger ones, of which there are fewer.
  static constexpr std::uint64_t slots_each = 512;
  static constexpr std::uint32_t many_bytes = 1024;
  /// What a lane leaves in a cell that has not found its offer there.
  static constexpr std::uint32_t left = 0xffffffffu;
  /// How many numbers a lane with an offer draws before it gives up.
  static constexpr int most_tries = 4;
  /// How often a lane looks for the offer of its number, and how long it waits after the first
  /// look; the wait doubles each time.
  static constexpr int most_looks = 4;
  static constexpr std::uint32_t pause_ns = 200;

  WARPHEAP_HD static constexpr std::uint32_t cells_of(const warpheap_size_classes& sizes,
                                                      std::uint32_t of, std::uint32_t chunks) {
    const std::uint32_t bytes = sizes.slot_bytes(of);
    const std::uint64_t slots = std::uint64_t{sizes.chunk_bytes() / bytes} * chunks;
    std::uint32_t cells = 8;
    const std::uint64_t each = bytes <= many_bytes ? slots_each : slots_each / 2;
    while (cells < most_cells && cells * each < slots) cells *= 2;
    return cells;
  }
  WARPHEAP_HD static constexpr std::uint32_t rings_of(std::uint32_t cells) {
    return cells < shared_cells ? 1 : most_rings;
  }
  WARPHEAP_DEVICE int examine_ring(std::uint32_t of, std::uint32_t i, std::uint32_t words) const {
    // A ring with a wrong address may lie outside the heap.
    const std::uint32_t cells = cells_in(extents_[of]);
    const std::uint32_t first = first_in(extents_[of]) + i * cells;
    if (first > count_ || cells > count_ - first) return -1;
    int offers = 0;
    for (std::uint32_t k = 0; k < cells; ++k) {
      const std::uint32_t in = cell(of, i, k).load(simt::order::relaxed);
      if (in == 0 || in == left) continue;
      if (in > words) return -1;
      ++offers;
    }
    const std::uint64_t counted = counts(of, i);
    return offers == open(counted) && offers == reserved(counted) ? offers : -1;
  }

  /// For a moment, there may be more requests than offers.
  WARPHEAP_HD static constexpr int open(std::uint64_t both) {
    return static_cast<int>(static_cast<std::uint32_t>(both));
  }
  WARPHEAP_HD static constexpr int reserved(std::uint64_t both) {
    return static_cast<int>((both - static_cast<std::uint64_t>(open(both))) >> 32);
  }
  WARPHEAP_HD static constexpr std::uint32_t cells_in(extent known) {
    return static_cast<std::uint32_t>(known >> 48);
  }
  WARPHEAP_HD static constexpr std::uint32_t first_in(extent known) {
    return static_cast<std::uint32_t>(known);
  }
  WARPHEAP_DEVICE ring& at(std::uint32_t of, std::uint32_t i) const {
    return rings_[std::size_t{i} * classes_ + of];
  }
  WARPHEAP_DEVICE std::uint32_t made_in(std::uint32_t of, std::uint32_t i) const {
    return simt::atomic_ref(at(of, i).made).load(simt::order::relaxed) * most_rings + i;
  }
  WARPHEAP_DEVICE std::uint32_t more(std::uint32_t of) const {
    return static_cast<std::uint32_t>(simt::load_hint(extents_[of]) >> 32) & (most_rings - 1);
  }
  /// A ring of the class for the caller's warp.
  WARPHEAP_DEVICE std::uint32_t own_ring(std::uint32_t of) const {
    return (simt::sm_id() + simt::warp_slot()) & more(of);
  }
  struct sight {
    std::uint32_t ring;  ///< the first one with offers from the caller's own on, or that one
    int open = 0;        ///< offers there
  };
  WARPHEAP_DEVICE sight look_for_offers(std::uint32_t of) const {
    const std::uint32_t others = more(of);
    const std::uint32_t own = own_ring(of);
    sight seen{own};
    // The loads do not wait for each other.
    for (std::uint32_t i = others + 1; i-- != 0;) {
      const std::uint32_t next = (own + i) & others;
      const int there = open(counts(of, next));
      if (there > 0) seen = {next, there};
    }
    return seen;
  }
  /// Offers may occupy half of the cells: lanes that have requested others still look into theirs.
  WARPHEAP_DEVICE int room(std::uint32_t of) const {
    return static_cast<int>(cells_in(simt::load_hint(extents_[of])) / 2);
  }
  WARPHEAP_DEVICE std::uint64_t counts(std::uint32_t of, std::uint32_t i) const {
    return simt::atomic_ref(at(of, i).counts).load(simt::order::relaxed);
  }
  /// Returns the previous counts.
  WARPHEAP_DEVICE std::uint64_t add(std::uint32_t of, std::uint32_t i, int in_cells,
                                    int in_all) const {
    const std::int64_t both = std::int64_t{in_all} * (std::int64_t{1} << 32) + in_cells;
    return simt::atomic_ref(at(of, i).counts)
        .fetch_add(static_cast<std::uint64_t>(both), simt::order::relaxed);
  }

  /// Reserves room for up to this many offers.
  WARPHEAP_DEVICE int reserve(std::uint32_t of, std::uint32_t i, int lanes) const {
    const int free = room(of) - reserved(add(of, i, 0, lanes));
    const int granted = free < 0 ? 0 : free < lanes ? free : lanes;
    if (granted != lanes) add(of, i, 0, granted - lanes);
    return granted;
  }
  /// Takes up to this many offers from the counts.
  WARPHEAP_DEVICE int ask(std::uint32_t of, const sight& seen, int lanes) const {
    const int wanted = seen.open < lanes ? seen.open : lanes;
    if (wanted <= 0) return 0;
    const int before = open(add(of, seen.ring, -wanted, -wanted));
    const int granted = before < 0 ? 0 : before < wanted ? before : wanted;
    if (granted != wanted) add(of, seen.ring, wanted - granted, wanted - granted);
    return granted;
  }

  /// A number that no other lane draws from `counter` of a ring, for those that call together.
  WARPHEAP_DEVICE std::uint32_t draw(std::uint32_t of, std::uint32_t i,
                                     std::uint32_t ring::*counter) const {
    const simt::group team = simt::coalesced(rings_);
    // By the counter as well: lanes that make offers and those that want some may meet here.
    const std::uint32_t kind = counter == &ring::made ? 1 : 0;
    const simt::group same = team.match((of * most_rings + i) * 2 + kind);
    std::uint32_t first = 0;
    if (same.is_leader()) {
      first = simt::atomic_ref(at(of, i).*counter)
                  .fetch_add(static_cast<std::uint32_t>(same.size()), simt::order::relaxed);
    }
    team.sync();
    return team.shuffle(first, same.leader()) + static_cast<std::uint32_t>(same.rank());
  }

  /// Puts an offer into a cell. Release: a lane that takes the offer sees the free slot in the
  /// word.
  WARPHEAP_DEVICE bool publish(std::uint32_t of, std::uint32_t i, std::uint32_t word) const {
    bool done = false;
    simt::repeat<most_tries>([&] {
      const std::uint32_t number = draw(of, i, &ring::made);
      const simt::atomic_ref mine = cell(of, i, number);
      std::uint32_t in = 0;
      done = mine.compare_exchange(in, word + 1, simt::order::release);
      if (done || in != left) return done;
      const bool is_late = was_wanted(of, i, number);
      done = mine.compare_exchange(in, is_late ? 0 : word + 1, simt::order::release) && !is_late;
      return done;
    });
    return done;
  }
  /// An offer that the caller has taken from the count. Ends: either its number has not been drawn
  /// yet, or others have drawn it, take it, and leave another one.
  WARPHEAP_DEVICE std::uint32_t collect(std::uint32_t of, std::uint32_t i) const {
    for (;;) {
      const simt::atomic_ref mine = cell(of, i, draw(of, i, &ring::taken));
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

  /// Whether a lane that wants an offer has drawn this number, or one at the same cell, as far as
  /// the next number tells: those of lanes that make and of lanes that want offers are usually less
  /// than half of a round apart. If they are not, or by an old value, which the read-modify-write
  /// never returns, lanes would find the offer a round later.
  WARPHEAP_DEVICE bool was_wanted(std::uint32_t of, std::uint32_t i, std::uint32_t number) const {
    const std::uint32_t next = simt::atomic_ref(at(of, i).taken).fetch_add(0, simt::order::relaxed);
    const std::uint32_t cells = cells_in(simt::load_hint(extents_[of]));
    return ((number - next) & (cells - 1)) >= cells / 2;
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> cell(std::uint32_t of, std::uint32_t i,
                                                       std::uint32_t number) const {
    const extent known = simt::load_hint(extents_[of]);
    const std::uint32_t cells = cells_in(known);
    return simt::atomic_ref(cells_[first_in(known) + i * cells + (number & (cells - 1))]);
  }

  ring* rings_ = nullptr;
  extent* extents_ = nullptr;
  std::uint32_t* cells_ = nullptr;
  std::uint32_t classes_ = 0;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
