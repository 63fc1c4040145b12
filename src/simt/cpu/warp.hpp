// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fiber.hpp"

#include "warpheap/simt/cpu/lane.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace warpheap::runtime_detail {

using simt::lane_mask;
using simt::runtime::collective;

/// Lanes of a grid that the explorer runs.
inline constexpr std::uint32_t most_explored_lanes = 64;

struct warp;
struct block;
class weak_memory;

/// Where a lane wants a group: only lanes with the same one get it together.
struct group_site {
  const void* call = nullptr;
  const void* of = nullptr;  ///< what it passes

  bool operator==(const group_site&) const = default;
};

/// One lane: its identity, its fiber, and what it waits for.
struct lane : simt::runtime::lane_identity {
  fiber flow;
  warp* home = nullptr;
  // The collective that the lane has called, valid while the warp counts it as waiting for one.
  collective operation = collective::sync;
  lane_mask members;
  std::uint64_t value = 0;
  int source = 0;
  group_site site;
  /// What the collective or the group formation returned to this lane.
  std::uint64_t result = 0;
};

/// The lanes of a warp by what they do. Every live lane is in exactly one of the sets, except for
/// the one that runs now, which is in none.
struct warp {
  std::span<lane> lanes;
  block* home = nullptr;
  lane_mask live;
  lane_mask ready;
  /// Have yielded; ready again when the others have had a turn.
  lane_mask resting;
  lane_mask wants_group;
  lane_mask in_collective;
  lane_mask at_barrier;

  /// Records the collective that `me` calls. True if that completes it: `me` then has its result,
  /// and the other members are ready with theirs.
  bool arrive(lane& me, collective operation, lane_mask members, std::uint64_t value, int source);

  /// Makes `chosen`, lanes that want a group at one site, a group: they become ready.
  void form(lane_mask chosen);

  /// Makes one group for each site, of all lanes that wait there.
  void form_all();

  /// The lanes of `wants_group` that wait at the same site as `who`.
  lane_mask same_site(int who) const;

  /// `me` has finished. Collectives count it as arrived from now on.
  void exit(lane& me);

 private:
  bool complete_if_all_there(collective operation, lane_mask members);
  void complete(collective operation, lane_mask arrived);
};

/// A block of lanes that is resident on one host thread.
struct block {
  std::vector<lane> lanes;
  std::vector<warp> warps;
  std::vector<std::byte> shared;
  std::uint32_t live = 0;
  std::uint32_t at_barrier = 0;

  /// `me` waits for the block. True if it was the last: then all others are ready again.
  bool arrive_at_barrier(lane& me);
  void exit_lane();

 private:
  bool release_barrier_if_all_there();
};

/// A line for each lane that waits: where it stands, for what, and for whom.
std::string describe_waiting(const block& resident);

/// Chooses which lane runs next on its host thread. One object per host thread.
class scheduler {
 public:
  virtual ~scheduler() = default;
  /// `me` has used its fuel and could continue.
  virtual void out_of_fuel(lane& me) = 0;
  /// `me` waits for other lanes and yields to them.
  virtual void give_way(lane& me) = 0;
  /// `me` is in one of its warp's sets; runs others until it is chosen again.
  virtual void suspend(lane& me) = 0;
  /// A point where a seeded scheduler may preempt `me`, ahead of a collective.
  virtual void before_collective(lane& me) = 0;
  /// `me` has made an error. Never returns if that is a finding.
  virtual void misuse(lane& /*me*/, const char* /*what*/) {}
  /// The memory of the lanes if `host_thread::weak` is set.
  virtual weak_memory* weak() { return nullptr; }
  /// The trace that is kept of what the lanes do, if any.
  virtual std::string* trace() { return nullptr; }
};

/// The scheduler of the calling host thread.
extern thread_local scheduler* current_scheduler;

/// The function that all lanes of a launch run.
struct lane_program {
  void (*run)(const void* functor) = nullptr;
  const void* functor = nullptr;
};

/// Where the lanes of a grid start: fills in identities and puts every lane among the ready.
void load_block(block& target, std::uint32_t block_rank, const simt::grid& shape, std::uint32_t sm,
                std::uint64_t seed);

/// Makes `target` able to hold blocks of `shape`, with stacks from `stacks` starting at
/// `first_stack`; all lanes run `entry`, which must never return.
void build_block(block& target, const simt::grid& shape, const stack_pool& stacks,
                 std::size_t first_stack, fiber::entry_point entry);

}  // namespace warpheap::runtime_detail
