// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// Lanes that want the same class at the same time form a group; its leader draws a random word of
/// the class and claims in it for the whole group. That serves nearly all lanes of a heap that is
/// not full. What is left is in a function of its own: another draw for the group; growth of the
/// class, if the heap has plenty; a few words that a lane draws for itself; growth again, if the
/// heap has anything; and a search of the class that groups share.
///
/// How much a class grows is decided without counting who waits. A group that is left over lets the
/// class grow by a chunk with the probability that it would need a whole one: 32 lanes and a chunk
/// of 1024 slots grow once in 32 cases. So a million lanes that come at once make as many chunks as
/// they need, all at the same time. So that a few lanes do not wait for their luck, one group of a
/// class may always do so.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/supply.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call.
template <warpheap_config Config>
class warpheap_slot_search {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;
  using classes = typename supply::classes_type;

  static constexpr std::uint32_t none = supply::none;

  /// A slot; no chunk: there was none.
  struct place {
    std::uint32_t chunk = none;
    std::uint32_t slot = 0;
  };

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), shape_(from.classes().slots(of)) {}

  WARPHEAP_DEVICE std::uint32_t slot_bytes() const { return shape_.bytes; }

  WARPHEAP_DEVICE place take() const {
    // Where the class was a while ago is good enough to begin with.
    const place got = take_together<true>();
    if (got.chunk != none) return got;
    return simt::call_apart(&take_more_apart, supply_.copy(), of_);
  }

 private:
  /// Searches of a class that a lane takes part in while others change the class, or comes too late
  /// for a share of.
  static constexpr int most_searches = 2;
  static constexpr int most_late = 4;
  static constexpr int looks_between = 4;
  /// About as long as growth takes, so that nobody grows when enough is on its way.
  static constexpr std::uint32_t wait_ns = 8000;
  static constexpr int most_ahead = 8;
  static constexpr std::uint32_t many_slots = 1024;
  /// Words that are looked at side by side.
  static constexpr std::uint32_t side_by_side = 4;

  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }

  /// Slots of one word that were claimed.
  struct share {
    std::uint32_t chunk = none;
    std::uint32_t word = 0;
    std::uint64_t bits = 0;
  };
  WARPHEAP_DEVICE place place_of(const share& got, int k) const {
    // Mostly they are in a row.
    int bit = lowest_bit(got.bits) + k;
    if (got.bits >> lowest_bit(got.bits) != low_bits<std::uint64_t>(popcount(got.bits))) {
      bit = kth_set_bit(got.bits, k);
    }
    return {got.chunk, got.word * chunks::word_slots + static_cast<std::uint32_t>(bit)};
  }

  /// Claims up to `want` slots of a word that was seen as `seen`.
  WARPHEAP_DEVICE share claim(std::uint32_t chunk, std::uint32_t word, std::uint64_t seen, int want,
                              int from) const {
    const auto won = supply_.chunks().claim(chunk, word, seen, owner(), shape_, want, from);
    if (won.was_empty) supply_.chunks().count_in(chunk);
    return {chunk, word, won.bits};
  }
  /// Claims up to `want` slots of a random word of the class.
  template <bool Cached>
  WARPHEAP_DEVICE share draw(int want) const {
    std::uint64_t noise = simt::noise();
    std::uint32_t chunk = none;
    if constexpr (Cached) {
      chunk = supply_.classes().draw_hint(of_, static_cast<std::uint32_t>(noise));
    } else {
      chunk = supply_.classes().open(of_).draw(noise);
      noise = mix64(noise);  // `draw` has used all bits
    }
    if (chunk == none) return {};
    if constexpr (!Cached) {
      const auto entry = static_cast<std::uint32_t>(noise);
      supply_.classes().mend_hint(supply_.chunks(), of_, entry, chunk);
    }
    const auto high = static_cast<std::uint32_t>(noise >> 32);
    // Most words are empty when memory is plentiful, and what they are is learnt from the claim.
    return claim(chunk, scale_to(high, shape_.words), chunks::empty_word(owner()), want, 0);
  }

  /// One word for all lanes that call together and want the same class.
  template <bool Cached>
  WARPHEAP_DEVICE place take_together() const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    share got;
    if (same.is_leader()) got = draw<Cached>(same.size());
    // Of the team, and not of each group: groups of several classes go on side by side.
    const int leader = same.leader();
    got.bits = team.shuffle(got.bits, leader);
    got.chunk = team.shuffle(got.chunk, leader);
    got.word = team.shuffle(got.word, leader);
    team.sync();  // what the leader has acquired is the members' as well
    return same.rank() < popcount(got.bits) ? place_of(got, same.rank()) : place{};
  }

  /// Neighbouring words of a chunk, whose loads go side by side.
  struct row {
    std::uint64_t seen[side_by_side];
    std::uint32_t first;
  };
  WARPHEAP_DEVICE row look_at(std::uint32_t chunk, std::uint32_t first) const {
    row found;
    found.first = first;
    for (std::uint32_t i = 0; i < side_by_side; ++i) {
      found.seen[i] = first + i < shape_.words ? supply_.chunks().word(chunk, first + i) : 0;
    }
    return found;
  }
  /// A word with room.
  struct look {
    std::uint64_t seen = 0;
    std::uint32_t word = 0;
    int most = 0;  ///< slots that may be claimed
  };
  WARPHEAP_DEVICE look best_of(const row& found) const {
    look best;
    for (std::uint32_t i = 0; i < side_by_side; ++i) {
      const std::uint32_t word = found.first + i;
      const int room = popcount(chunks::room_in(found.seen[i], owner(), shape_, word));
      if (room > best.most) best = {found.seen[i], word, room};
    }
    return best;
  }
  /// Looks at words of a random chunk, and claims a slot of the best one.
  WARPHEAP_DEVICE place take_alone() const {
    const std::uint64_t noise = simt::noise();
    const std::uint32_t chunk = supply_.classes().open(of_).draw(noise);
    if (chunk == none) return {};
    const auto high = static_cast<std::uint32_t>(mix64(noise) >> 32);
    const std::uint32_t first = scale_to(high, shape_.words) / side_by_side * side_by_side;
    const look best = best_of(look_at(chunk, first));
    if (best.most == 0) return {};
    const int from = static_cast<int>(high % chunks::word_slots);
    const share got = claim(chunk, best.word, best.seen, 1, from);
    return got.bits != 0 ? place_of(got, 0) : place{};
  }

  /// Out of line, for what is seldom needed.
  WARPHEAP_RARE static place take_more_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).take_more();
  }
  WARPHEAP_DEVICE place take_more() const {
    const simt::group team = simt::coalesced().match(of_);
    bool out = false;
    if (team.is_leader()) out = is_out();
    team.sync();
    if (team.any(out)) return {};
    place got = take_together<false>();
    if (got.chunk != none) return got;
    got = grow_ahead();
    for (int i = 0; i < Config.chunks_alone && got.chunk == none; ++i) got = take_alone();
    if (got.chunk == none) got = take_scarce();
    return got;
  }

  /// Lets the class grow before it is full, if there is plenty: by more than one chunk if chunks
  /// have few slots.
  WARPHEAP_DEVICE place grow_ahead() const {
    place got;
    for (int i = 0; i < most_ahead && got.chunk == none; ++i) {
      const simt::group team = simt::coalesced().match(of_);
      bool mine = false;
      if (team.is_leader()) mine = needs_chunk(ahead() * team.size());
      team.sync();
      if (!team.any(mine)) break;
      got = grow(team);
    }
    return got;
  }

  /// How many chunks the class may take for one that it needs. Small slots take little memory, and
  /// are found the faster the emptier their chunks are.
  WARPHEAP_DEVICE int ahead() const {
    const int left = supply_.eighths_left();
    return left == 8 && shape_.count >= many_slots ? 8 : left >= 4 ? 1 : 0;
  }

  /// Ends: each turn grows the class, or waits while another group does, which itself never waits,
  /// or searches, and that a bounded number of times.
  WARPHEAP_DEVICE place take_scarce() const {
    int late = 0;
    bool waited = false;
    for (int searches = 0; searches < most_searches && late < most_late;) {
      const simt::group team = simt::coalesced().match(of_);
      auto next = step::search;
      if (team.is_leader() && supply_.has_chunks()) {
        // What others have begun may be enough.
        next = waited && needs_chunk(team.size()) ? step::grow
               : begin_growth()                   ? step::grow_for_all
                                                  : step::wait;
      }
      team.sync();
      next = static_cast<step>(team.broadcast(static_cast<std::uint32_t>(next)));
      place got;
      if (next == step::search) {
        bool took_part = false;
        got = simt::call_apart(&search_apart, supply_.copy(), of_, team.mask(), &took_part);
        if (got.chunk != none || is_out()) return got;
        ++(took_part ? searches : late);
      } else if (next == step::wait) {
        // Others let the class grow, and never wait.
        simt::backoff(wait_ns);
        waited = true;
      } else {
        got = grow(team);
        if (next == step::grow_for_all && team.is_leader()) end_growth();
        team.sync();
      }
      for (int i = 0; i < looks_between && got.chunk == none; ++i) got = take_alone();
      if (got.chunk != none) return got;
    }
    return {};
  }

  enum class step : std::uint32_t { search, wait, grow, grow_for_all };

  /// True as often as so many lanes need a whole chunk.
  WARPHEAP_DEVICE bool needs_chunk(int lanes) const {
    const auto drawn = static_cast<std::uint32_t>(simt::noise() >> 32);
    return scale_to(drawn, shape_.count) < static_cast<std::uint32_t>(lanes);
  }
  WARPHEAP_DEVICE bool begin_growth() const {
    const simt::atomic_ref growing(supply_.classes().of(of_).growing);
    std::uint32_t nobody = 0;
    return growing.load(simt::order::relaxed) == 0 &&
           growing.compare_exchange(nobody, 1, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_growth() const {
    simt::atomic_ref(supply_.classes().of(of_).growing).store(0, simt::order::relaxed);
  }
  /// Adds a chunk, whose first slots are the team's. A collective.
  WARPHEAP_DEVICE place grow(const simt::group& team) const {
    const std::uint32_t chunk =
        simt::call_apart(&supply::add_chunk, supply_.copy(), of_, team.mask());
    const auto slot = static_cast<std::uint32_t>(team.rank());
    if (chunk == none || slot >= shape_.count) return {};
    return {chunk, slot};
  }

  /// Searches the class's chunks for a slot for each member. A collective.
  WARPHEAP_RARE static place search_apart(const supply& in, std::uint32_t of, simt::lane_mask team,
                                          bool* took_part) {
    return warpheap_slot_search(in, of).search(simt::group(team), *took_part);
  }
  WARPHEAP_DEVICE place search(const simt::group& team, bool& took_part) const {
    place got;
    // Slices of about so many words, if all chunks are open.
    const std::uint64_t words = std::uint64_t{supply_.classes().population(of_)} * shape_.words;
    const std::uint64_t slices = words / Config.words_a_slice + 1;
    const std::uint32_t all = supply_.universe();
    const std::uint32_t each = slices < all ? all / static_cast<std::uint32_t>(slices) : 1;
    supply_.classes().of(of_).full.search(
        team, all, [&] { return got.chunk == none ? 1u : 0u; },
        [&](std::uint32_t first, std::uint32_t count) {
          took_part = true;
          return visit(team, first, count, got) ? 1u : 0u;
        },
        each);
    team.sync();
    return got;
  }

  /// Whether memory certainly was exhausted at a moment of the call: the class had no slot all the
  /// time between the two looks at it, and in between the heap had no chunk for it.
  WARPHEAP_DEVICE bool is_out() const {
    exhaustion& full = supply_.classes().of(of_).full.known().memory();
    const std::uint64_t before = full.known(1);
    return before != 0 && supply_.is_out() && full.known(1) == before;
  }

  /// Examines the open chunks of first..first+count-1 and serves the members from them. Whether
  /// something may be left. A collective.
  WARPHEAP_DEVICE bool visit(const simt::group& team, std::uint32_t first, std::uint32_t count,
                             place& got) const {
    const bitmap_tree open = supply_.classes().open(of_);
    const std::uint32_t last = (first + count - 1) / 64;
    bool left = false;
    for (std::uint32_t done = first / 64; done <= last; done += team.size()) {
      const std::uint32_t word = done + static_cast<std::uint32_t>(team.rank());
      std::uint64_t mine = 0;
      if (word <= last) mine = open.examine_word(word) & bits_of_run(first, count, word);
      for (simt::lane_mask hits = team.ballot(mine != 0); !hits.empty();
           hits = hits.without(hits.lowest())) {
        const std::uint32_t at = team.shuffle(word, hits.lowest());
        for (std::uint64_t bits = team.shuffle(mine, hits.lowest()); bits != 0; bits &= bits - 1) {
          const auto chunk = at * 64 + static_cast<std::uint32_t>(lowest_bit(bits));
          left = !exhausts(team, chunk, got) || left;
          // The rest has not been looked at.
          if (team.all(got.chunk != none)) return true;
        }
      }
    }
    return left;
  }

  /// Serves the members from an open chunk; whether nothing is left in it, and it is not open any
  /// more. A collective.
  WARPHEAP_DEVICE bool exhausts(const simt::group& team, std::uint32_t chunk, place& got) const {
    if (examine(team, chunk, got)) return false;
    if (team.is_leader()) supply_.classes().open(of_).remove(chunk);
    team.sync();
    // What was freed before that in a marked word is seen now.
    if (!examine(team, chunk, got)) return true;
    if (team.is_leader()) supply_.classes().found(of_, chunk);
    team.sync();
    return false;
  }

  /// Examines the words of a chunk, each member others, marks those that are full, and serves the
  /// members from the others. Whether a slot may be left. A collective.
  WARPHEAP_DEVICE bool examine(const simt::group& team, std::uint32_t chunk, place& got) const {
    const chunks& map = supply_.chunks();
    const auto lanes = static_cast<std::uint32_t>(team.size());
    bool left = false;
    simt::fence(simt::order::acq_rel);  // see `mark_full`
    for (std::uint32_t done = 0; done < shape_.words; done += lanes * side_by_side) {
      const row found =
          look_at(chunk, done + static_cast<std::uint32_t>(team.rank()) * side_by_side);
      for (std::uint32_t i = 0; i < side_by_side; ++i) {
        // What is not the class's has no room.
        left = left || (chunks::is_of(found.seen[i], owner()) &&
                        !map.mark_full(chunk, found.first + i, found.seen[i], owner(), shape_));
      }
      serve(team, chunk, best_of(found), got);
      if (team.all(got.chunk != none)) return true;
    }
    return team.any(left);
  }

  /// Serves members from the words of those that have found room. A collective.
  WARPHEAP_DEVICE void serve(const simt::group& team, std::uint32_t chunk, const look& found,
                             place& got) const {
    for (simt::lane_mask finders = team.ballot(found.most != 0); !finders.empty();
         finders = finders.without(finders.lowest())) {
      const simt::lane_mask hungry = team.ballot(got.chunk == none);
      if (hungry.empty()) return;
      share won;
      if (simt::lane_id() == finders.lowest()) {
        const int from = static_cast<int>(simt::noise() % chunks::word_slots);
        won = claim(chunk, found.word, found.seen, hungry.count(), from);
      }
      won.bits = team.shuffle(won.bits, finders.lowest());
      won.word = team.shuffle(won.word, finders.lowest());
      won.chunk = chunk;
      team.sync();  // what the finder has acquired is the members' as well
      const int turn = hungry.below(simt::lane_id()).count();
      if (got.chunk == none && turn < popcount(won.bits)) got = place_of(won, turn);
    }
  }

  const supply& supply_;
  std::uint32_t of_;
  warpheap_slots shape_;
};

WARPHEAP_END_NAMESPACE
