// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file Which lane of an explored grid continues next: the three strategies of explorer.hpp.

#include "warp.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpheap::runtime_detail {

/// A choice is always one of the candidates: the lanes that are ready, and the lanes that wait for
/// a group.
class lane_choice {
 public:
  /// Begins a schedule over `lanes` lanes.
  void begin(const simt::schedule& order, std::uint32_t lanes) {
    how_ = order.how;
    streak_ = 0;
    kept_waiting_ = 0;
    previous_ = nullptr;
    random_ = random_sequence(mix64(order.seed) + static_cast<std::uint64_t>(how_));
    // Half of the schedules form groups as late as possible, so that large groups occur too.
    groups_wait_ = (random_.next() & 1u) != 0;
    if (how_ != simt::strategy::pct) return;
    for (std::uint32_t i = 0; i < lanes; ++i) priority_[i] = change_points + i;
    for (std::uint32_t i = lanes; i > 1; --i) {
      std::swap(priority_[i - 1], priority_[random_.below(i)]);
    }
    // The length of the schedule is unknown, and measuring another one would make this one depend
    // on it: each seed draws a length between a few and a hundred steps for each lane.
    const std::uint32_t length = (4 * lanes + 32) << random_.below(5);
    for (auto& point : change_at_) point = random_.below(length);
    lowest_ = 0;
    forget_best();
  }

  /// The grid's lanes at their current addresses: call this before the first schedule, and when
  /// they were rebuilt.
  void clear() { warps_.clear(); }
  void add(const warp& w, std::uint32_t first_rank) { warps_.emplace_back(&w, first_rank); }
  void add(lane& l, std::uint32_t rank) { lanes_[rank] = &l; }

  /// The lane that continues at this step, null if there is none; `running` may continue, if it is
  /// given.
  lane* pick(lane* running, std::uint64_t step) {
    switch (how_) {
      case simt::strategy::sticky:
        if (running != nullptr && streak_ < spin_limit && (random_.next() & 7u) != 0) {
          return running;
        }
        break;
      case simt::strategy::uniform:
        break;
      case simt::strategy::pct:
        return pick_by_priority(running, step);
    }
    return pick_uniformly(running);
  }

  /// A random part of `waiting`, with `who` in it: CUDA promises no more of a converged set than
  /// that it contains the caller.
  lane_mask part_of(lane_mask waiting, int who) {
    if ((random_.next() & 1u) == 0) return waiting;
    const auto part = static_cast<std::uint32_t>(random_.next() >> 32);
    return (waiting & lane_mask{part}) | lane_mask::of(who);
  }

  /// Records that `chosen` continues. Returns whether another lane ran before.
  bool note(const lane& chosen) {
    const bool switched = &chosen != previous_;
    ++kept_waiting_;
    streak_ = switched ? 0 : streak_ + 1;
    previous_ = &chosen;
    return switched;
  }

  /// Records that a lane begins to wait for a group.
  void note_wait_for_group() { kept_waiting_ = 0; }

  /// The lane has yielded: with priorities, it gets the lowest.
  void demote(const lane& l) {
    if (how_ != simt::strategy::pct) return;
    priority_[index_of(l)] = --lowest_;
    forget_best();
  }

 private:
  static constexpr int change_points = 3;
  // A lane that is chosen this many times in a row is spinning on something that another lane has
  // yet to do.
  static constexpr std::uint64_t spin_limit = 200;

  static std::uint32_t index_of(const lane& l) { return static_cast<std::uint32_t>(l.rank()); }

  /// The ranks of the lanes that may be chosen at this step, one bit each.
  std::uint64_t candidates(bool with_groups) const {
    std::uint64_t all = 0;
    for (const auto& [w, first] : warps_) {
      const lane_mask some = with_groups ? w->ready | w->wants_group : w->ready;
      all |= std::uint64_t{some.bits()} << first;
    }
    return all;
  }

  lane* pick_uniformly(const lane* running) {
    // A lane that has just yielded is not chosen again if there is another.
    const lane* const yielded = running == nullptr ? previous_ : nullptr;
    const std::uint64_t again = yielded == nullptr ? 0 : std::uint64_t{1} << index_of(*yielded);
    // Lanes that spin on something after a group must not delay its formation forever.
    const bool groups_wait = groups_wait_ && kept_waiting_ < spin_limit;
    for (const bool with_groups : {!groups_wait, true}) {
      const std::uint64_t all = candidates(with_groups);
      const std::uint64_t others = all & ~again;
      if (others != 0) {
        const auto count = static_cast<std::uint32_t>(popcount(others));
        return lanes_[count == 1 ? lowest_bit(others) : draw(others, count)];
      }
      // No other lane is ready; before it continues to spin, let waiting lanes converge.
      if (all != 0 && with_groups) return lanes_[index_of(*yielded)];
    }
    return nullptr;
  }

  int draw(std::uint64_t among, std::uint32_t count) {
    for (std::uint32_t skipped = random_.below(count); skipped != 0; --skipped) among &= among - 1;
    return lowest_bit(among);
  }

  lane* pick_by_priority(const lane* running, std::uint64_t step) {
    for (const std::uint32_t point : change_at_) {
      if (point == step && running != nullptr) demote(*running);
    }
    if (running != nullptr && streak_ >= spin_limit) {
      streak_ = 0;
      demote(*running);
    }
    for (const bool with_groups : {!groups_wait_, true}) {
      const int best = best_of(candidates(with_groups));
      // A lane that was demoted because it waits must not keep the others from converging.
      if (best >= 0 && (with_groups || priority_[best] > 0)) return lanes_[best];
    }
    return nullptr;
  }

  /// Priorities have changed.
  void forget_best() {
    compared_ = 0;
    best_compared_ = -1;
  }
  /// The rank of highest priority among these; -1 for none.
  int best_of(std::uint64_t among) {
    // Most steps have the candidates of the one before.
    if (among == compared_) return best_compared_;
    int best = -1;
    for (std::uint64_t rest = among; rest != 0; rest &= rest - 1) {
      const int rank = lowest_bit(rest);
      if (best < 0 || priority_[rank] > priority_[best]) best = rank;
    }
    compared_ = among;
    best_compared_ = best;
    return best;
  }

  // Each warp with the rank of its first lane, and the lanes by rank.
  std::vector<std::pair<const warp*, std::uint32_t>> warps_;
  std::array<lane*, most_explored_lanes> lanes_{};

  simt::strategy how_ = simt::strategy::sticky;
  random_sequence random_{0};
  bool groups_wait_ = false;
  std::uint64_t streak_ = 0;
  // Choices since a lane last began to wait for a group.
  std::uint64_t kept_waiting_ = 0;
  const lane* previous_ = nullptr;

  std::array<std::int64_t, most_explored_lanes> priority_{};
  std::array<std::uint32_t, change_points> change_at_{};
  std::int64_t lowest_ = 0;
  // The candidates that were compared last, and the best of them, by these priorities.
  std::uint64_t compared_ = 0;
  int best_compared_ = -1;
};

}  // namespace warpheap::runtime_detail
