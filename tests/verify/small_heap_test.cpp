// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explorer's own tools: what they say about a region that is too small, and what a replay
// shows.
#include "small_heap.hpp"

#include "exploration.hpp"
#include "manager_cases.hpp"
#include "managers/fdg_malloc/setups.hpp"
#include "managers/warpheap/setups.hpp"

#include "warpheap/managers/bump/bump.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

using one_counter = bump<bump_config{.counters = bump_counters::one}>;

/// Hands out memory that is not the heap's.
struct generous : one_counter {
  using one_counter::one_counter;
  void* malloc(std::size_t /*bytes*/) const { return elsewhere; }
  alignas(16) static inline std::byte elsewhere[64];
};

/// No warp heap can begin.
struct full_from_the_start : small_fdg_malloc {
  using small_fdg_malloc::small_fdg_malloc;
  warp_heap begin(const simt::group& /*lanes*/) const { return {}; }
};

std::unique_ptr<scenario> case_named(const std::string& name,
                                     const std::vector<named_case>& cases) {
  for (const named_case& one : cases) {
    if (one.name == name) return one.make();
  }
  return nullptr;
}

/// A case of every manager, by name.
template <class M>
std::unique_ptr<scenario> case_of_manager(const std::string& name, const setup<M>& how) {
  return case_named(name, manager_cases(how));
}

constexpr int room = 1280;
const std::vector<std::uint32_t> sizes{16, 32, 24};
// What a counter of 128 bytes leaves.
const std::vector<block_count> holds{(room - 128) / 16, (room - 128) / 32, (room - 128) / 32};

TEST(small_heap, a_region_without_room_for_the_manager_is_too_small) {
  EXPECT_THAT([] { any_heap heap(setup<one_counter>{.region_bytes = 16}); },
              ThrowsMessage<invalid_argument>(
                  HasSubstr("bump: the region of 16 bytes is too small for the explorer")));
}

TEST(small_heap, a_region_without_room_for_the_cases_is_too_small) {
  constexpr int left = 512 - 128;
  const setup<one_counter> tight{
      .region_bytes = 512, .sizes = sizes, .holds = {left / 16, left / 32, left / 32}};
  EXPECT_THAT([&] { case_of_manager("malloc_free", tight); },
              ThrowsMessage<invalid_argument>(HasSubstr(
                  "request 15 of 24 that its cases make at once, of 16 bytes, has no block")));
}

TEST(small_heap, a_block_that_the_layout_has_room_for_and_no_lane_gets_is_found) {
  const auto problem = [](std::vector<block_count> said) {
    return any_heap(setup<one_counter>{.region_bytes = room, .sizes = sizes, .holds = said})
        .problem();
  };
  EXPECT_EQ(problem({72, 36, 36}), "");
  EXPECT_EQ(problem({72, 37, 36}),
            "an empty heap gives 36 blocks of 32 bytes, and its layout has room for 37");
  EXPECT_EQ(problem({71, 36, 36}),
            "an empty heap gives 72 blocks of 16 bytes, and its layout has room for 71");
  EXPECT_EQ(problem({72, {35, 36}, {36, 37}}), "");
  EXPECT_EQ(problem({72, 36, {37, 40}}),
            "an empty heap gives 36 blocks of 24 bytes, and its layout has room for 37 to 40");
  EXPECT_EQ(problem({72, 36, {20, 35}}),
            "an empty heap gives 36 blocks of 24 bytes, and its layout has room for 20 to 35");
}

TEST(small_heap, a_setup_must_say_for_each_size_how_many_blocks_there_are) {
  const auto make = [](std::vector<block_count> said) {
    any_heap(setup<one_counter>{.region_bytes = room, .sizes = sizes, .holds = said});
  };
  const auto is_refused = ThrowsMessage<invalid_argument>(
      HasSubstr("bump: the setup must say how many blocks of each of its 3 sizes"));
  EXPECT_THAT([&] { make({}); }, is_refused);
  EXPECT_THAT([&] { make({72}); }, is_refused);
  EXPECT_THAT([&] { make({72, 36}); }, is_refused);
  EXPECT_THAT([&] { make({72, 36, 36, 36}); }, is_refused);
}

TEST(small_heap, a_setup_says_nothing_of_a_heap_without_an_end) {
  const auto make = [](std::vector<block_count> said) {
    any_heap(
        setup<one_counter>{.region_bytes = room, .sizes = sizes, .holds = said, .ends = false});
  };
  EXPECT_NO_THROW(make({}));
  EXPECT_THAT(
      [&] {
        make({72, 36, 36});
      },
      ThrowsMessage<invalid_argument>(HasSubstr("bump: the heap never ends")));
}

TEST(small_heap, a_setup_must_say_why_freed_memory_does_not_serve_all_sizes) {
  const auto make = [](const char* why) {
    any_heap(setup<one_counter>{.region_bytes = room,
                                .sizes = sizes,
                                .holds = holds,
                                .freed = {reuse_at_rest::of_its_size, why}});
  };
  EXPECT_NO_THROW(make("chunks keep their size"));
  EXPECT_THAT([&] { make(""); }, ThrowsMessage<invalid_argument>(HasSubstr(
                                     "bump: setup::freed must say why freed memory does not")));
}

