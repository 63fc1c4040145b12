// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunk_moves.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/slot_claims.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How a class of the manager `warpheap` gets chunks. Exists for one call.
///
/// How much a class grows is decided without counting waiting lanes. A group that was not served
/// lets the class grow by a chunk, or by a few together, with the probability that it would need
/// all of their slots: 32 lanes and a chunk of 1024 slots grow once in 32 cases. So a million lanes
/// that arrive at once make as many chunks as they need, all at the same time. So that a few lanes
/// do not depend on luck, one group of a class may always grow it. A class that has much of the
/// heap counts what it needs instead (ordered_words.hpp).
template <warpheap_config Config>
class warpheap_class_growth {
 public:
  using supply = warpheap_supply<Config>;
  using slot_claims = warpheap_slot_claims<Config>;
  using chunks = typename slot_claims::chunks;
  using spot = typename slot_claims::spot;
  using claims = typename chunks::claims;
  using place = typename slot_claims::place;
  using moves = warpheap_chunk_moves<Config>;

  static constexpr std::uint32_t none = supply::none;
  /// Up to which look of a request each may clear twice as many words of the empties as the one
  /// before: a lane alone needs a millisecond for those of this one, while others look where blocks
  /// were freed. The looks of a request are enough for all words of the largest heap.
  static constexpr int most_doubled_look = 7;
  /// How many words a look may clear.
  WARPHEAP_HD static constexpr std::uint32_t words_at_look(int look) {
    return moves::words_at_look(look < most_doubled_look ? look : most_doubled_look);
  }

  WARPHEAP_DEVICE warpheap_class_growth(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), words_(from, of) {}

