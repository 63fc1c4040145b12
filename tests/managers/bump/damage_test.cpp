// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an inspection says about counters, and what formatting leaves alone.
#include "damage.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bump/bump.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <numeric>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using single = bump<bump_config{.counters = bump_counters::one}>;
using sharded = bump<bump_config{.counters = bump_counters::sharded}>;

TEST(bump_damage, sees_words_that_are_wrong) {
  const exposed_heap<single> subject(8 * 1024);
  const decltype(subject)::answers fresh = {{1, {1, 3}}};
  EXPECT_EQ(subject.guarded_words(~0u), fresh) << "at the bound itself";
  test::take(subject.heap(), 100, 3);
  expect_valid(subject.heap());
  const decltype(subject)::answers expected = {{1, {1, 3}}};
  EXPECT_EQ(subject.guarded_words(~0u), expected);
}

TEST(bump, what_was_handed_out_is_in_use_even_if_more_was_asked_for) {
  const exposed_heap<single> subject(8 * 1024);
  EXPECT_EQ(subject.heap().stats().blocks_in_use, 0u);
  test::take(subject.heap(), 100, 3);
  EXPECT_EQ(subject.heap().stats().blocks_in_use, 1u);  // the part of the heap that is used
  EXPECT_EQ(subject.heap().stats().bytes_in_use, 3u * 112);
  while (test::take_one(subject.heap(), 100) != nullptr) {
  }
  EXPECT_EQ(subject.heap().stats().bytes_in_use, subject.heap().ref().manager().largest_block());
}

TEST(bump, format_writes_the_counters_and_no_block) {
  rubbish memory(4_KiB);
  const sharded all(memory.all(), machine_of(2), {});
  machine().launch({1, 1}, [&] { all.format(0, 1); });
  EXPECT_TRUE(memory.is_untouched_from(memory.all().base + 2 * 128));
  EXPECT_FALSE(memory.is_untouched_from(memory.all().base + 128));
}

// A shard has room for three of four blocks that lanes ask for together.
TEST(bump, lanes_that_find_their_shard_full_go_on_to_the_next_one) {
  const rubbish memory(256 + 2 * 48);
  const sharded all(memory.all(), machine_of(2), {});
  ASSERT_EQ(all.largest_block(), 48u);
  std::array<std::uint32_t, 4> served{};
  machine().launch({1, 1}, [&] { all.format(0, 1); });
  machine().launch({1, 4}, [&] {
    if (all.malloc(16) != nullptr) served[simt::thread_rank()] = 1;
    if (all.malloc(16) != nullptr) ++served[simt::thread_rank()];
  });
  EXPECT_EQ(std::accumulate(served.begin(), served.end(), 0u), 6u);
}

// Before it wraps around and hands out memory again.
TEST(bump, a_counter_that_has_run_on_is_set_back_to_the_end) {
  const rubbish memory(4_KiB);
  const single all(memory.all(), machine_of(2), {});
  auto& counter = *reinterpret_cast<std::uint64_t*>(memory.all().base);
  void* block = &counter;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    counter = std::uint64_t{1} << 61;
    block = all.malloc(16);
  });
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(counter, all.largest_block() / 16);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
