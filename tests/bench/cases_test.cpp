// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The cases over managers whose faults and virtues are known.
#include "bench/cases/random_walk_steps/requests.hpp"
#include "bench/cases/scattered_frees/requests.hpp"
#include "bench/host/support.hpp"
#include "tests/bench/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace {

TEST(CasesOverSlots, GoodManagerIsOk) {
  const auto row = run_slots("good", "alloc", {{"threads", "64"}, {"size_max", "1024"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 0u);
  EXPECT_EQ(row.get(bench::fields::corrupted), 0u);
  ASSERT_TRUE(row.get(bench::fields::malloc_ms).has_value());
  EXPECT_GT(row.get(bench::fields::malloc_ms)->first, 0);
  const auto free_ms = row.get(bench::fields::free_ms);
  ASSERT_TRUE(free_ms.has_value());
  EXPECT_GE(free_ms->max, free_ms->min);
}

TEST(CasesOverSlots, NullsAreCountedInAllRuns) {
  const auto row = run_slots("good", "alloc", {{"threads", "70"}, {"iterations", "4"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 6u * 5);
}

TEST(CasesOverSlots, WarpModeAsksOncePerWarp) {
  const auto row =
      run_slots("good", "alloc", {{"threads", "2112"}, {"mode", "warp"}, {"iterations", "1"}});
  EXPECT_EQ(row.get(bench::fields::null_returns), (2112u / 32 - 64) * 2);
}

TEST(CasesOverSlots, BlockThatIsHandedOutTwiceIsFound) {
  const auto row = run_slots("twice", "alloc", {{"threads", "64"}, {"iterations", "1"}});
  EXPECT_EQ(row.status, "failed");
  // Of each pair one is overwritten, and by addresses one overlaps, in both runs. (Freeing the
  // same slot twice leaves the other one used.)
  EXPECT_GE(row.get(bench::fields::corrupted).value(), 64u);
  ASSERT_TRUE(row.reason.has_value());
}

TEST(CasesOverSlots, CrookedBlocksAreFound) {
  const auto row = run_slots("crooked", "alloc", {{"threads", "32"}, {"iterations", "1"}});
  EXPECT_EQ(row.status, "failed");
  EXPECT_EQ(row.get(bench::fields::corrupted), 64u);
}

TEST(CasesOverSlots, OverlapWithoutAWrittenByteIsFound) {
  // Both ends of a block lie in the unwritten middle of others: only the addresses show it.
  const auto row = run_slots("interleaved", "alloc",
                             {{"threads", "2"}, {"size_max", "1000"}, {"iterations", "1"}});
  EXPECT_EQ(row.status, "failed");
  EXPECT_EQ(row.get(bench::fields::corrupted), 1u);
}

TEST(CasesOverSlots, WhatIsNotClaimedIsSkippedWithTheReason) {
  const auto too_large = run_slots("good", "alloc", {{"size_max", "1025"}});
  EXPECT_EQ(too_large.status, "skipped");
  EXPECT_EQ(too_large.reason, "1025 bytes are more than the largest block of good, which is 1024");
  const auto too_small = run_slots("huge", "alloc", {});
  EXPECT_EQ(too_small.status, "skipped");
  EXPECT_EQ(too_small.reason, "a heap of that size is too small");
  const auto no_pages = run_slots("good", "random_walk_steps", {});
  EXPECT_EQ(no_pages.status, "skipped");
  EXPECT_EQ(no_pages.reason, "does not hand out numbered pages by a random walk");
  const auto no_clock = run_slots("good", "latency", {});
  EXPECT_EQ(no_clock.status, "skipped");
  EXPECT_EQ(no_clock.reason,
            "lanes of this machine cannot read a clock: there is no time in the CPU model");
}

TEST(CasesOverSlots, OccupiedShareIsHeldThroughAllRuns) {
  const auto row = run_slots(
      "good", "alloc",
      {{"threads", "64"}, {"size_max", "1024"}, {"free_percent", "50"}, {"iterations", "2"}});
  EXPECT_EQ(row.status, "ok");
  // The random half of all requests of the filling is freed, those with a null among them.
  const std::uint64_t held = get<std::uint64_t>(row, "held_blocks");
  EXPECT_GT(held, 16u);
  EXPECT_LT(held, 48u);
  EXPECT_EQ(row.get(bench::fields::null_returns), held * 3);
}

TEST(CasesOverSlots, UtilizationIsOfTheWholeHeap) {
  const auto row = run_slots("good", "utilization", {{"threads", "10"}, {"size_max", "1024"}});
  EXPECT_EQ(get<std::uint64_t>(row, "blocks"), 64u);
  EXPECT_DOUBLE_EQ(get<double>(row, "utilization"), 64.0 * 1024 / 66820);
  EXPECT_EQ(row.get(bench::fields::null_returns), 6u);
}

TEST(CasesOverSlots, PhasesCountTheBlocksOfBothSizes) {
  const auto row = run_slots(
      "good", "phases",
      {{"threads", "10"}, {"size_max", "1024"}, {"first_size", "512"}, {"first_percent", "20"}});
  // A fifth of 66,820 bytes are 27 blocks of 512; each takes a slot of 1024.
  EXPECT_EQ(get<std::uint64_t>(row, "first_blocks"), 27u);
  EXPECT_EQ(get<std::uint64_t>(row, "blocks"), 64u - 27);
  EXPECT_DOUBLE_EQ(get<double>(row, "utilization"), (27.0 * 512 + 37 * 1024) / 66820);
  EXPECT_EQ(row.get(bench::fields::null_returns), 3u);
}

TEST(CasesOverSlots, PhasesEndWithTheFirstOneIfItExhaustsTheHeap) {
  const auto row = run_slots(
      "good", "phases",
      {{"threads", "100"}, {"size_max", "1024"}, {"first_size", "16"}, {"first_percent", "50"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(get<std::uint64_t>(row, "first_blocks"), 64u);
  EXPECT_EQ(get<std::uint64_t>(row, "blocks"), 0u);
  EXPECT_DOUBLE_EQ(get<double>(row, "utilization"), 64.0 * 16 / 66820);
  EXPECT_EQ(row.get(bench::fields::null_returns), 36u);
}

TEST(CasesOverSlots, GrowthEndsWhenMemoryIsExhausted) {
  const auto row = run_slots("good", "growth", {{"threads", "16"}, {"size_max", "1024"}});
  // Each round leaves 8 of 64 slots; the one that starts with fewer than 16 free is the last.
  EXPECT_EQ(get<std::uint64_t>(row, "rounds_done"), 8u);
  EXPECT_TRUE(get<bool>(row, "out_of_memory"));
  EXPECT_EQ(get<std::uint64_t>(row, "live_blocks"), 64u);
}

TEST(CasesOverSlots, GrowthOfALeakIsShorter) {
  const auto row = run_slots("one_way", "growth", {{"threads", "16"}, {"size_max", "1024"}});
  EXPECT_EQ(get<std::uint64_t>(row, "rounds_done"), 5u);
  EXPECT_EQ(get<std::uint64_t>(row, "live_blocks"), 32u);
}

TEST(CasesOverSlots, HolesAreFilledAgain) {
  const auto good = run_slots("good", "holes", {{"threads", "32"}, {"size_max", "1024"}});
  EXPECT_EQ(get<double>(good, "refilled_share"), 1);
  EXPECT_EQ(get<std::uint64_t>(good, "freed_blocks"), 32u);
  const auto leak = run_slots("one_way", "holes", {{"threads", "32"}, {"size_max", "1024"}});
  EXPECT_EQ(get<double>(leak, "refilled_share"), 0);
}

TEST(CasesOverSlots, ExhaustionRecovers) {
  const auto good = run_slots("good", "exhaustion", {{"threads", "32"}, {"iterations", "2"}});
  EXPECT_EQ(get<double>(good, "recovered_share"), 1);
  EXPECT_EQ(get<std::uint64_t>(good, "surplus_served"), 0u);
  // 32 in the last launch of the filling, and all of three launches.
  EXPECT_EQ(good.get(bench::fields::null_returns), 32u + 3 * 32);
  const auto leak = run_slots("one_way", "exhaustion", {{"threads", "32"}});
  EXPECT_EQ(get<double>(leak, "recovered_share"), 0);
}

TEST(CasesOverSlots, FragmentationIsTheRangeOverTheBytes) {
  const auto row =
      run_slots("good", "fragmentation", {{"threads", "4"}, {"size_max", "512"}, {"rounds", "3"}});
  // Slots 0..3 of 1 KiB, of the last one 512 bytes.
  EXPECT_EQ(get<std::uint64_t>(row, "range_bytes"), 3u * 1024 + 512);
  EXPECT_DOUBLE_EQ(get<double>(row, "range_over_bytes"), 3584.0 / 2048);
  EXPECT_DOUBLE_EQ(get<double>(row, "range_over_bytes_last"), 3584.0 / 2048);
}

TEST(CasesOverSlots, BlockBytesAreTheRoomAndNotTheRequest) {
  const auto row = run_slots("good", "block_bytes", {{"size_min", "100"}, {"size_max", "100"}});
  EXPECT_EQ(get<std::uint64_t>(row, "block_bytes"), 1024u);
  EXPECT_EQ(get<std::uint64_t>(row, "largest_block"), 1024u);
}

TEST(CasesOverSlots, ChurnChecksContents) {
  const std::map<std::string, std::string> given{
      {"threads", "8"}, {"size_min", "16"}, {"size_max", "1024"}, {"iterations", "2"}};
  const auto good = run_slots("good", "churn", given);
  EXPECT_EQ(good.status, "ok");
  EXPECT_EQ(good.get(bench::fields::null_returns), 0u);
  EXPECT_EQ(run_slots("twice", "churn", given).status, "failed");
}

TEST(CasesOverSlots, OccupancyAsksForHalfOfWhatIsFree) {
  const auto row = run_slots("good", "occupancy",
                             {{"size", "1024"}, {"free_percent", "50"}, {"iterations", "2"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 0u);
  const std::uint64_t occupied = get<std::uint64_t>(row, "occupied_blocks");
  EXPECT_GT(occupied, 16u);
  EXPECT_LT(occupied, 48u);
  EXPECT_EQ(get<std::uint64_t>(row, "asked_blocks"), (64 - occupied) / 2);
  EXPECT_GE(get<double>(row, "longest_ms"), row.get(bench::fields::malloc_ms)->max);
  EXPECT_FALSE(row.get(bench::fields::half_in_one_block).has_value());  // not claimed
  const auto whole = run_slots("good", "occupancy", {{"size", "1024"}, {"free_percent", "100"}});
  EXPECT_EQ(whole.reason, "free_percent is 100, so nothing of the heap is occupied: use alloc");
  const auto full = run_slots("good", "occupancy", {{"size", "1024"}, {"free_percent", "0.001"}});
  const std::string why = full.reason.value_or("");
  EXPECT_NE(why.find(" bytes has no two free blocks of 1024 bytes beside"), std::string::npos)
      << why;
}

TEST(CasesOverSlots, ScatteredFreesAreOfDifferentBlocksOfAFullHeap) {
  const std::map<std::string, std::string> given{
      {"threads", "16"}, {"size", "1024"}, {"iterations", "2"}};
  const auto row = run_slots("good", "scattered_frees", given);
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(get<std::uint64_t>(row, "blocks"), 64u);
  EXPECT_EQ(get<std::uint64_t>(row, "picked_blocks"), 16u);
  EXPECT_EQ(row.get(bench::fields::null_returns), 3u * 16);  // the last launch of each filling
  // What the first round freed never comes back.
  const auto leak = run_slots("one_way", "scattered_frees", given);
  EXPECT_EQ(leak.status, "failed");
  EXPECT_EQ(leak.reason, "the heap was emptied and then served no block");
  EXPECT_EQ(run_slots("twice", "scattered_frees", given).status, "failed");
}

TEST(CasesOverSlots, APickOfBlocksTakesEachPlaceAtMostOnce) {
  backend::cpu_machine on(device::cpu(), {});
  constexpr std::uint64_t count = 1000;
  constexpr std::uint64_t picks = 400;
  std::vector<std::uint64_t> places(count);
  for (std::uint64_t i = 0; i < count; ++i) places[i] = i + 1;
  const bench::device_array<std::uint64_t> table(on, places);
  const bench::device_array<std::uint64_t> picked(on, picks);
  on.launch(picks, bench::block_picking{table.data(), count, picks, 7, picked.data()});
  std::vector<std::uint64_t> all = picked.to_host();
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  for (const std::uint64_t left : table.to_host()) {
    if (left != 0) all.push_back(left);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, places);
}

TEST(CasesOverSlots, AReadingLoopHasABlockInEachRound) {
  const std::map<std::string, std::string> given{
      {"threads", "32"}, {"size", "1024"}, {"reads", "5"}, {"rounds", "3"}, {"iterations", "2"}};
  const auto row = run_slots("good", "reading_loop", given);
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 0u);
  EXPECT_GT(get<double>(row, "slowdown"), 0);
  // The block of the first round of each launch is lost: 64 slots are two rounds.
  EXPECT_EQ(run_slots("one_way", "reading_loop", given).get(bench::fields::null_returns),
            (3u * 3 - 2) * 32);
}

TEST(CasesOverSlots, SequenceRunsOneSizeAfterAnother) {
  const std::map<std::string, std::string> given{
      {"threads", "16"}, {"size_min", "16"}, {"size_max", "1024"}, {"iterations", "2"}};
  const auto row = run_slots("good", "sequence", given);
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 0u);
  EXPECT_GE(get<double>(row, "longest_ms"), get<double>(row, "slowest_malloc_ms"));
  EXPECT_GE(get<std::uint64_t>(row, "slowest_malloc_size"), 16u);
  EXPECT_GT(get<double>(row, "malloc_over_fresh"), 0);
  EXPECT_GT(get<double>(row, "free_over_fresh"), 0);
  // Seven sizes, three launches each, of which four are served before everything is lost. A new
  // heap serves all three.
  const auto leak = run_slots("one_way", "sequence", given);
  EXPECT_EQ(leak.get(bench::fields::null_returns), (7u * 3 - 4) * 16);
}

TEST(CasesOverSlots, FailingRequestsAreAllNull) {
  const auto row = run_slots("good", "failing", {{"threads", "100"}, {"iterations", "3"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(get<std::uint64_t>(row, "blocks"), 64u);
  EXPECT_EQ(get<std::uint64_t>(row, "failed_requests"), 100u);
  EXPECT_GE(get<double>(row, "longest_ms"), get<bench::summary>(row, "failing_ms").max);
}

TEST(CasesOverSlots, NumberedPagesOfAnyManagerAreMeasuredByWhatItDeclares) {
  const auto row =
      run_slots("numbered", "random_walk_steps",
                {{"threads", "32"}, {"pages", "64"}, {"free_percent", "100"}, {"iterations", "2"}});
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.get(bench::fields::null_returns), 0u);
  EXPECT_EQ(get<std::uint64_t>(row, "word_bits"), 1u);
  EXPECT_EQ(get<std::string>(row, "search"), "in order");
  EXPECT_EQ(get<std::uint64_t>(row, "free_pages"), get<std::uint64_t>(row, "page_count"));
  // The lane that gets slot i has looked at those before it.
  EXPECT_EQ(get<double>(row, "tas"), (1 + 32) / 2.0);
  EXPECT_EQ(get<double>(row, "was"), 32);
}

TEST(CountOverlaps, NestedEqualAndTouchingBlocks) {
  const auto count = [](const std::vector<std::uint64_t>& addresses, std::uint64_t bytes) {
    return bench::count_overlaps(addresses, [=](std::uint64_t) { return bytes; });
  };
  EXPECT_EQ(count({32, 16, 48}, 16), 0u);
  EXPECT_EQ(count({32, 16, 48}, 17), 2u);
  EXPECT_EQ(count({16, 16, 0, 0}, 8), 1u);
  EXPECT_EQ(
      bench::count_overlaps({100, 110, 120}, [](std::uint64_t i) { return i == 0 ? 50u : 5u; }),
      2u);
}

}  // namespace
WARPHEAP_END_NAMESPACE
