// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "end_of_memory_cases.hpp"

#include "full_reuse.hpp"
#include "manager_world.hpp"
#include "untracked.hpp"

#include "warpheap/core/hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// What the last bytes of the heap were before.
enum class remainder {
  unused,  ///< never handed out
  freed,   ///< blocks of the first size
};

template <remainder Last>
class sizes_meet : public heap_world {
 public:
  /// \param blocks that are left: of the largest size if unused, else of the first size
  /// \param sizes that lanes want: 1 for the first one alone, all if 0
  sizes_meet(const any_setup& how, int blocks, std::size_t sizes = 0)
      : heap_world(how), wanted_(sizes == 0 ? how.sizes.size() : sizes) {
    const std::vector<std::uint32_t>& all_sizes = heap.how().sizes;
    if constexpr (Last == remainder::unused) {
      const auto most = std::max_element(all_sizes.begin(), all_sizes.end());
      largest_ = static_cast<std::size_t>(most - all_sizes.begin());
      std::vector<std::byte*> all;
      const int room = heap.room(largest_);
      take_before(*most, all, room - blocks);
      must_serve_ = std::min({blocks, room, requests * case_lanes});
    } else {
      heap.fill_quietly();
      freed_ = std::min(blocks, heap.capacity());
      heap.empty_quietly(heap.capacity() - freed_);
    }
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    refused_.assign(heap.how().sizes.size(), false);
  }

  void lane() {
    // Which lanes want which size differs from schedule to schedule.
    const std::uint64_t first = lane_seed();
    for (std::uint64_t i = 0; i < requests; ++i) want((first + i) % wanted_);
  }

  std::string verdict() {
    std::string wrong = heap.problem();
    const bool is_judged = wanted_ == 1 ? heap.how().exact_for_one_size : heap.how().exact;
    if (!wrong.empty() || !is_judged) return wrong;
    // Where sizes share no room, a small request may take that of several large ones, or none.
    const int one = refused_[largest_] ? 1 : 0;
    const int due = serves_all_sizes(heap.how()) ? must_serve_ : std::min(one, must_serve_);
    if (heap.blocks().count() < due) {
      return std::to_string(heap.blocks().count()) + " requests were served, and there was room " +
             "for " + std::to_string(due) + " at least";
    }
    for (std::size_t which = 0; which < refused_.size(); ++which) {
      if (!refused_[which]) continue;
      const std::uint32_t bytes = heap.size(which);
      std::vector<std::byte*> found;
      take_before(bytes, found, 1);
      if (!found.empty()) {
        return "a lane was refused " + std::to_string(bytes) +
               " bytes, which were free all the time";
      }
    }
    return wrong;
  }

 protected:
  /// Blocks of the first size that were freed before.
  int freed() const { return freed_; }

  /// Takes a block, which is kept.
  void want(std::uint64_t which) {
    if (heap.take(heap.size(which)) == nullptr) refused_[which] = true;
  }

 private:
  /// Of each lane.
  static constexpr int requests = 2;

  /// Takes up to `most` blocks with a single lane.
  void take_before(std::uint32_t bytes, std::vector<std::byte*>& blocks, int most) {
    heap.run_quietly([&] {
      while (static_cast<int>(blocks.size()) < most) {
        std::byte* const block = heap.take(bytes);
        if (block == nullptr) return;
        blocks.push_back(block);
      }
    });
  }

  std::size_t wanted_;
  std::size_t largest_ = 0;
  int freed_ = 0;
  /// As many requests are served in any order, because each takes at most what a block of the
  /// largest size would. A manager that wrongly believes that it is exhausted cannot deny that.
  /// Where the room was freed, a large block may take that of many others: no number is certain.
  int must_serve_ = 0;
  std::vector<untracked<bool>> refused_;
};

/// Sizes come and go where memory ends: what one lane frees is reclaimed for another size while
/// others still free beside it.
class sizes_alternate : public sizes_meet<remainder::freed> {
 public:
  using sizes_meet<remainder::freed>::sizes_meet;

  void lane() {
    std::byte* last = nullptr;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t which = mix64(seed() + i) ^ mix64(simt::thread_rank() + 1);
      std::byte* const block = heap.take(heap.size(which));
      give(last);
      last = block;
    }
    give(last);
  }
  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty() || !serves_all_sizes(heap.how())) return wrong;
    const int got = heap.fill_quietly();
    heap.empty_quietly();
    if (got == freed()) return heap.problem();
    return std::to_string(got) + " blocks can be allocated, and " + std::to_string(freed()) +
           " were free";
  }
};

class large_among_small_ones : public sizes_meet<remainder::freed> {
 public:
  static constexpr simt::grid shape{3, 2};
  using sizes_meet<remainder::freed>::sizes_meet;

  void lane() {
    const auto rank = simt::thread_rank();
    if (rank == 2) want(heap.how().sizes.size() - 1);
    if (rank < 2 || rank == 4) want(0);
  }
};

class sizes_in_turn : public sizes_meet<remainder::freed> {
 public:
  explicit sizes_in_turn(const any_setup& how) : sizes_meet<remainder::freed>(how, 1) {}

  void reset(std::uint64_t seed) {
    sizes_meet<remainder::freed>::reset(seed);
    ended_ = 0;
  }

