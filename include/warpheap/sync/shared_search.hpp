// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What rounds of searches find: the best of each round, as a number of which more is better, and
/// `Memory`, which learns from it what is exhausted. Its words are accessed relaxed, because
/// `shared_search` orders them.
///
/// \tparam Memory like `exhaustion`
template <class Memory, class Word>
class best_of_rounds {
 public:
  WARPHEAP_DEVICE Memory& memory() { return memory_; }

  WARPHEAP_DEVICE void begin_round() {
    simt::atomic_ref(token_).store(memory_.announce().epoch, simt::order::relaxed);
    simt::atomic_ref(best_).store(0, simt::order::relaxed);
  }
  /// The best of the latest round so far.
  WARPHEAP_DEVICE Word best() { return simt::atomic_ref(best_).load(simt::order::relaxed); }
  /// That of the last round to end.
  WARPHEAP_DEVICE Word left() { return simt::atomic_ref(left_).load(simt::order::relaxed); }

 protected:
  /// \param left what `left` returns before the first round has ended
  template <class... Parts>
  WARPHEAP_DEVICE void format(Word left, const Parts&... parts) {
    memory_.format(parts...);
    token_ = 0;
    best_ = 0;
    left_ = left;
  }
  WARPHEAP_DEVICE void raise(Word found) {
    simt::atomic_ref(best_).fetch_max(found, simt::order::relaxed);
  }
  /// For `Memory::confirm`.
  WARPHEAP_DEVICE typename Memory::token announced() {
    return {simt::atomic_ref(token_).load(simt::order::relaxed)};
  }
  WARPHEAP_DEVICE void leave(Word best) {
    simt::atomic_ref(left_).store(best, simt::order::relaxed);
  }

 private:
  Memory memory_;
  std::uint64_t token_;
  Word best_;
  Word left_;
};

/// The longest run that is left. `left` is that of the last round to end, confirmed or not; without
/// a round, more than any caller wants.
template <class Memory>
class longest_runs : public best_of_rounds<Memory, std::uint32_t> {
 public:
  template <class... Parts>
  WARPHEAP_DEVICE void format(const Parts&... parts) {
    best_of_rounds<Memory, std::uint32_t>::format(~0u, parts...);
  }
  WARPHEAP_DEVICE void note(std::uint32_t left) {
    if (left != 0) this->raise(left);
  }
  WARPHEAP_DEVICE void end_round() {
    const std::uint32_t longest = this->best();
    this->leave(longest);
    this->memory().confirm(this->announced(), longest + 1);
  }
};

/// A search of all places of a heap, shared by the groups that found nothing by other means. It is
/// cut into slices, each of which one group examines. So a million requests that cannot be served
/// cost a few searches, and not one each.
///
/// A round is announced to `Known` and examined slice by slice. The last group to finish confirms
/// it with what was left. If nothing was freed meanwhile, it holds for every request that nothing
/// left would satisfy. Groups take what they want from the slices that they examine themselves.
/// Groups that come when all slices are taken wait for the end of the round: since it ends during
/// their call, its result is as good for them.
///
/// One word: [ round: 24 bits | idle: 1 | opening: 1 | slices: 17 | next slice: 21 ]. When a group
/// has drawn a slice by adding one to `next slice`, the round cannot end before that slice is done,
/// so what the opener wrote for the round stays unchanged until then.
///
/// Orders: the opener's release pairs with the acquire of those that get a slice, so they examine
/// it after the announcement. The groups' additions to `finished_` acquire and release: the last
/// one sees all that was left. Its release at the end pairs with the acquire of those that wait.
///
/// Progress: a group that opens a round, or has a slice, does not wait for others before it is done
/// (`visit` may wait for lanes that never wait themselves). So each round ends, and with it each
/// wait. A caller gives up after `MostRounds`, in each of which others freed or took something.
///
/// \tparam LeastSlice the least places of a slice, unless the caller says otherwise
/// \tparam Known what is known to be exhausted, and how searches learn it, like `longest_runs`
/// \tparam MostRounds rounds after which a caller gives up
template <std::uint32_t LeastSlice = 128, class Known = longest_runs<exhaustion>,
          int MostRounds = 64>
