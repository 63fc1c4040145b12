// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What rounds of searches tell `Memory`: the longest run that was left. Its words are accessed
/// relaxed: `shared_search` orders them.
///
/// \tparam Memory as `exhaustion`
template <class Memory>
class longest_runs {
 public:
  template <class... Parts>
  WARPHEAP_DEVICE void format(const Parts&... parts) {
    memory_.format(parts...);
    token_ = 0;
    longest_ = 0;
  }

  WARPHEAP_DEVICE Memory& memory() { return memory_; }

  WARPHEAP_DEVICE void begin_round() {
    simt::atomic_ref(token_).store(memory_.announce().epoch, simt::order::relaxed);
    simt::atomic_ref(longest_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(std::uint32_t left) {
    if (left != 0) simt::atomic_ref(longest_).fetch_max(left, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_round() {
    const std::uint32_t longest = simt::atomic_ref(longest_).load(simt::order::relaxed);
    memory_.confirm({simt::atomic_ref(token_).load(simt::order::relaxed)}, longest + 1);
  }

 private:
  Memory memory_;
  std::uint64_t token_;
  std::uint32_t longest_;
};

/// A search of all places of a heap that the groups which found nothing by other means make
/// together: it is cut into slices, each of which one group examines. So a million requests that
/// cannot be served cost a few searches and not one each.
///
/// A round is announced to `Known`, examined slice by slice, and confirmed by the last group to
/// finish with what was left; it holds for all that nothing of it suits, if nothing was freed
/// meanwhile. Groups take what they want from the slices that they examine themselves. Those
/// that come when all slices are taken wait for the end of the round, for what it says is as good
/// for them: it ends within their call.
///
/// One word: [ round: 32 bits | idle: 1 | opening: 1 | next slice: 30 ]. Of a group that adds one
/// to the next slice the round cannot end before that slice is done, so what the opener has written
/// for the round stays as it is until then.
///
/// Orders: the opener's release pairs with the acquire of those that get a slice, so they examine
/// after the announcement. The groups' additions to `finished_` are acquire and release: the last
/// one sees all that was left. Its release at the end pairs with the acquire of those that wait.
///
/// Progress: a group that opens a round, or has a slice, does not wait for others before that is
/// done (`visit` may wait for lanes that themselves never wait). So each round ends, and with it
/// each wait. A caller gives up after `most_rounds`, in each of which others freed or took
/// something.
///
/// \tparam LeastSlice places of a slice, at least
/// \tparam Known what is known to be exhausted, and how searches learn it: as `longest_runs`
template <std::uint32_t LeastSlice = 128, class Known = longest_runs<exhaustion>>
class shared_search {
 public:
  /// \param parts for `Known::format`
  template <class... Parts>
  WARPHEAP_DEVICE void format(const Parts&... parts) {
    known_.format(parts...);
    turn_ = idle;
    finished_ = 0;
  }

  WARPHEAP_DEVICE Known& known() { return known_; }
  WARPHEAP_DEVICE bool is_out(std::uint32_t units) { return known_.memory().is_out(units); }
  /// See `exhaustion::released`.
  WARPHEAP_DEVICE void released() { known_.memory().released(); }

  /// Searches until each member has what it wants, or memory is known to be exhausted for it.
  ///
  /// \param places that there are, one at least
  /// \param wanted `std::uint32_t ()`: units that the caller still wants; 0 once it is served
  /// \param visit `(first, count)`: a collective of `team`: examines these places as `Known` asks
  ///   for it, takes from them what members want; what the calling lane has seen and that is left,
  ///   for `longest_runs` the longest run
  template <class Wanted, class Visit>
  WARPHEAP_DEVICE void search(const simt::group& team, std::uint32_t places, const Wanted& wanted,
                              const Visit& visit) {
    const auto unserved = [&] { return team.any(wanted() != 0 && !is_out(wanted())); };
    const std::uint32_t slice_places =
        places / most_slices < LeastSlice ? LeastSlice : ceil_div(places, most_slices);
    const std::uint32_t slices = ceil_div(places, slice_places);
    for (int rounds = 0; rounds < most_rounds && unserved(); ++rounds) {
      slice mine = next_slice(team, slices);
      bool ended = false;
      while (!ended && mine.number < slices) {
        const std::uint32_t first = mine.number * slice_places;
        const std::uint32_t left = places - first;
        ended = examined(visit(first, left < slice_places ? left : slice_places), team, slices);
        if (!unserved()) return;
        if (!ended) mine = next_slice(team, slices);
      }
      // Those that have spoilt the round get a turn before the next one.
      if (team.is_leader()) ended ? simt::backoff(pause) : wait_for(mine.round);
      team.sync();
    }
  }

 private:
  static constexpr std::uint64_t idle = std::uint64_t{1} << 31;
  static constexpr std::uint64_t opening = std::uint64_t{1} << 30;
  static constexpr std::uint64_t next_mask = opening - 1;
  static constexpr std::uint32_t most_slices = 1u << 16;
  static constexpr int most_rounds = 64;
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  struct slice {
    std::uint32_t number;  ///< all are taken if it is not below their count
    std::uint32_t round;
  };

  WARPHEAP_HD static constexpr std::uint32_t round_of(std::uint64_t turn) {
    return static_cast<std::uint32_t>(turn >> 32);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> turn() { return simt::atomic_ref(turn_); }

  /// A slice of the present round, or of one that the group opens.
  WARPHEAP_DEVICE slice next_slice(const simt::group& team, std::uint32_t slices) {
    std::uint64_t got = 0;
    if (team.is_leader()) got = take_slice(slices);
    // A broadcast orders nothing: the members come after what the leader has acquired.
    team.sync();
    got = team.broadcast(got);
    return {static_cast<std::uint32_t>(got & next_mask), round_of(got)};
  }

  /// Ends: the lane that opens a round never waits, so it may be of the caller's own warp; and
  /// a round is missed only because others have opened and ended it.
  WARPHEAP_DEVICE std::uint64_t take_slice(std::uint32_t slices) {
    for (;;) {
      std::uint64_t now = turn().load(simt::order::acquire);
      if ((now & opening) != 0) {
        simt::backoff(pause);
      } else if ((now & idle) != 0) {
        const std::uint64_t round = now >> 32;
        if (turn().compare_exchange(now, round << 32 | opening, simt::order::acquire)) {
          return open(round + 1);
        }
      } else {
        if ((now & next_mask) >= slices) return now;
        // What is added after the round has ended is overwritten when the next one opens.
        now = turn().fetch_add(1, simt::order::acquire);
        if ((now & (idle | opening)) == 0) return now;
      }
    }
  }

  /// Opens a round; its first slice is the caller's.
  WARPHEAP_DEVICE std::uint64_t open(std::uint64_t round) {
    known_.begin_round();
    // Relaxed: the release below orders it, and before it nobody reads it.
    simt::atomic_ref(finished_).store(0, simt::order::relaxed);
    turn().store(round << 32 | 1, simt::order::release);
    return round << 32;
  }

  /// Ends a slice; the last one of a round ends the round. Whether it was that one.
  template <class Left>
  WARPHEAP_DEVICE bool examined(const Left& left, const simt::group& team, std::uint32_t slices) {
    // Released by the leader's addition, after the members have met.
    known_.note(left);
    team.sync();
    bool ended = false;
    if (team.is_leader() &&
        simt::atomic_ref(finished_).fetch_add(1, simt::order::acq_rel) + 1 == slices) {
      known_.end_round();
      const std::uint64_t round = turn().load(simt::order::relaxed) >> 32;
      turn().store(round << 32 | idle, simt::order::release);
      ended = true;
    }
    team.sync();
    return team.any(ended);
  }

  /// Waits for the end of a round. It comes: every slice is taken, and the groups that have them do
  /// not wait for the caller's, also if they are lanes of its own warp.
  WARPHEAP_DEVICE void wait_for(std::uint32_t round) {
    for (;;) {
      const std::uint64_t now = turn().load(simt::order::acquire);
      if (round_of(now) != round || (now & (idle | opening)) != 0) return;
      simt::backoff(pause);
    }
  }

  alignas(128) Known known_;
  alignas(128) std::uint64_t turn_;
  alignas(128) std::uint32_t finished_;
};

WARPHEAP_END_NAMESPACE
