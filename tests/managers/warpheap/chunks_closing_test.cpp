// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A lane that takes an empty chunk out of the set, and then finds a word of it in use, leaves it
// to the lane that counts the word out: that one must see that the chunk is not in the set any
// more. The fence stands for what a GPU orders because the next access depends on the count.
TEST(warpheap_closing, a_lane_that_counts_out_sees_what_came_before_an_attempt_in_vain) {
  constexpr std::uint32_t owner = chunk_owner::first_class;
  std::uint32_t state = 0;
  std::uint64_t words[16]{};
  const warpheap_chunks<warpheap_config{}> chunks(&state, words, 256);
  std::uint32_t out_of_set = 0;
  std::uint32_t closes = 0;
  bool sees = false;
  const auto lane = [&] {
    const simt::atomic_ref taken(out_of_set);
    if (simt::block_rank() == 0) {
      taken.store(1, simt::order::relaxed);
      closes = chunks.begin_closing(0);
      return;
    }
    EXPECT_TRUE(chunks.count_out(0));
    simt::fence(simt::order::acquire);
    sees = taken.load(simt::order::relaxed) != 0;
  };
  simt::explorer two({2, 1}, 1000);
  int in_vain = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    state = owner | decltype(chunks)::word_in_use;
    out_of_set = 0;
    const simt::schedule order{simt::strategy::uniform, seed, simt::memory_model::weak};
    ASSERT_EQ(two.run(order, lane).stuck, "");
    if (closes != chunk_owner::nobody) continue;
    ++in_vain;
    ASSERT_TRUE(sees) << seed;
  }
  EXPECT_GT(in_vain, 20);
}

// Whichever of them is first, and whatever words were in use in between.
TEST(warpheap_closing, one_lane_at_a_time_closes_a_chunk) {
  constexpr std::uint32_t owner = chunk_owner::first_class;
  std::uint32_t state = owner;
  std::uint64_t words[16]{};
  const warpheap_chunks<warpheap_config{}> chunks(&state, words, 256);
  simt::explorer lanes({1, 1}, 1000);
  const auto outcome = lanes.run({simt::strategy::sticky, 1}, [&] {
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(chunks.begin_closing(0), owner);
      EXPECT_EQ(chunks.begin_closing(0), chunk_owner::nobody);
      chunks.count_in(0);
      EXPECT_EQ(chunks.begin_closing(0), chunk_owner::nobody);
      EXPECT_FALSE(chunks.end_closing(0)) << "a word is in use";
      EXPECT_TRUE(chunks.count_out(0));
      EXPECT_EQ(chunks.begin_closing(0), chunk_owner::nobody);
      EXPECT_TRUE(chunks.give_up_closing(0));
    }
    chunks.count_in(0);
    EXPECT_EQ(chunks.begin_closing(0), chunk_owner::nobody);
    EXPECT_FALSE(chunks.give_up_closing(0));
    EXPECT_TRUE(chunks.count_out(0));
    EXPECT_EQ(chunks.begin_closing(0), owner);
    EXPECT_TRUE(chunks.end_closing(0));
    EXPECT_EQ(chunks.begin_closing(0), chunk_owner::nobody) << "nobody's";
  });
  EXPECT_EQ(outcome.stuck, "");
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
