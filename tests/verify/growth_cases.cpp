// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "growth_cases.hpp"

#include "ledger.hpp"
#include "manager_world.hpp"
#include "untracked.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// A heap that is full but for a few blocks of the first size, and can grow.
class growing_world : public heap_world {
 public:
  growing_world(const any_setup& how, int free_blocks) : heap_world(how), free_(free_blocks) {
    if (how.grows.steps < growth_room) {
      throw invalid_argument(how.name + ": its region has room for " +
                             std::to_string(how.grows.steps) +
                             " steps of growth, and the cases make " + std::to_string(growth_room));
    }
    compare_growth(how.grows);
    heap.restore();
    heap.fill_quietly();
    heap.empty_quietly(heap.capacity() - free_);
    heap.keep_state();
  }

 protected:
  static simt::group alone() { return simt::group(simt::lane_mask::of(simt::lane_id())); }

  bool grow(const simt::group& together, int steps) {
    any_manager& grown = heap.manager();
    const std::size_t bytes = static_cast<std::size_t>(steps) * grown.growth_step();
    const bool has_grown = grown.grow(together, bytes);
    remark_step([&] {
      return "grow by " + std::to_string(bytes) + " bytes: " + (has_grown ? "grown" : "refused");
    });
    return has_grown;
  }

  /// Once everything is freed, all that was free or was added can be allocated, and no more.
  std::string recount(int steps) {
    if (!wrong_growth_.empty()) return wrong_growth_;
    std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    heap.empty_quietly();
    heap.fill_quietly();
    const int there = free_ + steps * heap.how().grows.blocks_a_step;
    if (heap.blocks().count() != there) {
      return std::to_string(heap.blocks().count()) + " blocks can be allocated, and " +
             std::to_string(there) + " were free or were added";
    }
    return heap.problem();
  }

  int reserve() const { return heap.how().grows.steps; }

 private:
  /// Notes it if a heap that has grown as far as it can is not what the layout has room for.
  void compare_growth(const growth_count& room) {
    int steps = 0;
    heap.run_quietly([&] {
      while (grow(alone(), 1)) ++steps;
    });
    const int blocks = heap.fill_quietly();
    const int expected = heap.capacity() + room.steps * room.blocks_a_step;
    if (steps != room.steps || blocks != expected) {
      wrong_growth_ = "the heap grows by " + std::to_string(steps) + " steps to " +
                      std::to_string(blocks) + " blocks, and its layout has room for " +
                      std::to_string(room.steps) + " and " + std::to_string(expected);
    }
  }

  int free_;
  std::string wrong_growth_;
};

/// One lane grows twice. The others take, and every second one frees again. Null is right before
/// the growth only: what is added is enough for all of them.
class growth_while_others_take : public growing_world {
 public:
  explicit growth_while_others_take(const any_setup& how) : growing_world(how, 2) {}

  void reset(std::uint64_t seed) {
    growing_world::reset(seed);
    grown_ = 0;
  }

  void lane() {
    const auto rank = simt::thread_rank();
    const simt::atomic_ref<std::uint32_t> grown(grown_);
    if (rank == 0) {
      if (!grow(alone(), growth_room - 1)) heap.blocks().note("the heap does not grow");
      grown.store(1, simt::order::release);
      if (!grow(alone(), 1)) heap.blocks().note("the heap does not grow again");
      return;
    }
    for (std::uint64_t round = 0; round < 2; ++round) {
      const bool sure = grown.load(simt::order::acquire) != 0;
      std::byte* const block = heap.take(heap.size(rank + round));
      if (block == nullptr && sure) heap.blocks().note("null although the heap has grown");
      if (rank % 2 == 0) give(block);
    }
  }

  std::string verdict() { return recount(growth_room); }

 private:
  alignas(8) std::uint32_t grown_ = 0;
};

/// A full heap: the lanes of one warp ask until they get a block; those of the other one grow
/// together.
class wait_for_growth : public growing_world {
 public:
  explicit wait_for_growth(const any_setup& how) : growing_world(how, 0) {}

  void lane() {
    if (simt::block_rank() == 0) {
      if (!grow(simt::warp(), steps)) heap.blocks().note("the heap does not grow");
    } else {
      // Ends: what is added is enough for all of them.
      while (heap.take(heap.size(simt::thread_rank())) == nullptr) simt::backoff(1);
    }
  }

  std::string verdict() { return recount(steps); }

 private:
  static constexpr int steps = case_lanes / 2;
};

/// Two warps grow at once, twice each, and there is room for two of these four growths. Another one
/// wants runs, which lie in what was added, or across its beginning.
class growths_at_once : public growing_world {
 public:
  static constexpr simt::grid shape{3, 2};

  explicit growths_at_once(const any_setup& how) : growing_world(how, 4) {}

  void reset(std::uint64_t seed) {
    growing_world::reset(seed);
    grown_ = 0;
  }

  void lane() {
    if (simt::block_rank() == 2) {
      const auto run = static_cast<std::uint32_t>(2 * heap.manager().growth_step());
      for (int round = 0; round < 2; ++round) give(heap.take(run));
      return;
    }
    for (int round = 0; round < 2; ++round) {
      if (grow(simt::warp(), steps()) && simt::warp().is_leader()) ++grown_;
    }
  }

  std::string verdict() {
    if (grown_ != 2) return std::to_string(grown_) + " growths had room, which is for two";
    return recount(2 * steps());
  }

 private:
  /// More than a third of what is left.
  int steps() const { return reserve() / 2; }

  untracked<int> grown_ = 0;
};

}  // namespace

std::vector<named_case> growth_cases(const any_setup& how) {
  return {
      case_of<growth_while_others_take>("growth_while_others_take", how),
      case_of<wait_for_growth>("wait_for_growth", how),
      case_of<growths_at_once>("growths_at_once", how),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