class shared_search {
 public:
  /// \param parts for `Known::format`
  template <class... Parts>
  WARPHEAP_DEVICE void format(const Parts&... parts) {
    known_.format(parts...);
    turn_ = idle;
    finished_ = 0;
    each_ = 0;
  }

  WARPHEAP_DEVICE Known& known() { return known_; }
  WARPHEAP_DEVICE bool is_out(std::uint32_t units) { return known_.memory().is_out(units); }
  /// See `exhaustion::released`.
  WARPHEAP_DEVICE void released() { known_.memory().released(); }

  /// Searches until each member has what it wants, or the memory is known to be exhausted for it.
  ///
  /// \param places the number of places, at least one, the same in all calls
  /// \param wanted `std::uint32_t ()`: units that the caller still wants; 0 once it is served
  /// \param visit `(first, count)`, a collective of `team`: examines these places as `Known`
  ///   requires and takes what members want. Returns what the calling lane saw and left; for
  ///   `longest_runs`, the longest run
  /// \param least the least places of a slice
  template <class Wanted, class Visit>
  WARPHEAP_DEVICE void search(const simt::group& team, std::uint32_t places, const Wanted& wanted,
                              const Visit& visit, std::uint32_t least = LeastSlice) {
    const auto unserved = [&] { return team.any(wanted() != 0 && !is_out(wanted())); };
    const std::uint32_t most = ceil_div(places, most_slices);
    const shape wished{places, least > most ? least : most};
    for (int rounds = 0; rounds < MostRounds && unserved(); ++rounds) {
      slice mine = next_slice(team, wished);
      bool ended = false;
      while (!ended && mine.count != 0) {
        ended = examined(visit(mine.first, mine.count), team, mine.of);
        if (!unserved()) return;
        if (!ended) mine = next_slice(team, wished);
      }
      // The lanes that spoilt the round get a turn before the next one.
      if (team.is_leader()) ended ? simt::backoff(pause) : wait_for(mine.round);
      team.sync();
    }
  }

 private:
  static constexpr int next_bits = 21;
  static constexpr std::uint64_t next_mask = (std::uint64_t{1} << next_bits) - 1;
  static constexpr int slices_bits = 17;
  static constexpr std::uint64_t opening = std::uint64_t{1} << (next_bits + slices_bits);
  static constexpr std::uint64_t idle = opening << 1;
  static constexpr int round_shift = next_bits + slices_bits + 2;
  static constexpr std::uint32_t most_slices = 1u << 16;
  static constexpr std::uint32_t pause = 200;  // nanoseconds, as those that follow
  static constexpr std::uint32_t first_pause = 1000;
  static constexpr std::uint32_t longest_pause = 32000;

  /// How places are cut into slices.
  struct shape {
    std::uint32_t places;
    std::uint32_t each;  ///< places of a slice
  };
  struct slice {
    std::uint32_t first;  ///< place
    std::uint32_t count;  ///< of places; 0: all slices are taken
    std::uint32_t round;
    std::uint32_t of;  ///< slices of the round
  };

