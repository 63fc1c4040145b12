// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a class takes a chunk, and what of the heap is known to be left when it decides.
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = warpheap_manager<>;
using growth = warpheap_class_growth<warpheap_config{}>;
constexpr std::size_t chunk_bytes = 16_KiB;

/// A heap of at most 64 chunks, which one word of the pool covers. Large blocks leave so few chunks
/// that no class of 200 bytes may grow ahead.
class few_chunks_left : public ::testing::Test {
 protected:
  few_chunks_left() {
    const std::uint32_t all = parts().universe();
    EXPECT_TRUE(all > 32 && all <= 64) << all;
    EXPECT_NE(take_one(heap_, (all - left) * chunk_bytes), nullptr);
    in_a_lane([&] { EXPECT_LT(parts().eighths_left(), 4); });
  }
  const manager::supply& parts() const { return all_.parts(); }
  std::uint32_t chunks_of_class() const { return parts().classes().of(of_).population; }
  template <class Function>
  void in_a_lane(const Function& what) const {
    machine().launch({1, 1}, what);
    machine().synchronize();
  }

  static constexpr std::uint32_t left = 16;
  static constexpr std::uint32_t bytes = 200;
  heap<manager> heap_{machine(), 1_MiB};
  manager all_ = heap_.ref().manager();
  std::uint32_t of_ = parts().classes().sizes().class_of(bytes);
};

TEST_F(few_chunks_left, no_class_grows_before_it_is_full) {
  in_a_lane([&] {
    for (int i = 0; i < 4000; ++i) {
      EXPECT_EQ(growth(parts(), of_).grow_ahead().chunk, growth::none);
    }
  });
  EXPECT_EQ(chunks_of_class(), 0u);
}

// Lanes alone, parts of a warp and whole ones.
TEST_F(few_chunks_left, a_class_has_as_many_chunks_as_its_blocks_fill) {
  const std::uint32_t slots = chunk_bytes / 208;
  std::uint32_t taken = 0;
  for (const std::uint32_t lanes : {1u, 32u, 7u}) {
    for (int i = 0; i < 40; ++i) {
      taken += static_cast<std::uint32_t>(take(heap_, bytes, lanes).size());
      ASSERT_EQ(chunks_of_class(), (taken + slots - 1) / slots) << lanes << " lanes, turn " << i;
    }
  }
  expect_valid(heap_);
}

TEST(warpheap_supply, an_empty_heap_is_whole_whatever_its_number_of_chunks) {
  for (const std::uint32_t chunks : {1u, 2u, 8u, 62u, 63u, 64u}) {
    const heap<manager> heap(machine(), 2_MiB, {.initial_bytes = chunks * chunk_bytes});
    machine().launch({1, 1},
                     [&] { EXPECT_EQ(heap.ref().manager().parts().eighths_left(), 8) << chunks; });
  }
}

// A multiprocessor may know the number of chunks of before the heap has grown.
TEST(warpheap_supply, a_chunk_that_is_empty_is_noted_where_chunks_are_not_known_of_yet) {
  const heap<manager> heap(machine(), 2_MiB);
  const manager::supply parts = heap.ref().manager().parts();
  const std::uint32_t backed = parts.backed();
  ASSERT_GT(backed, 64u);
  const block_list all = take_all(heap, chunk_bytes / 2, 32);
  for (const std::uint32_t known : {64u, 63u, 10u}) {
    parts.whole().backed = known;
    give(heap, {all[all.size() - 2], all[all.size() - 1]});
    parts.whole().backed = backed;
    expect_valid(heap);
    machine().launch({1, 1}, [&] { EXPECT_TRUE(parts.empties().any()); });
    EXPECT_EQ(take(heap, chunk_bytes / 2, 2).size(), 2u);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
