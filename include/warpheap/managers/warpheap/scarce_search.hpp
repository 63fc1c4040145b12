// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/class_exhaustion.hpp"
#include "warpheap/managers/warpheap/class_growth.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/slot_claims.hpp"
#include "warpheap/managers/warpheap/word_marks.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How the manager `warpheap` finds a slot of a class when few are left: among those that are on
/// offer, and in listed words. Exists for one call.
template <warpheap_config Config>
class warpheap_scarce_search {
 public:
  using supply = warpheap_supply<Config>;
  using slot_claims = warpheap_slot_claims<Config>;
  using class_exhaustion = warpheap_class_exhaustion<Config>;
  using class_growth = warpheap_class_growth<Config>;
  using word_marks = warpheap_word_marks<Config>;
  using moves = typename class_growth::moves;
  using chunks = typename slot_claims::chunks;
  using spot = typename slot_claims::spot;
  using claims = typename chunks::claims;
  using place = typename slot_claims::place;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE warpheap_scarce_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), words_(from, of) {}

  struct outcome {
    place got;
    bool is_open = false;    ///< without a slot, whether the request must look further
    std::uint32_t made = 0;  ///< `warpheap_offers::made` before the look for offers
  };
  /// A slot for each lane of a part of a warp, in a heap that seems dry. Short code for lanes that
  /// free and allocate at different times, and so seldom come together: most of their time, they
  /// would wait for instructions (docs/decisions/0024). Bounded. A collective of those that call
  /// together, for any classes.
  WARPHEAP_DEVICE outcome take() const {
    const simt::group team = simt::coalesced(&supply_.whole());
    outcome came;
    place& got = came.got;
    if (!words_.is_tight()) got = words_.take_lone(words_.lone_turn());
    team.sync();
    if (got.chunk == none) {
      came.made = supply_.offers().made(of_);
      got = take_offer();
    }
    team.sync();
    if (got.chunk == none && may_search()) got = search_listed(Config.short_visits, false);
    team.sync();
    if (got.chunk == none) came = conclude(came.made);
    team.sync();
    return came;
  }

  /// Takes a slot that is on offer. Offers may lead to nothing, if other lanes found the slots in a
  /// word that has lost its mark; a lane tries only some of these, unless it must be `thorough`:
  /// then as many as there can be at a time, however many others make meanwhile.
  WARPHEAP_DEVICE place take_offered(bool thorough) const {
    if (supply_.offers().seem_gone(of_)) return {};
    const int most = thorough ? supply_.offers().most(of_) : Config.most_stale;
    for (int stale = 0; stale < most; ++stale) {
      const std::uint32_t word = supply_.offers().take(of_);
      if (word == warpheap_offers::none) return {};
      const place got = claim_offered(word);
      if (got.chunk != none) return got;
    }
    return {};
  }

  /// Takes a slot of a listed word, unless enough others are trying: a word that is listed near the
  /// end of memory would draw thousands of lanes, and serve a few. A collective of those that call
  /// together, for any classes. \param thorough whether it makes as many visits as all
  /// words need that are listed when it begins, and a few more
  WARPHEAP_DEVICE place take_listed(bool thorough) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const simt::group same = team.match(of_);
    // Lanes are not counted while most words have room.
    const bool counts = same.is_leader() && words_.is_tight();
    int may = same.size();
    if (counts) {
      may =
          supply_.classes().begin_search(of_, may, words_.shape().per_word, Config.least_searching);
    }
    team.sync();
    const auto granted =
        static_cast<int>(team.shuffle(static_cast<std::uint32_t>(may), same.leader()));
    place got;
    if (same.rank() < granted) {
      got = search_listed(thorough ? enough_visits() : Config.most_visits, thorough);
    }
    team.sync();
    if (counts && granted != 0) supply_.classes().end_search(of_, granted);
    team.sync();
    return got;
  }

 private:
  using step = typename class_growth::step;
  /// How often a lane waits for an offer, and how long at first; then twice as long each time.
  static constexpr int most_waits = 4;
  /// How many visits a lane adds to those that all words need, for what leads nowhere.
  static constexpr std::uint32_t more_visits = Config.lenient_visits + 16;
  static constexpr std::uint32_t pause_ns = 2000;

  /// A search ends after a few visits that are `lost`, and goes on after one that is `in_vain`.
  enum class visited : std::uint32_t { served, in_vain, lost, nothing };
  /// The outcome of a visit to a listed word.
  struct sight {
    visited came = visited::nothing;
    place got;
  };

  WARPHEAP_DEVICE bool may_search() const {
    return supply_.classes().may_search(of_, words_.shape(), simt::rough_noise());
  }
  /// As many as all words need that may be listed now. Words that others list meanwhile, as fast as
  /// the lane marks them, do not count.
  WARPHEAP_DEVICE int enough_visits() const {
    return static_cast<int>(supply_.classes().unmarked_words(of_) + more_visits);
  }
  WARPHEAP_DEVICE place take_offer() const {
    const std::uint32_t word = supply_.offers().take(of_);
    return word == warpheap_offers::none ? place{} : claim_offered(word);
  }
  /// For lanes that have not found a slot. A request is over without one if there is no chunk and
  /// others have offered slots of the class since `before`, for others that took them; or if memory
  /// is exhausted. A collective of those that call together, for any classes.
  WARPHEAP_DEVICE outcome conclude(std::uint32_t before) const {
    if (supply_.seems_to_have_chunks() || !supply_.offers().has_made(of_, before)) {
      return simt::call_apart(&seek_apart, before, of_, supply_);
    }
    return {};
  }
  WARPHEAP_RARE static outcome seek_apart(std::uint32_t before, std::uint32_t of,
                                          const supply& from) {
    return warpheap_scarce_search(from, of).seek(before);
  }
  WARPHEAP_DEVICE outcome seek(std::uint32_t before) const {
    outcome came;
    if (supply_.seems_to_have_chunks()) came = take_chunk();
    if (came.got.chunk == none && !came.is_open) came = wait(before);
    came.made = before;
    return came;
  }
  /// A slot of a new chunk; open if other lanes let the class grow. A collective as well.
  WARPHEAP_DEVICE outcome take_chunk() const {
    const class_growth growth(supply_, of_);
    auto next = growth.choose(Config.scarce_doubled);
    outcome came;
    came.got = growth.grow(next, moves::first_of_part);
    // A look that ended at its bound has not seen that there is none.
    const bool saw_all = next == step::none_left && !supply_.seems_to_have_chunks();
    came.is_open = came.got.chunk == none && !saw_all;
    return came;
  }
  /// An offer that is made soon, for a class that is seldom used. Waits for a bounded time, which
  /// costs less than a search: lanes that wait issue no instructions. Open if there was no offer.
  WARPHEAP_DEVICE outcome wait(std::uint32_t before) const {
    outcome came;
    if (supply_.offers().has_made(of_, before)) return came;
    if (class_exhaustion(supply_, of_).seems_out()) return came;
    came.is_open = true;
    for (int waits = 0; came.is_open && waits < most_waits; ++waits) {
      simt::backoff(pause_ns << waits);
      came.is_open = !supply_.offers().has_made(of_, before);
    }
    if (!came.is_open) came.got = take_offer();
    return came;
  }

  WARPHEAP_DEVICE place claim_offered(std::uint32_t word) const {
    const std::uint32_t stride = supply_.chunks().stride();
    const spot at{word / stride, word % stride};
    const std::uint64_t seen = supply_.chunks().word(at.chunk, at.word);
    const std::uint64_t bits = words_.claim(at, seen, {.which = claims::offered});
    return bits == 0 ? place{} : words_.only_place_of(at, bits);
  }

  /// Takes a slot of a listed word for the caller alone, so the lanes of a warp look at many places
  /// at once. Ends: it makes at most so many visits, of which few may be lost, as each is but those
  /// that come to a full word first, mark one, or take a chunk out of the set. With
  /// `enough_visits`, a few remaining lanes may mark all words of a large class, which takes
  /// milliseconds. \param thorough whether the lane must find what there is
  WARPHEAP_DEVICE place search_listed(int most, bool thorough) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    place got;
    int lost = 0;
    bool going = true;
    // The lanes of a team make their visits together.
    for (int visits = 0; team.any(going); ++visits) {
      if (!going) continue;
      // While most words have room, marks are not worth what they cost lanes that free.
      const sight seen =
          simt::call_apart(&visit_apart, supply_, of_, visits >= Config.lenient_visits, thorough);
      got = seen.got;
      if (seen.came == visited::lost) ++lost;
      going = (seen.came == visited::in_vain || seen.came == visited::lost) &&
              lost < Config.most_lost && visits + 1 < most;
    }
    return got;
  }
  WARPHEAP_RARE static sight visit_apart(const supply& from, std::uint32_t of, bool marks,
                                         bool thorough) {
    return warpheap_scarce_search(from, of).visit(marks, thorough);
  }
  /// Takes a slot of a listed word that it draws, or ensures that the word is not drawn again.
  WARPHEAP_DEVICE sight visit(bool marks, bool thorough) const {
    const std::uint64_t noise = simt::noise();
    spot at{supply_.classes().open(of_).draw(noise), 0};
    if (at.chunk == none) return {};
    const std::uint64_t more = mix64(noise);
    at.word = supply_.listed().draw(at.chunk, more);
    if (at.word == warpheap_listed_words::none) {
      // The lane that took its last word from the list takes the chunk out of the set. If that lane
      // saw an older state, a later visitor does it: not by the bits that have drawn the chunk,
      // which would never select some chunks. A lane that must find what there is leaves none
      // there: it would draw them again and again.
      const bool forgets = thorough || more >> 60 == 0;
      const bool forgot = forgets && simt::call_apart(&word_marks::forget, supply_, of_, at.chunk);
      return {forgot ? visited::in_vain : visited::lost, {}};
    }
    const std::uint64_t seen = supply_.chunks().word(at.chunk, at.word);
    // Its leading bits have drawn neither the chunk nor the word.
    const auto from = static_cast<int>(
        scale_to(static_cast<std::uint32_t>(noise >> 26), words_.shape().per_word));
    const std::uint64_t bits = words_.claim(at, seen, {.from = from});
    if (bits != 0) return {visited::served, words_.only_place_of(at, bits)};
    if (!marks) return {visited::in_vain, {}};
    const bool retired = simt::call_apart(&word_marks::retire, supply_, of_, at.chunk, at.word);
    return {retired ? visited::in_vain : visited::lost, {}};
  }

  const supply& supply_;
  std::uint32_t of_;
  slot_claims words_;
};

WARPHEAP_END_NAMESPACE
