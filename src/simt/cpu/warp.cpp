// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warp.hpp"
#include "weak_memory.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/core/hash.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace warpheap {

inline namespace WARPHEAP_MODEL {
namespace simt::runtime {

constinit thread_local host_thread here;

namespace {
runtime_detail::lane& running() { return static_cast<runtime_detail::lane&>(*here.lane); }
}  // namespace

// A host thread that is not a lane may also use the atomics (tests do): it has no lane to yield to.
void out_of_fuel() {
  if (here.lane == nullptr) {
    here.fuel = INT64_MAX;
    return;
  }
  runtime_detail::current_scheduler->out_of_fuel(running());
}

void give_way() {
  if (here.lane != nullptr) runtime_detail::current_scheduler->give_way(running());
}

void misuse(const char* what) {
  if (here.lane != nullptr) runtime_detail::current_scheduler->misuse(running(), what);
}

lane_mask form_group(const void* site, const void* of) {
  auto& me = running();
  me.site = {site, of};
  me.home->wants_group = me.home->wants_group | lane_mask::of(static_cast<int>(me.number));
  runtime_detail::current_scheduler->suspend(me);
  return lane_mask{static_cast<std::uint32_t>(me.result)};
}

std::uint64_t collect(collective operation, lane_mask mask, std::uint64_t value, int source) {
  auto& me = running();
  auto* scheduler = runtime_detail::current_scheduler;
  scheduler->before_collective(me);
  // CUDA orders memory at a sync of a group, and at no other collective.
  if (operation == collective::sync) runtime_detail::happens_before_release(&me);
  if (!me.home->arrive(me, operation, mask, value, source)) scheduler->suspend(me);
  if (operation == collective::sync) {
    for (auto& other : me.home->lanes) {
      if (mask.contains(static_cast<int>(other.number))) {
        runtime_detail::happens_before_acquire(&other);
      }
    }
  }
  return me.result;
}

void wait_for_block() {
  auto& me = running();
  auto* scheduler = runtime_detail::current_scheduler;
  scheduler->before_collective(me);
  runtime_detail::block* home = me.home->home;
  runtime_detail::happens_before_release(home);
  if (!home->arrive_at_barrier(me)) scheduler->suspend(me);
  runtime_detail::happens_before_acquire(home);
}

}  // namespace simt::runtime
}  // namespace WARPHEAP_MODEL

namespace runtime_detail {

thread_local scheduler* current_scheduler = nullptr;

namespace {

int number_of(const lane& me) { return static_cast<int>(me.number); }

template <class Visit>
void for_each_lane(lane_mask mask, Visit visit) {
  for (std::uint32_t rest = mask.bits(); rest != 0; rest &= rest - 1) visit(lowest_bit(rest));
}

/// Lanes that a barrier synchronises. If their memory is weak, each sees what any of them has seen.
class meeting {
 public:
  void add(const warp& of, lane_mask members) {
    if (!simt::runtime::here.weak) return;
    for_each_lane(
        members, [&](int i) { ranks_[count_++] = static_cast<std::uint32_t>(of.lanes[i].rank()); });
  }
  void close() const {
    if (count_ != 0) current_scheduler->weak()->synchronize({ranks_.data(), count_});
  }

