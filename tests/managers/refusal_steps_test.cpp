// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served, by steps of the explorer: where the manager's bound is
// a number of searches, looks or attempts, which others spoil one after the other.
#include "refusal_steps.hpp"
#include "rubbish.hpp"
#include "untouched_memory.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap full of blocks of one size, with none left of a larger one either.
template <class M>
class full_heap {
 public:
  full_heap(std::size_t heap_bytes, std::size_t small, std::size_t large)
      : memory_(heap_bytes),
        all_(memory_.all(), small_machine(1), {}),
        small_(small),
        large_(large) {
    in_a_lane([this] {
      all_.format(0, 1);
      while (void* const block = all_.malloc(small_)) blocks_.push_back(block);
      while (all_.malloc(large_) != nullptr) {
      }
    });
  }

  const M& manager() const { return all_; }
  region memory() const { return memory_.all(); }

  /// Frees `count` of the small blocks, every other one from number `first` on.
  void give(std::size_t first, std::size_t count) {
    in_a_lane([&] {
      for (std::size_t i = 0; i < count; ++i) all_.free(blocks_[first + 2 * i]);
    });
  }
  /// Of that many lanes, which all ask for the larger size and get null.
  std::uint64_t steps_of(std::uint32_t lanes) {
    return steps({lanes, 1}, [this] { EXPECT_EQ(all_.malloc(large_), nullptr); });
  }
  /// Of one of them, beside a lane that takes and frees blocks of `other` bytes.
  std::uint64_t steps_beside(std::size_t other) {
    return steps_of_a_refusal([this] { return all_.malloc(large_); },
                              [&] {
                                void* const block = all_.malloc(other);
                                if (block != nullptr) all_.free(block);
                              });
  }

 private:
  rubbish memory_;
  M all_;
  std::size_t small_;
  std::size_t large_;
  std::vector<void*> blocks_;
};

constexpr std::uint32_t crowd = 8;

/// No lane of a crowd takes more than half as many steps again as a lone request that finds out
/// that there is nothing. Returns the steps of that one.
template <class M>
std::uint64_t expect_no_more_in_a_crowd(full_heap<M>& heap) {
  heap.give(0, 1);
  const std::uint64_t lone = heap.steps_of(1);
  heap.give(2, 1);
  EXPECT_LE(heap.steps_of(crowd), crowd * lone * 3 / 2) << "of " << lone;
  return lone;
}

// Each of its searches is spoilt by what the other lane frees. That one makes half of the steps,
// and probing takes about as many as a search.
TEST(refusals, scatter_alloc_searches_four_times) {
  full_heap<scatter_alloc<>> heap(64_KiB, 16, 2048);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  heap.give(4, 1);
  const std::uint64_t beside = heap.steps_beside(16);
  EXPECT_GT(beside, 2 * lone) << "nothing was spoilt";
  EXPECT_LE(beside, 2 * (4 + 1) * lone);
}

// So are its rounds, beside a lane that finds one of many short places at once.
TEST(refusals, halloc_searches_eight_times) {
  full_heap<halloc<>> heap(1_MiB, 16, 128);
  expect_no_more_in_a_crowd(heap);
  heap.give(100, 5000);
  const std::uint64_t lone = heap.steps_of(1);
  heap.give(20000, 1);
  const std::uint64_t beside = heap.steps_beside(16);
  EXPECT_GT(beside, 2 * lone) << "nothing was spoilt";
  EXPECT_LE(beside, 2 * (8 + 1) * lone);
}

// As if a lane moved blocks of the size all the time.
TEST(refusals, xmalloc_looks_sixteen_times) {
  full_heap<xmalloc<>> heap(256_KiB, 64, 64);
  const std::uint64_t lone = heap.steps_of(1);
  EXPECT_LE(heap.steps_of(crowd), crowd * lone * 3 / 2);
  region_cursor cursor(heap.memory(), "the same");
  cursor.take<std::uint64_t>(1, 128);  // trims
  *cursor.take<std::uint64_t>(1, 128) += sync::moves::begins;
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 2 * lone) << "nothing was spoilt";
  EXPECT_LE(spoilt, 16 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

// As if two lanes with units were about to take a pair of buddies, which cannot be merged before.
TEST(refusals, bulk_allocator_tries_sixteen_times) {
  full_heap<bulk_allocator<>> heap(1_MiB, 16, 4096);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  bulk_parts::arenas<bulk_allocator_config{}> same;
  region_cursor cursor(heap.memory(), "the same");
  same.lay_out(cursor, heap.manager().pages(), 1);
  in_a_lane([&] {
    same.buddy().nodes(0).insert(8);
    same.give_node(0, 9);
    EXPECT_EQ(same.buddy().units(0).take_up_to(1), 1u);
  });
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 16 * lone) << "nothing was spoilt";
  // Reclaiming looks at the lists of its arena and at the pairs of each order.
  EXPECT_LE(spoilt, 16 * 4 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

// As if a lane moved something all the time.
TEST(refusals, dynasoar_looks_sixty_four_times) {
  full_heap<dynasoar<>> heap(32_KiB, 16, 512);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  const auto same = dynasoar_blocks<dynasoar<>::shape>::lay_out(
      heap.memory(), "the same", [](region_cursor&, std::uint32_t) {});
  in_a_lane([&] { same.state().announce(); });
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 64u);
  EXPECT_LE(spoilt, 64 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