  /// What a group without slots does about chunks.
  enum class step : std::uint32_t {
    none_left,     ///< there is none to take
    grow,          ///< takes one, since it may need a whole chunk
    grow_for_all,  ///< takes one for other lanes as well
    wait           ///< for a group that does
  };
  /// What the lanes of the caller's class do, as if they were 2^`doubled` times as many. A
  /// collective of those that call together, for any classes.
  WARPHEAP_DEVICE step choose(int doubled) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const simt::group same = team.match(of_);
    auto next = step::wait;
    team.sync();  // what a member knows to be free is no less so for the leader
    if (same.is_leader()) next = choose_for(same.size(), doubled);
    team.sync();
    return static_cast<step>(team.shuffle(static_cast<std::uint32_t>(next), same.leader()));
  }
  /// Takes a chunk if that is the step which was chosen for the class; a collective of those that
  /// call together, for any classes. \param how becomes `none_left` if others have taken the chunks
  /// \param look the number of the look that the request makes
  WARPHEAP_DEVICE place grow(step& how, int look) const {
    const bool for_all = how == step::grow_for_all;
    if (how != step::grow && !for_all) return {};
    const simt::group same = simt::coalesced(&supply_.whole()).match(of_ * 2 + (for_all ? 1u : 0u));
    const added came = simt::call_apart(&grow_apart, supply_, of_, same.mask(), for_all, look);
    if (!came.chunk) how = step::none_left;
    return came.got;
  }

  /// Adds chunks; returns a slot if there are any for the caller. A collective. \param count the
  /// leader has announced them (`warpheap_class_orders::announce`) \param grown whether chunks came
  WARPHEAP_DEVICE place add_chunks(const simt::group& team, std::uint32_t count,
                                   bool& grown) const {
    auto how = moves::source::own;
    const std::uint32_t chunk = simt::call_apart(&moves::add, supply_, of_, team.mask(),
                                                 {count, false, words_at_look(0)}, &how);
    if (team.is_leader()) supply_.orders().arrived(of_, count);
    team.sync();
    grown = chunk != none && how != moves::source::own;
    return chunk == none ? place{} : slot_of(team, chunk, how);
  }

  /// Lets the class grow before it is full, if there is plenty of memory; if it has no chunk, one
  /// group lets it have the first. A collective of those that call together, for any classes.
  /// \param from_others whether what others have left counts
  WARPHEAP_DEVICE place grow_ahead(bool from_others) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const simt::group same = team.match(of_);
    auto next = step::wait;
    if (same.is_leader()) {
      const int left = from_others ? plenty() : supply_.eighths_in_pool();
      // A class that gets no chunk before others have taken all suffers most: no lane offers slots
      // of it, so its requests are the last ones to be refused (docs/decisions/0064).
      if (takes_chunks(ahead(left) * same.size())) {
        next = step::grow;
      } else if (lacks_chunks() && supply_.seems_to_have_chunks() && begin_first_growth()) {
        next = step::grow_for_all;
      }
    }
    team.sync();
    next = static_cast<step>(team.shuffle(static_cast<std::uint32_t>(next), same.leader()));
    const place got = grow(next, 0);
    team.sync();
    return got;
  }

 private:
  static constexpr std::uint32_t many_slots = 1024;

  struct added {
    place got;           ///< a slot for the caller
    bool chunk = false;  ///< whether there was a chunk
  };

  WARPHEAP_DEVICE step choose_for(int lanes, int doubled) const {
    if (!supply_.has_chunks()) {
      supply_.whole().set_dry(true);
      return step::none_left;
    }
    // When chunks are scarce, the growth that others have begun may be enough.
    if ((doubled != 0 || ahead(plenty()) != 0) && takes_chunks(lanes << doubled)) {
      return step::grow;
    }
    return begin_growth() ? step::grow_for_all : step::wait;
  }
  /// How many chunks the class may take for each one that it needs before it is full: none if less
  /// than `left` = an eighth of the heap is left for it. Lanes that find nothing in full words cost
  /// more than a chunk (docs/decisions/0048). While most of the heap is there, more than it needs:
  /// slots are found at once if words are not full, and small ones take little memory.
  WARPHEAP_DEVICE int ahead(int left) const {
    if (left >= 8 && words_.shape().count >= many_slots) return 8;
    if (left >= 4) return 2;
    return left >= 1 ? 1 : 0;
  }
  /// How much of the heap is there for a class that grows by chance, in eighths: what is in the
  /// pool, or what others have left. A class that has just what it needs is slow: lanes come to
  /// full words (docs/decisions/0059).
  WARPHEAP_DEVICE int plenty() const {
    const int pool = supply_.eighths_in_pool();
    return pool >= 1 ? pool : supply_.parts_left(of_) / 8;
  }
  /// True with the probability that this many lanes need all slots of the chunks that the class
  /// would get.
  WARPHEAP_DEVICE bool takes_chunks(int lanes) const {
    const auto drawn = static_cast<std::uint32_t>(simt::noise() >> 32);
    const std::uint32_t at_once =
        supply_.chunks_at_once(words_.shape().count, supply_.eighths_in_pool());
    return scale_to(drawn, words_.shape().count * at_once) < static_cast<std::uint32_t>(lanes);
  }
  /// Looks twice, since a multiprocessor may remember the class without its first chunk for long.
  WARPHEAP_DEVICE bool lacks_chunks() const {
    return simt::load_hint(population()) == 0 && has_no_chunk();
  }
  WARPHEAP_DEVICE bool has_no_chunk() const {
    return simt::atomic_ref(population()).load(simt::order::relaxed) == 0;
  }
  WARPHEAP_DEVICE std::uint32_t& population() const {
    return supply_.classes().of(of_).turns.population;
  }
  /// Whether the caller is to let the class have its first chunk. It may have come since the last
  /// look, from a group whose growth has ended.
  WARPHEAP_DEVICE bool begin_first_growth() const {
    if (!begin_growth()) return false;
    const bool is_first = has_no_chunk();
    if (!is_first) end_growth();
    return is_first;
  }
  WARPHEAP_DEVICE bool begin_growth() const {
    const simt::atomic_ref growing(supply_.classes().of(of_).turns.growing);
    std::uint32_t nobody = 0;
    return growing.load(simt::order::relaxed) == 0 &&
           growing.compare_exchange(nobody, 1, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_growth() const {
    simt::atomic_ref(supply_.classes().of(of_).turns.growing).store(0, simt::order::relaxed);
  }
  /// Adds a chunk, whose first word is the team's; or if the class has an empty one, the team takes
  /// what it finds there. A collective.
  WARPHEAP_RARE static added grow_apart(const supply& from, std::uint32_t of, simt::lane_mask team,
                                        bool for_all, int look) {
    return warpheap_class_growth(from, of).add_chunk(simt::group(team), for_all, look);
  }
  WARPHEAP_DEVICE added add_chunk(const simt::group& team, bool for_all, int look) const {
    auto how = moves::source::own;
    std::uint32_t count = 1;
    if (team.is_leader()) {
      count = supply_.chunks_at_once(words_.shape().count, supply_.eighths_in_pool());
      supply_.orders().announce(of_, count);
    }
    const std::uint32_t chunk = simt::call_apart(&moves::add, supply_, of_, team.mask(),
                                                 {count, true, words_at_look(look)}, &how);
    if (team.is_leader()) {
      supply_.orders().arrived(of_, count);
      if (for_all) end_growth();
    }
    team.sync();
    if (chunk == none) return {};
    return {slot_of(team, chunk, how), true};
  }
  /// The caller's slot of a chunk that came to the class like that. A collective.
  WARPHEAP_DEVICE place slot_of(const simt::group& team, std::uint32_t chunk,
                                typename moves::source how) const {
    if (how == moves::source::for_all) return {};
    if (how == moves::source::for_team) {
      const auto slot = static_cast<std::uint32_t>(team.rank());
      return slot < words_.shape().per_word ? place{chunk, slot} : place{};
    }
    const spot at{chunk, 0};
    std::uint64_t bits = 0;
    // Including marked words: their slots are on offer, to lanes that may be slow. A slot that is
    // taken without its offer leaves a surplus offer, which leads to nothing.
    if (team.is_leader()) {
      bits = words_.claim(at, chunks::empty_word(words_.owner()),
                          {.want = team.size(), .which = claims::offered});
    }
    return words_.share(team, team, at, bits);
  }

  const supply& supply_;
  std::uint32_t of_;
  slot_claims words_;
};

WARPHEAP_END_NAMESPACE