 private:
  std::array<std::uint32_t, most_explored_lanes> ranks_;
  std::size_t count_ = 0;
};

}  // namespace

bool warp::arrive(lane& me, collective operation, lane_mask members, std::uint64_t value,
                  int source) {
  me.operation = operation;
  me.members = members;
  me.value = value;
  me.source = source;
  in_collective = in_collective | lane_mask::of(number_of(me));
  if (!complete_if_all_there(operation, members)) return false;
  ready = ready.without(number_of(me));
  return true;
}

bool warp::complete_if_all_there(collective operation, lane_mask members) {
  const lane_mask awaited = members & live;
  if (!(awaited - in_collective).empty()) return false;
  bool alike = true;
  for_each_lane(awaited, [&](int i) {
    alike = alike && lanes[i].operation == operation && lanes[i].members == members;
  });
  if (alike) complete(operation, awaited);
  return alike;
}

void warp::complete(collective operation, lane_mask arrived) {
  meeting together;
  switch (operation) {
    case collective::sync:
      together.add(*this, arrived);
      together.close();
      break;
    case collective::ballot: {
      std::uint32_t votes = 0;
      for_each_lane(arrived, [&](int i) { votes |= (lanes[i].value != 0 ? 1u : 0u) << i; });
      for_each_lane(arrived, [&](int i) { lanes[i].result = votes; });
      break;
    }
    case collective::shuffle:
      // Reading from a lane that has exited or is not a member gives no value on CUDA; here the
      // caller's own, so that the result is at least reproducible.
      for_each_lane(arrived, [&](int i) {
        const int from = lanes[i].source;
        lanes[i].result = arrived.contains(from) ? lanes[from].value : lanes[i].value;
      });
      break;
    case collective::match:
      for (lane_mask rest = arrived; !rest.empty();) {
        const std::uint64_t value = lanes[rest.lowest()].value;
        lane_mask equal;
        for_each_lane(rest, [&](int i) {
          if (lanes[i].value == value) equal = equal | lane_mask::of(i);
        });
        for_each_lane(equal, [&](int i) { lanes[i].result = equal.bits(); });
        rest = rest - equal;
      }
      break;
    case collective::scan_add: {
      std::uint64_t sum = 0;
      for_each_lane(arrived, [&](int i) {
        lanes[i].result = sum;
        sum += lanes[i].value;
      });
      break;
    }
  }
  in_collective = in_collective - arrived;
  ready = ready | arrived;
}

lane_mask warp::same_site(int who) const {
  lane_mask same;
  for_each_lane(wants_group, [&](int i) {
    if (lanes[i].site == lanes[who].site) same = same | lane_mask::of(i);
  });
  return same;
}

void warp::form(lane_mask chosen) {
  for_each_lane(chosen, [&](int i) { lanes[i].result = chosen.bits(); });
  wants_group = wants_group - chosen;
  ready = ready | chosen;
}

void warp::form_all() {
  while (!wants_group.empty()) form(same_site(wants_group.lowest()));
}

void warp::exit(lane& me) {
  live = live.without(number_of(me));
  // The groups of outer and inner calls overlap, so each waiter may be the one that completes.
  for_each_lane(in_collective, [&](int i) {
    if (in_collective.contains(i) && lanes[i].members.contains(number_of(me))) {
      complete_if_all_there(lanes[i].operation, lanes[i].members);
    }
  });
  home->exit_lane();
}

bool block::arrive_at_barrier(lane& me) {
  warp& its_warp = *me.home;
  its_warp.at_barrier = its_warp.at_barrier | lane_mask::of(number_of(me));
  ++at_barrier;
  if (!release_barrier_if_all_there()) return false;
  its_warp.ready = its_warp.ready.without(number_of(me));
  return true;
}

void block::exit_lane() {
  --live;
  if (at_barrier != 0) release_barrier_if_all_there();
}

bool block::release_barrier_if_all_there() {
  if (at_barrier != live) return false;
  meeting together;
  for (warp& w : warps) {
    together.add(w, w.at_barrier);
    w.ready = w.ready | w.at_barrier;
    w.at_barrier = lane_mask{};
  }
  at_barrier = 0;
  together.close();
  return true;
}

std::string describe_waiting(const block& resident) {
  static constexpr std::array<const char*, 5> names{"sync", "ballot", "shuffle", "match",
                                                    "scan_add"};
  std::string text;
  for (std::size_t w = 0; w < resident.warps.size(); ++w) {
    const warp& of = resident.warps[w];
    for_each_lane(of.live, [&](int i) {
      const lane& l = of.lanes[i];
      char line[160];
      int length =
          std::snprintf(line, sizeof line, "  block %u warp %zu lane %2d: ", l.block, w, i);
      const auto rest = sizeof line - static_cast<std::size_t>(length);
      if (of.in_collective.contains(i)) {
        std::snprintf(line + length, rest, "%s of lanes %08x", names[static_cast<int>(l.operation)],
                      l.members.bits());
      } else if (of.at_barrier.contains(i)) {
        std::snprintf(line + length, rest, "block_sync");
      } else if (of.wants_group.contains(i)) {
        std::snprintf(line + length, rest, "coalesced(%p) at %p", l.site.of, l.site.call);
      } else if (of.resting.contains(i)) {
        std::snprintf(line + length, rest, "has given way");
      } else {
        std::snprintf(line + length, rest, "could run");
      }
      text += line;
      text += '\n';
    });
  }
  return text;
}

void build_block(block& target, const simt::grid& shape, const stack_pool& stacks,
                 std::size_t first_stack, fiber::entry_point entry) {
  const std::uint32_t threads = shape.threads_per_block;
  const auto width = static_cast<std::uint32_t>(simt::warp_size);
  target.lanes = std::vector<lane>(threads);
  target.warps = std::vector<warp>(ceil_div(threads, width));
  target.shared.resize(shape.shared_bytes);
  for (std::uint32_t t = 0; t < threads; ++t) {
    lane& l = target.lanes[t];
    l.home = &target.warps[t / width];
    l.number = t % width;
    l.thread_in_block = t;
    l.flow.start(stacks.top(first_stack + t), stacks.usable_bytes(), entry, &l);
  }
  for (std::uint32_t w = 0; w < target.warps.size(); ++w) {
    const std::uint32_t first = w * width;
    const std::uint32_t count = threads - first < width ? threads - first : width;
    target.warps[w].lanes = std::span<lane>(target.lanes).subspan(first, count);
    target.warps[w].home = &target;
  }
}

void load_block(block& target, std::uint32_t block_rank, const simt::grid& shape, std::uint32_t sm,
                std::uint64_t seed) {
  target.live = shape.threads_per_block;
  target.at_barrier = 0;
  // On CUDA, it contains whatever the previous block has left.
  std::fill(target.shared.begin(), target.shared.end(), std::byte{0xcd});
  for (warp& w : target.warps) {
    const lane_mask all = lane_mask::first(static_cast<int>(w.lanes.size()));
    w.live = w.ready = all;
    w.resting = w.wants_group = w.in_collective = w.at_barrier = lane_mask{};
    for (lane& l : w.lanes) {
      l.block = block_rank;
      l.blocks = shape.blocks;
      l.threads_per_block = shape.threads_per_block;
      l.sm = sm;
      l.warp_lanes = all;
      l.shared_bytes = shape.shared_bytes;
      l.shared = target.shared.data();
      l.noise =
          mix64(seed + std::uint64_t{block_rank} * shape.threads_per_block + l.thread_in_block);
    }
  }
}

}  // namespace runtime_detail
}  // namespace warpheap
