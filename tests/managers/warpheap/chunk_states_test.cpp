// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The states of several chunks at a time.
#include "machine.hpp"

#include "warpheap/managers/warpheap/chunk_states.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using states = warpheap_chunk_states;
constexpr std::uint32_t none_in_use = chunk_owner::first_class;  // of class 0
constexpr std::uint32_t in_use = none_in_use | states::word_in_use;

/// States of 98 chunks, and what follows them.
class chunk_states : public ::testing::Test {
 protected:
  static constexpr std::uint32_t universe = 98;
  static constexpr std::uint32_t behind = 777;

  chunk_states() {
    words.fill(behind);
    machine().launch({1, 1}, [this] { all.format(universe, 0, 1); });
  }
  int left_empty(std::uint32_t first, std::uint32_t owner) const {
    int count = 0;
    machine().launch({1, 1}, [&] { count = all.left_empty(first, universe, owner); });
    return count;
  }
  std::uint64_t used(std::uint32_t first, std::uint32_t size, std::uint32_t of = universe) const {
    std::uint64_t bits = 0;
    machine().launch({1, 1}, [&] {
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        bits |= all.in_use(first, of, rank, size);
      }
    });
    return bits;
  }

  alignas(128) std::array<std::uint32_t, 132> words{};
  states all{words.data()};
};

TEST_F(chunk_states, are_written_four_at_a_time_and_no_further) {
  ASSERT_EQ(states::states_for(universe), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(words[i], 0u) << i;
  EXPECT_EQ(words[100], behind);
}

TEST_F(chunk_states, of_other_classes_that_have_no_word_in_use_are_left_empty) {
  EXPECT_EQ(left_empty(32, none_in_use + 1), 0);  // nobody's
  for (std::uint32_t i = 32; i < 64; ++i) words[i] = none_in_use;
  EXPECT_EQ(left_empty(32, none_in_use + 1), 32);
  EXPECT_EQ(left_empty(32, none_in_use), 0);
  EXPECT_EQ(left_empty(0, none_in_use + 1), 0);
  EXPECT_EQ(left_empty(64, none_in_use + 1), 0);
  words[32] = words[63] = in_use;
  words[40] = chunk_owner::run;
  EXPECT_EQ(left_empty(32, none_in_use + 1), 29);
}

// What follows the states of a heap looks like those of a class here.
TEST_F(chunk_states, end_with_the_heap) {
  for (std::uint32_t i = 96; i < words.size(); ++i) words[i] = none_in_use;
  EXPECT_EQ(left_empty(96, none_in_use + 1), 4);
  for (std::uint32_t i = 96; i < words.size(); ++i) words[i] = in_use;
  EXPECT_EQ(used(64, 1), std::uint64_t{0xf} << 32);
  EXPECT_EQ(used(64, 1, 96), 0u);
}

TEST_F(chunk_states, are_looked_at_by_any_number_of_callers) {
  for (const std::uint32_t size : {1u, 2u, 7u, 16u, 31u, 32u}) {
    words.fill(none_in_use);
    for (std::uint32_t i = 64; i < universe; ++i) words[i] = in_use;  // of the next ones
    EXPECT_EQ(used(0, size), 0u) << size;
    words.fill(none_in_use);
    for (const std::uint32_t i : {0u, 3u, 4u, 31u, 32u, 63u, 64u}) words[i] = in_use;
    EXPECT_EQ(used(0, size), std::uint64_t{0x8000000180000019}) << size;
    EXPECT_EQ(used(64, size), 1u) << size;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
