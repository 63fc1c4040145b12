// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/cpu/explorer.hpp"

#include "strategies.hpp"
#include "warp.hpp"
#include "weak_memory.hpp"

#include "warpheap/core/error.hpp"
#include "warpheap/core/hash.hpp"

#include <cstdio>
#include <utility>

namespace warpheap {
inline namespace WARPHEAP_MODEL {
namespace simt {

namespace {
constexpr std::uint32_t most_lanes = runtime_detail::most_explored_lanes;
constexpr std::size_t stack_bytes = 64 * 1024;

/// What a line about a lane begins with.
std::string name_of(const runtime::lane_identity& me) {
  return "block " + std::to_string(me.block) + " thread " + std::to_string(me.thread_in_block) +
         ": ";
}
}  // namespace

/// Runs the lane that a strategy chooses until its next step. If that lane waits for a group, it
/// and a random part of the lanes that wait at the same call become one.
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

  void misuse(runtime_detail::lane& me, const char* what) override {
    give_up(name_of(me) + what);
    remark(what);
    go_on(me, nullptr);
  }

  runtime_detail::weak_memory* weak() override { return &weak_; }
  std::string* trace() override { return trace_; }

  void suspend(runtime_detail::lane& me) override {
    if (me.home->wants_group.contains(static_cast<int>(me.number))) choice_.note_wait_for_group();
    go_on(me, choose(nullptr));
  }

 private:
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
    choice_.clear();
    std::uint32_t first = 0;
    for (auto& b : blocks_) {
      runtime_detail::build_block(b, shape_, stacks_, first, &implementation::lane_main);
      for (auto& w : b.warps) {
        choice_.add(w, first);
        for (auto& l : w.lanes) choice_.add(l, first++);
      }
    }
  }

  void begin(const schedule& order, const runtime_detail::lane_program& program,
             std::string* trace) {
    program_ = program;
    trace_ = trace;
    stuck_.clear();
    steps_ = 0;
    live_ = shape_.blocks * shape_.threads_per_block;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      runtime_detail::load_block(blocks_[i], i, shape_, i, mix64(order.seed));
    }
    choice_.begin(order, live_);
    runtime::here.weak = order.memory == memory_model::weak;
    if (runtime::here.weak) weak_.begin(order.seed);
  }

  void resume(runtime_detail::lane& next) {
    runtime::here.lane = &next;
    runtime::here.fuel = 1;  // every atomic asks again
  }

  /// `me` could continue. Puts it among the ready lanes and chooses again.
  void preempt(runtime_detail::lane& me, bool may_stay) {
    runtime_detail::warp& w = *me.home;
    const int number = static_cast<int>(me.number);
    w.ready = w.ready | lane_mask::of(number);
    if (!may_stay) choice_.demote(me);
    auto* next = choose(may_stay ? &me : nullptr);
    if (next == &me) {
      resume(me);
      return;
    }
    go_on(me, next);
  }

  void go_on(runtime_detail::lane& me, runtime_detail::lane* next) {
    // For a lane that is never resumed: only the host, not other lanes, comes after what it did.
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
    auto* chosen = choice_.pick(running, steps_);
    if (chosen == nullptr) {
      give_up("deadlock: every lane waits for another one");
      return nullptr;
    }
    runtime_detail::warp& w = *chosen->home;
    const int number = static_cast<int>(chosen->number);
    const bool converged = w.wants_group.contains(number);
    if (converged) w.form(choice_.part_of(w.same_site(number), number));
    w.ready = w.ready.without(number);
    const bool switched = choice_.note(*chosen);
    if (trace_ != nullptr && (switched || converged)) note(*chosen, converged);
    return chosen;
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
  runtime_detail::lane_choice choice_;
  runtime_detail::fiber host_;

  runtime_detail::lane_program program_;
  std::string* trace_ = nullptr;
  std::string stuck_;
  std::uint64_t steps_ = 0;
  std::uint32_t live_ = 0;
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
  std::string& trace = *runtime_detail::current_scheduler->trace();
  trace += "        " + name_of(*runtime::here.lane);
  trace += text;
  trace += '\n';
}

}  // namespace simt
}  // namespace WARPHEAP_MODEL
}  // namespace warpheap