// For each number of words, so that the lane too far is not always the one that may be there.
TEST(small_heap, an_array_that_is_formatted_one_word_too_far_is_found) {
  for (std::uint64_t words = 1; words < 30; ++words) {
    std::vector<std::uint64_t> memory(words + 2);
    const region all{reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    for (const std::uint64_t end : {words, words + 1}) {
      const auto format = [&](std::uint64_t rank, std::uint64_t count) {
        if (rank == 0) memory[words] = 1;  // what comes behind the array
        for (std::uint64_t i = rank; i < end; i += count) memory[i] = 0;
      };
      EXPECT_EQ(formats_in_any_order(all, format), end == words) << words;
    }
  }
}

TEST(replay, shows_each_operation_with_its_lane_size_and_result) {
  const auto explored = case_of_manager(
      "mixed_sizes", setup<one_counter>{.region_bytes = room, .sizes = sizes, .holds = holds});
  std::string trace;
  EXPECT_EQ(explored->run({simt::strategy::uniform, 1}, &trace), "");
  EXPECT_THAT(trace, HasSubstr("block 1 thread 3: malloc of 16 bytes: block at offset"));
  EXPECT_THAT(trace, HasSubstr("block 0 thread 0: malloc of 32 bytes: block at offset"));
  EXPECT_THAT(trace, Not(HasSubstr("WRONG")));
}

TEST(replay, shows_where_warp_heaps_begin_are_tidied_up_and_end) {
  const auto explored =
      case_named("tidied_up", warp_heap_cases(small_fdg(warp_heaps_of<small_fdg_malloc>())));
  std::string trace;
  EXPECT_EQ(explored->run({simt::strategy::sticky, 1}, &trace), "");
  for (const std::string lane : {"block 0 thread 0: ", "block 0 thread 1: "}) {
    EXPECT_THAT(trace, HasSubstr(lane + "begin: warp heap 1\n"));
  }
  // Lane 0 has taken all memory, and lane 1 a block after that was freed.
  EXPECT_THAT(trace, HasSubstr("thread 0: tidy_up of warp heap 1, blocks held: 1\n"));
  EXPECT_THAT(trace, HasSubstr("thread 1: tidy_up of warp heap 1, blocks held: 0\n"));
  EXPECT_THAT(trace, HasSubstr("thread 0: end of warp heap 1, blocks held: 0\n"));
  EXPECT_THAT(trace, HasSubstr("thread 1: end of warp heap 1, blocks held: 1\n"));
}

TEST(replay, shows_that_a_warp_heap_could_not_begin) {
  const auto explored =
      case_named("tidied_up", warp_heap_cases(small_fdg(warp_heaps_of<full_from_the_start>())));
  std::string trace;
  EXPECT_THAT(explored->run({simt::strategy::sticky, 1}, &trace), HasSubstr("memory is free"));
  EXPECT_THAT(trace, HasSubstr("block 0 thread 1: begin: null\n"));
  EXPECT_THAT(trace, Not(HasSubstr("end of"))) << "what has not begun is not ended";
}

TEST(replay, shows_how_much_a_heap_grows) {
  const auto explored = case_named("growths_at_once",
                                   growth_cases(growing_chunks<warpheap_manager<patient_lanes>>()));
  std::string trace;
  EXPECT_EQ(explored->run({simt::strategy::sticky, 1}, &trace), "");
  // Two of the four growths that warps ask for have room, of 11 chunks of 256 bytes each.
  EXPECT_THAT(trace, HasSubstr(": grow by 2816 bytes: grown\n"));
  EXPECT_THAT(trace, HasSubstr(": grow by 2816 bytes: refused\n"));
}

TEST(replay, shows_where_a_check_failed) {
  constexpr int endless = ledger::most_blocks;
  const auto explored =
      case_of_manager("mixed_sizes", setup<generous>{.region_bytes = room,
                                                     .sizes = sizes,
                                                     .holds = {endless, endless, endless},
                                                     .exact = false});
  std::string trace;
  const std::string wrong = explored->run({simt::strategy::sticky, 1}, &trace);
  EXPECT_THAT(wrong, HasSubstr("outside the heap"));
  const auto failed = trace.find("WRONG from here on: a block outside the heap");
  ASSERT_NE(failed, std::string::npos) << trace;
  EXPECT_LT(trace.find("malloc of"), failed) << "the operation stands before its failure";
  EXPECT_EQ(trace.find("WRONG", failed + 1), std::string::npos) << "the first failure only";
}

// The combinations of a case share a scenario, and a finding is replayed in a new one.
TEST(replay, says_the_same_after_other_schedules) {
  const any_setup how = setup<one_counter>{.region_bytes = room, .sizes = sizes, .holds = holds};
  for (const named_case& each : manager_cases(how)) {
    const auto used = each.make();
    for (const auto& [memory_name, memory] : memories) {
      for (const auto& [strategy_name, how_chosen] : strategies) {
        std::string of_used;
        std::string of_new;
        EXPECT_EQ(used->run({how_chosen, 7, memory}, &of_used), "") << each.name;
        EXPECT_EQ(each.make()->run({how_chosen, 7, memory}, &of_new), "") << each.name;
        EXPECT_EQ(of_used, of_new) << each.name << ' ' << strategy_name << ' ' << memory_name;
      }
    }
  }
}

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