  WARPHEAP_HD static constexpr std::uint32_t round_of(std::uint64_t turn) {
    return static_cast<std::uint32_t>(turn >> round_shift);
  }
  WARPHEAP_HD static constexpr std::uint32_t next_of(std::uint64_t turn) {
    return static_cast<std::uint32_t>(turn & next_mask);
  }
  WARPHEAP_HD static constexpr std::uint32_t slices_of(std::uint64_t turn) {
    return static_cast<std::uint32_t>(turn >> next_bits) & ((1u << slices_bits) - 1);
  }
  WARPHEAP_HD static constexpr std::uint64_t round_bits(std::uint64_t round) {
    return round << round_shift;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> turn() { return simt::atomic_ref(turn_); }

  /// A slice of the current round, or of one that the group opens.
  WARPHEAP_DEVICE slice next_slice(const simt::group& team, const shape& wished) {
    std::uint64_t got = 0;
    std::uint32_t each = 0;
    if (team.is_leader()) {
      got = take_slice(wished);
      // Relaxed: the opener released this before the slice that the caller has.
      each = simt::atomic_ref(each_).load(simt::order::relaxed);
    }
    // A broadcast orders nothing; this orders the members after what the leader has acquired.
    team.sync();
    got = team.broadcast(got);
    each = team.broadcast(each);
    slice mine{0, 0, round_of(got), slices_of(got)};
    if (next_of(got) >= mine.of) return mine;
    mine.first = next_of(got) * each;
    mine.count = wished.places - mine.first < each ? wished.places - mine.first : each;
    return mine;
  }

  /// Ends, because the lane that opens a round never waits, so it may belong to the caller's own
  /// warp; and a caller misses a round only because others have opened and ended it.
  WARPHEAP_DEVICE std::uint64_t take_slice(const shape& wished) {
    for (;;) {
      std::uint64_t now = turn().load(simt::order::acquire);
      if ((now & opening) != 0) {
        simt::backoff(pause);
      } else if ((now & idle) != 0) {
        const std::uint64_t round = round_of(now);
        if (turn().compare_exchange(now, round_bits(round) | opening, simt::order::acquire)) {
          return open(round + 1, wished);
        }
      } else {
        if (next_of(now) >= slices_of(now)) return now;
        // Additions after the end of the round are overwritten when the next one opens.
        now = turn().fetch_add(1, simt::order::acquire);
        if ((now & (idle | opening)) == 0) return now;
      }
    }
  }

  /// Opens a round, whose first slice is the caller's.
  WARPHEAP_DEVICE std::uint64_t open(std::uint64_t round, const shape& wished) {
    known_.begin_round();
    const std::uint64_t slices = ceil_div(wished.places, wished.each);
    // Relaxed: the release below orders them, and no lane reads them before it.
    simt::atomic_ref(each_).store(wished.each, simt::order::relaxed);
    simt::atomic_ref(finished_).store(0, simt::order::relaxed);
    turn().store(round_bits(round) | slices << next_bits | 1, simt::order::release);
    return round_bits(round) | slices << next_bits;
  }

  /// Ends a slice. The last one of a round ends the round; returns whether this was it.
  template <class Left>
  WARPHEAP_DEVICE bool examined(const Left& left, const simt::group& team, std::uint32_t slices) {
    // Released by the leader's addition, after the members have met.
    known_.note(left);
    team.sync();
    bool ended = false;
    if (team.is_leader() &&
        simt::atomic_ref(finished_).fetch_add(1, simt::order::acq_rel) + 1 == slices) {
      known_.end_round();
      const std::uint64_t round = round_of(turn().load(simt::order::relaxed));
      turn().store(round_bits(round) | idle, simt::order::release);
      ended = true;
    }
    team.sync();
    return team.any(ended);
  }

  /// Waits for the end of a round. The round ends: every slice is taken, and the groups that have
  /// them do not wait for the caller's, even if they are lanes of its own warp. Looks less and less
  /// often, because thousands of looks slow down the atomics of the lanes that it waits for.
  WARPHEAP_DEVICE void wait_for(std::uint32_t round) {
    for (std::uint32_t nanoseconds = first_pause;; nanoseconds *= 2) {
      const std::uint64_t now = turn().load(simt::order::acquire);
      if (round_of(now) != round || (now & (idle | opening)) != 0) return;
      if (nanoseconds > longest_pause) nanoseconds = longest_pause;
      simt::backoff(nanoseconds);
    }
  }

  Known known_;
  std::uint64_t turn_;
  std::uint32_t each_;
  std::uint32_t finished_;
};

WARPHEAP_END_NAMESPACE
