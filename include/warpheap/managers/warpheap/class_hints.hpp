// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The hints of a class of the manager `warpheap`: which chunks it has, by number, so that a turn
/// finds one by two loads, which the multiprocessor may cache. A chunk also knows its number, its
/// entry; a hint is right if both agree. Numbers are given in the order in which chunks come, and
/// the last one takes the number of one that leaves. All of it is a guess, which claims check: a
/// hint that leads to no chunk of the class costs those time that come to it, until one of them
/// drops it; a chunk without a hint is not found by turns. Exists for one call.
class warpheap_class_hints {
 public:
  /// How many words the hints of a class take: two hints are in each.
  WARPHEAP_HD static constexpr std::size_t words_for(std::uint32_t universe) {
    return ceil_div<std::uint32_t>(universe, 2);
  }

  /// \param count how many the class has \param hints `words_for(universe)` words of the class
  /// \param entries of all chunks
  WARPHEAP_DEVICE warpheap_class_hints(std::uint32_t& count, std::uint32_t* hints,
                                       std::uint32_t* entries, std::uint32_t universe)
      : count_(count), hints_(hints), entries_(entries), universe_(universe) {}

  /// The word of a hint and its neighbour, and the half of such a word.
  WARPHEAP_DEVICE std::uint32_t& word(std::uint32_t entry) const { return hints_[entry / 2]; }
  WARPHEAP_DEVICE static std::uint32_t half_of(std::uint32_t two, std::uint32_t entry) {
    return two >> entry % 2 * 16 & 0xffffu;
  }
  WARPHEAP_DEVICE std::uint32_t chunk_at(std::uint32_t entry) const {
    return half_of(simt::atomic_ref(word(entry)).load(simt::order::relaxed), entry);
  }

