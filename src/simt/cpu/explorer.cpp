// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/cpu/explorer.hpp"

#include "warp.hpp"
#include "weak_memory.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/core/random.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace warpheap {
inline namespace WARPHEAP_MODEL {
namespace simt {

namespace {
constexpr std::uint32_t most_lanes = runtime_detail::most_explored_lanes;
constexpr std::size_t stack_bytes = 64 * 1024;
}  // namespace

/// A choice is always one of the candidates: the lanes that are ready, and the lanes that wait for
/// a group. Choosing one that waits makes a group of it and a random part of the lanes that wait at
/// the same call, for CUDA promises no more of a converged set than that it contains the caller.
class explorer::implementation final : public runtime_detail::scheduler {
 public:
  implementation(const grid& shape, std::uint64_t step_limit)
      : shape_(shape),
        step_limit_(step_limit),
        stacks_(std::size_t{shape.blocks} * shape.threads_per_block, stack_bytes),
        weak_(shape.blocks * shape.threads_per_block) {
    host_.adopt_thread();
    build();
  }

  schedule_outcome run(const schedule& order, const runtime_detail::lane_program& program,
                       std::string* trace) {
    auto* outer = runtime_detail::current_scheduler;
    runtime_detail::current_scheduler = this;
    begin(order, program, trace);
    runtime_detail::happens_before_release(this);
    if (auto* first = choose(nullptr)) {
      resume(*first);
      runtime_detail::fiber::switch_to(host_, first->flow);
    }
    runtime_detail::happens_before_acquire(this);
    runtime_detail::happens_before_acquire(&host_);
    runtime::here = {};
    runtime_detail::current_scheduler = outer;
    if (!stuck_.empty()) build();  // lanes stopped halfway: their stacks start anew
    return {std::move(stuck_), steps_};
  }

  void out_of_fuel(runtime_detail::lane& me) override { preempt(me, true); }
  void give_way(runtime_detail::lane& me) override { preempt(me, false); }
  void before_collective(runtime_detail::lane& me) override { preempt(me, true); }

  runtime_detail::weak_memory* weak() override { return &weak_; }
  std::string* trace() override { return trace_; }

  void suspend(runtime_detail::lane& me) override {
    if (me.home->wants_group.contains(static_cast<int>(me.number))) kept_waiting_ = 0;
    go_on(me, choose(nullptr));
  }

 private:
  static constexpr int change_points = 3;
  // A lane that is chosen so often in a row spins on what another lane has yet to do.
  static constexpr std::uint64_t spin_limit = 200;

  static void lane_main(void* argument) {
    auto& me = *static_cast<runtime_detail::lane*>(argument);
    for (;;) {
      auto& self = static_cast<implementation&>(*runtime_detail::current_scheduler);
      runtime_detail::happens_before_acquire(&self);
      self.program_.run(self.program_.functor);
      runtime_detail::happens_before_release(&self);
      me.home->exit(me);
      --self.live_;
      self.suspend(me);
    }
  }

  void build() {
    blocks_ = std::vector<runtime_detail::block>(shape_.blocks);
    warps_.clear();
    std::uint32_t first = 0;
    for (auto& b : blocks_) {
      runtime_detail::build_block(b, shape_, stacks_, first, &implementation::lane_main);
      for (auto& w : b.warps) {
        warps_.emplace_back(&w, first);
        for (auto& l : w.lanes) lanes_[first++] = &l;
      }
    }
  }

  void begin(const schedule& order, const runtime_detail::lane_program& program,
             std::string* trace) {
    program_ = program;
    how_ = order.how;
    trace_ = trace;
    stuck_.clear();
    steps_ = 0;
    streak_ = 0;
    kept_waiting_ = 0;
    previous_ = nullptr;
    live_ = shape_.blocks * shape_.threads_per_block;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      runtime_detail::load_block(blocks_[i], i, shape_, i, mix64(order.seed));
    }
    random_ = random_sequence(mix64(order.seed) + static_cast<std::uint64_t>(how_));
    runtime::here.weak = order.memory == memory_model::weak;
    if (runtime::here.weak) weak_.begin(order.seed);
    // Half of the schedules form groups as late as possible, so that large groups occur too.
    groups_wait_ = (random_.next() & 1u) != 0;
    if (how_ != strategy::pct) return;
    for (std::uint32_t i = 0; i < live_; ++i) priority_[i] = change_points + i;
    for (std::uint32_t i = live_; i > 1; --i) {
      std::swap(priority_[i - 1], priority_[random_.below(i)]);
    }
    // How long the schedule will be is not known, and measuring another one would make this one
    // depend on it: each seed draws a length between a few and a hundred steps for each lane.
    const std::uint32_t length = (4 * live_ + 32) << random_.below(5);
    for (auto& point : change_at_) point = random_.below(length);
    lowest_ = 0;
  }

  static std::uint32_t index_of(const runtime_detail::lane& l) {
    return static_cast<std::uint32_t>(l.rank());
  }

  void resume(runtime_detail::lane& next) {
    runtime::here.lane = &next;
    runtime::here.fuel = 1;  // every atomic asks again
  }

  /// `me` could go on. Puts it among the ready and chooses anew.
  void preempt(runtime_detail::lane& me, bool may_stay) {
    runtime_detail::warp& w = *me.home;
    const int number = static_cast<int>(me.number);
    w.ready = w.ready | lane_mask::of(number);
    if (!may_stay) demote(me);
    auto* next = choose(may_stay ? &me : nullptr);
    if (next == &me) {
      resume(me);
      return;
    }
    go_on(me, next);
  }

  void go_on(runtime_detail::lane& me, runtime_detail::lane* next) {
    // The host, and no other lane, comes after what a lane did that is never resumed.
    runtime_detail::happens_before_release(&host_);
    if (next == nullptr) {
      runtime_detail::fiber::switch_to(me.flow, host_);
      return;
    }
    resume(*next);
    if (next != &me) runtime_detail::fiber::switch_to(me.flow, next->flow);
  }

  /// The lane that runs now, taken out of its set; null when the schedule is over.
  runtime_detail::lane* choose(runtime_detail::lane* running) {
    if (live_ == 0) return nullptr;
    if (++steps_ > step_limit_) {
      give_up("no end after " + std::to_string(step_limit_) + " steps");
      return nullptr;
    }
    auto* chosen = pick(running);
    if (chosen == nullptr) {
      give_up("deadlock: every lane waits for another one");
      return nullptr;
    }
    runtime_detail::warp& w = *chosen->home;
    const int number = static_cast<int>(chosen->number);
    const bool converged = w.wants_group.contains(number);
    if (converged) form_part(w, number);
    w.ready = w.ready.without(number);
    ++kept_waiting_;
    if (trace_ != nullptr && (chosen != previous_ || converged)) note(*chosen, converged);
    streak_ = chosen == previous_ ? streak_ + 1 : 0;
    previous_ = chosen;
    return chosen;
  }

  runtime_detail::lane* pick(runtime_detail::lane* running) {
    switch (how_) {
      case strategy::sticky:
        if (running != nullptr && streak_ < spin_limit && (random_.next() & 7u) != 0) {
          return running;
        }
        break;
      case strategy::uniform:
        break;
      case strategy::pct:
        return pick_by_priority(running);
    }
    return pick_uniformly(running);
  }

  /// The ranks of the lanes that may be chosen at this step, one bit each.
  std::uint64_t candidates(bool with_groups) const {
    std::uint64_t all = 0;
    for (const auto& [w, first] : warps_) {
      const lane_mask some = with_groups ? w->ready | w->wants_group : w->ready;
      all |= std::uint64_t{some.bits()} << first;
    }
    return all;
  }

  runtime_detail::lane* pick_uniformly(const runtime_detail::lane* running) {
    // A lane that has just given way is not asked again if there is anybody else.
    auto* const yielded = running == nullptr ? previous_ : nullptr;
    const std::uint64_t again = yielded == nullptr ? 0 : std::uint64_t{1} << index_of(*yielded);
    // Lanes that spin on what is behind a group must not hold its formation up for ever.
    const bool groups_wait = groups_wait_ && kept_waiting_ < spin_limit;
    for (const bool with_groups : {!groups_wait, true}) {
      const std::uint64_t all = candidates(with_groups);
      const std::uint64_t others = all & ~again;
      if (others != 0) {
        const auto count = static_cast<std::uint32_t>(popcount(others));
        return lanes_[count == 1 ? lowest_bit(others) : draw(others, count)];
      }
      // Nobody else is ready; before it spins on, let waiting lanes converge.
      if (all != 0 && with_groups) return yielded;
    }
    return nullptr;
  }

  int draw(std::uint64_t among, std::uint32_t count) {
    for (std::uint32_t skipped = random_.below(count); skipped != 0; --skipped) among &= among - 1;
    return lowest_bit(among);
  }

  runtime_detail::lane* pick_by_priority(runtime_detail::lane* running) {
    for (const std::uint32_t point : change_at_) {
      if (point == steps_ && running != nullptr) demote(*running);
    }
    if (running != nullptr && streak_ >= spin_limit) {
      streak_ = 0;
      demote(*running);
    }
    for (const bool with_groups : {!groups_wait_, true}) {
      int best = -1;
      for (std::uint64_t rest = candidates(with_groups); rest != 0; rest &= rest - 1) {
        const int rank = lowest_bit(rest);
        if (best < 0 || priority_[rank] > priority_[best]) best = rank;
      }
      // A lane that was demoted because it waits must not keep the others from converging.
      if (best >= 0 && (with_groups || priority_[best] > 0)) return lanes_[best];
    }
    return nullptr;
  }

  void demote(const runtime_detail::lane& l) {
    if (how_ == strategy::pct) priority_[index_of(l)] = --lowest_;
  }

  void form_part(runtime_detail::warp& w, int who) {
    lane_mask members = w.same_site(who);
    if ((random_.next() & 1u) != 0) {
      const auto part = static_cast<std::uint32_t>(random_.next() >> 32);
      members = (members & lane_mask{part}) | lane_mask::of(who);
    }
    w.form(members);
  }

  void give_up(const std::string& why) {
    const runtime_detail::unwatched own_books;
    stuck_ = why + "\n";
    for (const auto& b : blocks_) stuck_ += runtime_detail::describe_waiting(b);
  }

  void note(const runtime_detail::lane& chosen, bool converged) {
    const runtime_detail::unwatched own_books;
    char line[96];
    const int length = std::snprintf(line, sizeof line, "%6llu  block %u thread %u",
                                     static_cast<unsigned long long>(steps_), chosen.block,
                                     chosen.thread_in_block);
    if (converged) {
      std::snprintf(line + length, sizeof line - static_cast<std::size_t>(length),
                    ", in a group of lanes %08x", static_cast<std::uint32_t>(chosen.result));
    }
    *trace_ += line;
    *trace_ += '\n';
  }

  grid shape_;
  std::uint64_t step_limit_;
  runtime_detail::stack_pool stacks_;
  runtime_detail::weak_memory weak_;
  std::vector<runtime_detail::block> blocks_;
  // The same by rank: each warp with its first lane's, and the lanes.
  std::vector<std::pair<const runtime_detail::warp*, std::uint32_t>> warps_;
  std::array<runtime_detail::lane*, most_lanes> lanes_{};
  runtime_detail::fiber host_;

  runtime_detail::lane_program program_;
  strategy how_ = strategy::sticky;
  std::string* trace_ = nullptr;
  random_sequence random_{0};
  bool groups_wait_ = false;
  std::string stuck_;
  std::uint64_t steps_ = 0;
  std::uint64_t streak_ = 0;
  // Choices since a lane last began to wait for a group.
  std::uint64_t kept_waiting_ = 0;
  std::uint32_t live_ = 0;
  runtime_detail::lane* previous_ = nullptr;

  std::array<std::int64_t, most_lanes> priority_{};
  std::array<std::uint32_t, change_points> change_at_{};
  std::int64_t lowest_ = 0;
};

explorer::explorer(const grid& shape, std::uint64_t step_limit) {
  const std::uint64_t lanes = std::uint64_t{shape.blocks} * shape.threads_per_block;
  if (lanes == 0 || lanes > most_lanes) {
    throw invalid_argument("an explored grid of " + std::to_string(lanes) + " lanes: 1 to " +
                           std::to_string(most_lanes) + " are possible");
  }
  if (step_limit > runtime_detail::weak_memory::most_stores) {
    throw invalid_argument("a limit of " + std::to_string(step_limit) + " steps: at most " +
                           std::to_string(runtime_detail::weak_memory::most_stores) +
                           " are possible");
  }
  implementation_ = std::make_unique<implementation>(shape, step_limit);
}

explorer::~explorer() = default;

schedule_outcome explorer::run(const schedule& order, void (*body)(const void*),
                               const void* functor, std::string* trace) {
  return implementation_->run(order, {body, functor}, trace);
}

bool traced() {
  auto* const scheduler = runtime_detail::current_scheduler;
  return scheduler != nullptr && runtime::here.lane != nullptr && scheduler->trace() != nullptr;
}

void remark(const char* text) {
  if (!traced()) return;
  const runtime_detail::unwatched own_books;
  const auto& me = *runtime::here.lane;
  char who[64];
  std::snprintf(who, sizeof who, "        block %u thread %u: ", me.block, me.thread_in_block);
  std::string& trace = *runtime_detail::current_scheduler->trace();
  trace += who;
  trace += text;
  trace += '\n';
}

}  // namespace simt
}  // namespace WARPHEAP_MODEL
}  // namespace warpheap