  void lane() {
    for (std::uint64_t round = 0; round < 2; ++round) {
      give(heap.take(heap.size(seed() + simt::block_rank() + round)));
    }
    const simt::atomic_ref<std::uint32_t> ended(ended_);
    if (ended.fetch_add(1, simt::order::acq_rel) + 1 != case_lanes) return;
    // The last lane knows that all others have freed what they had.
    std::byte* const block = heap.take(heap.size(seed() / heap.how().sizes.size()));
    if (block == nullptr) heap.blocks().note("null although everything was freed");
    give(block);
  }

  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    const int got = heap.fill_quietly();
    if (got != 1) return std::to_string(got) + " blocks can be allocated, and one was free";
    return heap.problem();
  }

 private:
  alignas(8) std::uint32_t ended_ = 0;
};

/// Lanes take all that there is of one size, are refused the others, and free everything. What they
/// concluded from their nulls must not outlive that: `refused_at_rest` is the verdict.
class refused_and_freed : public heap_world {
 public:
  using heap_world::heap_world;

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    first_ = seed % sizes();
    // Ends: of the first size, no heap holds so many.
    while (first_ != 0 && heap.room(first_) == ledger::most_blocks) --first_;
  }

  void lane() {
    std::vector<std::byte*> mine;
    while (std::byte* const block = heap.take(heap.size(first_))) mine.push_back(block);
    for (std::size_t i = 1; i < sizes(); ++i) give(heap.take(heap.size(first_ + i)));
    for (std::byte* const block : mine) give(block);
  }

 private:
  std::size_t sizes() const { return heap.how().sizes.size(); }

  std::size_t first_ = 0;
};

/// Two lanes of a warp, one of which frees a block, and a lane of another warp all want one; three
/// are free then. The lanes of the warp may be served together by the one that freed nothing: what
/// the other has freed must come before what is taken for it, or the third lane sees all as taken
/// that it sees at all.
class freed_by_a_member : public heap_world {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit freed_by_a_member(const any_setup& how) : heap_world(how) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const block = heap.take(heap.size(0))) all.push_back(block);
      give(all[0]);
      give(all[1]);
      give(heap.take(heap.size(0)));  // so that these two are where lanes look first
      last_ = all.back();
    });
    heap.blocks().remove(last_);  // it will be freed
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.adopt(last_, heap.size(0));
  }

  void lane() {
    const auto rank = simt::thread_rank();
    if (rank == 1) give(last_);
    if (rank < 3) give(must_take(heap.size(0)));
  }

 private:
  std::byte* last_ = nullptr;
};

/// All of a full heap is held, and each lane frees a block and wants one again. Lanes of a warp may
/// free together, and one of them counts what is free for all: a lane that goes on before that is
/// refused what it has just freed. Half of the blocks are the first ones, which lie together, and
/// half the last ones.
class freed_and_taken_again : public heap_world {
 public:
  explicit freed_and_taken_again(const any_setup& how) : heap_world(how) {
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(heap.size(0))) held_.push_back(block);
    });
    held_.erase(held_.begin() + case_lanes / 2, held_.end() - case_lanes / 2);
    for (std::byte* const block : held_) heap.blocks().remove(block);
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const block : held_) heap.adopt(block, heap.size(0));
  }

  void lane() {
    std::byte* block = held_[simt::thread_rank()];
    for (int round = 0; round < 2 && block != nullptr; ++round) {
      give(block);
      block = must_take(heap.size(0));
    }
  }

 private:
  std::vector<std::byte*> held_;
};

}  // namespace

void add_end_of_memory_cases(const any_setup& how, std::vector<named_case>& cases) {
  using unused = sizes_meet<remainder::unused>;
  for (named_case& added : cases_without_frees(how)) cases.push_back(std::move(added));
  if (how.exact_for_one_size && !how.exact) {
    constexpr std::size_t only_the_first = 1;
    constexpr int most = ledger::most_blocks;
    cases.push_back(case_of<unused>("one_size_meets", how, 1, only_the_first));
    cases.push_back(case_of<unused>("one_size_with_room", how, most, only_the_first));
  }
  if (how.freed.serves != reuse_at_rest::none) {
    cases.push_back(case_of<refused_and_freed>("refused_and_freed", how));
  }
  if (how.frees && how.reuses) {
    using freed = sizes_meet<remainder::freed>;
    cases.push_back(case_of<freed>("sizes_meet_in_freed", how, 8));
    cases.push_back(case_of<sizes_alternate>("sizes_alternate", how, 8));
    if (how.exact_beside_frees) {
      for (named_case& added : cases_beside_frees(how)) cases.push_back(std::move(added));
    }
  }
}

std::vector<named_case> cases_without_frees(const any_setup& how) {
  using unused = sizes_meet<remainder::unused>;
  return {case_of<unused>("sizes_meet", how, 1), case_of<unused>("sizes_meet_with_room", how, 3)};
}

std::vector<named_case> cases_beside_frees(const any_setup& how) {
  return {case_of<freed_by_a_member>("freed_by_a_member", how),
          case_of<freed_and_taken_again>("freed_and_taken_again", how)};
}

std::unique_ptr<scenario> large_among_small(const any_setup& how, int blocks) {
  return std::make_unique<scenario_over<large_among_small_ones>>(how, blocks);
}

std::unique_ptr<scenario> sizes_take_turns(const any_setup& how) {
  return std::make_unique<scenario_over<sizes_in_turn>>(how);
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