  /// The first of the numbers for `chunks` more chunks, which the caller is about to `name`.
  WARPHEAP_DEVICE std::uint32_t extend(std::uint32_t chunks) const {
    return count().fetch_add(chunks, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void name(std::uint32_t entry, std::uint32_t chunk) const {
    const std::uint32_t place = entry < universe_ ? entry : entry % universe_;
    simt::atomic_ref(entries_[chunk]).store(place, simt::order::relaxed);
    lead(place, chunk);
  }
  /// Gives a chunk of the class a hint unless it has one. No turn comes to one beyond the
  /// count, and another chunk takes it later.
  WARPHEAP_DEVICE void name_again(std::uint32_t chunk) const {
    const std::uint32_t entry = entry_of(chunk);
    const std::uint32_t all = count().load(simt::order::relaxed);
    if (entry < all && leads_to(entry, chunk)) return;
    // Otherwise it would take the first one's hint.
    if (all >= universe_) return;
    name(extend(1), chunk);
  }

  /// Removes the hint of a chunk that leaves; returns how many are left. \pre the caller alone may
  /// do so
  ///
  /// The last hint takes the place of the chunk's. Lanes agree by the entry of a chunk, which one
  /// of them changes, whether it leaves or is moved first. If the last one leaves, too, the lane
  /// that takes it out puts the next one there, and if the chunk's own hint is being moved, it is
  /// about to arrive: for both, a lane looks a few times. If the other one takes longer, a hint is
  /// spoiled, and another chunk has none: see `drop` and `name_again`. Ends: it never waits until
  /// another lane has done something.
  WARPHEAP_DEVICE std::uint32_t remove(std::uint32_t chunk) const {
    std::uint32_t entry = entry_of(chunk);
    int looks = 0;
    while (!leads_to(entry, chunk) || !change_entry(chunk, entry, universe_)) {
      if (++looks == most_looks) {
        simt::atomic_ref(entries_[chunk]).store(universe_, simt::order::relaxed);
        return count().load(simt::order::relaxed);
      }
      simt::backoff(pause_ns);
      entry = entry_of(chunk);
    }
    // One atomic: when another class needs thousands of these chunks, a compare-exchange that is
    // repeated takes a microsecond for each (docs/decisions/0059).
    const std::uint32_t last = count().fetch_sub(1, simt::order::relaxed) - 1;
    // Should the count of hints be wrong, it stays above zero, but for a moment; and if it is more
    // than there are chunks, it comes down without a hint to move.
    if (last >> 31 != 0) {
      count().fetch_add(1, simt::order::relaxed);
      return 0;
    }
    if (last >= universe_) return last;
    for (looks = 0; entry != last && looks < most_looks; ++looks) {
      if (move(last, entry)) break;
      simt::backoff(pause_ns);
    }
    return last;
  }

  /// Removes a hint if it leads to no chunk of the class; returns whether it does not. It may also
  /// be about to change: so the lane waits for a while, and looks again. Ends: each further try has
  /// lost to a lane that has changed the count, and there are a few.
  WARPHEAP_DEVICE bool drop(std::uint32_t entry) const {
    if (is_right(entry)) return false;
    std::uint32_t seen = count().load(simt::order::relaxed);
    // The last quarter may be yet to be written for chunks that are being added: it is left alone
    // unless nothing changes meanwhile.
    const bool is_settled = entry < seen - seen / 4;
    simt::backoff(settle_ns);
    for (int tries = 0; tries < most_tries && !is_right(entry); ++tries) {
      if (entry >= seen || seen > universe_) return true;
      const std::uint32_t last = seen - 1;
      if (count().compare_exchange(seen, last, simt::order::relaxed)) {
        if (entry != last) move(last, entry);
        return true;
      }
      if (!is_settled) return true;
    }
    return !is_right(entry);
  }
  /// The same for a few hints that are drawn, since a class that has lost many chunks gets others
  /// after that, a few at a time. A collective.
  WARPHEAP_DEVICE void drop_some(const simt::group& team) const {
    const std::uint32_t has = team.broadcast(count().load(simt::order::relaxed));
    if (has == 0 || has > universe_) return;
    const std::uint32_t settled = has - has / 4;
    const std::uint32_t first = team.broadcast(scale_to(simt::rough_noise(), settled));
    const auto rank = static_cast<std::uint32_t>(team.rank());
    if (rank < settled) drop((first + rank) % settled);
    team.sync();
  }

 private:
  /// How often a lane looks for the chunk that takes another one's place, and how long it waits: it
  /// has a chunk in hand, which others miss meanwhile.
  static constexpr int most_looks = 8;
  static constexpr std::uint32_t pause_ns = 500;
  /// How long a hint may differ from its chunk's entry while one is being changed.
  static constexpr std::uint32_t settle_ns = 4000;
  static constexpr int most_tries = 8;

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> count() const {
    return simt::atomic_ref<std::uint32_t>(count_);
  }
  WARPHEAP_DEVICE std::uint32_t entry_of(std::uint32_t chunk) const {
    return simt::atomic_ref(entries_[chunk]).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE bool leads_to(std::uint32_t entry, std::uint32_t chunk) const {
    return entry < universe_ && chunk_at(entry) == chunk;
  }
  WARPHEAP_DEVICE bool is_right(std::uint32_t entry) const {
    return entry_of(chunk_at(entry)) == entry;
  }
  /// Returns whether the entry of a chunk was `from`, and is `to` now.
  WARPHEAP_DEVICE bool change_entry(std::uint32_t chunk, std::uint32_t from,
                                    std::uint32_t to) const {
    return simt::atomic_ref(entries_[chunk]).compare_exchange(from, to, simt::order::relaxed);
  }
  /// Gives the chunk with number `from` the number `to`; returns whether it still had it.
  WARPHEAP_DEVICE bool move(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t chunk = chunk_at(from);
    if (!change_entry(chunk, from, to)) return false;
    lead(to, chunk);
    return true;
  }
  WARPHEAP_DEVICE void lead(std::uint32_t entry, std::uint32_t chunk) const {
    const simt::atomic_ref two(word(entry));
    const std::uint32_t keeps = 0xffffu << (entry % 2 == 0 ? 16 : 0);
    std::uint32_t seen = two.load(simt::order::relaxed);
    // Repeats only when another lane has changed one of the two.
    while (!two.compare_exchange(seen, (seen & keeps) | chunk << entry % 2 * 16,
                                 simt::order::relaxed)) {
    }
  }

  std::uint32_t& count_;
  std::uint32_t* hints_;
  std::uint32_t* entries_;
  std::uint32_t universe_;
};

WARPHEAP_END_NAMESPACE
