// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each chunk of a class has a hint that leads to it, also when several lanes take some out.
#include "any_schedule.hpp"
#include "machine.hpp"

#include "warpheap/managers/warpheap/class_hints.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using classes = warpheap_classes<warpheap_config{}>;

/// A class that has chunks 1 to 8 of 64.
class class_of_chunks : public ::testing::Test {
 protected:
  class_of_chunks() {
    in_a_lane([this] {
      all.format(0, 1);
      for (std::uint32_t chunk = 1; chunk <= 8; ++chunk) add(chunk);
    });
  }
  template <class Function>
  void in_a_lane(const Function& what) const {
    machine().launch({1, 1}, what);
    machine().synchronize();
  }
  void add(std::uint32_t chunk) const {
    all.add(simt::coalesced(this), 0, {chunk / 64, std::uint64_t{1} << chunk % 64});
  }
  std::uint32_t population() const { return records[0].turns.population; }
  std::uint32_t hinted(std::uint32_t entry) const {
    return hints[entry / 2] >> entry % 2 * 16 & 0xffffu;
  }
  std::multiset<std::uint32_t> all_hinted() const {
    std::multiset<std::uint32_t> chunks;
    for (std::uint32_t entry = 0; entry < population(); ++entry) chunks.insert(hinted(entry));
    return chunks;
  }

  static constexpr std::uint32_t universe = 64;
  warpheap_size_classes sizes{14};
  std::vector<classes::record> records = std::vector<classes::record>(sizes.count());
  std::vector<std::uint32_t> hints =
      std::vector<std::uint32_t>(warpheap_class_hints::words_for(universe) * sizes.count());
  std::vector<std::uint32_t> entries = std::vector<std::uint32_t>(universe);
  std::vector<std::uint64_t> trees =
      std::vector<std::uint64_t>(bitmap_tree::words_for(universe) * sizes.count());
  classes all{sizes, {records.data(), hints.data(), entries.data(), trees.data()}, universe};
};

using chunk_list = std::multiset<std::uint32_t>;

TEST_F(class_of_chunks, the_last_hint_takes_the_place_of_one_that_leaves) {
  in_a_lane([this] { all.remove(0, 3); });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 4, 5, 6, 7, 8}));
  EXPECT_EQ(hinted(2), 8u);
  in_a_lane([this] { all.remove(0, 7); });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 4, 5, 6, 8}));
}

TEST_F(class_of_chunks, one_without_a_hint_gets_one_again) {
  in_a_lane([this] {
    all.remove(0, 3);
    all.hints(0).name_again(3);
    all.hints(0).name_again(3);
    all.hints(0).name_again(5);
  });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 3, 4, 5, 6, 7, 8}));
}

// A lane that was slow to write the hint of its chunk: meanwhile another one took the hint for a
// wrong one, and dropped it. Turns do not come to what is beyond the count.
TEST_F(class_of_chunks, one_whose_hint_is_not_counted_gets_another_one) {
  in_a_lane([this] {
    const warpheap_class_hints known = all.hints(0);
    const std::uint32_t entry = known.extend(1);
    EXPECT_TRUE(known.drop(entry));
    known.name(entry, 20);
    EXPECT_EQ(population(), 8u);
    known.name_again(20);
  });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 3, 4, 5, 6, 7, 8, 20}));
}

// What follows the hints of the class are those of the next one.
TEST_F(class_of_chunks, without_an_entry_one_has_no_hint_of_another_class) {
  entries[20] = universe;
  hints[warpheap_class_hints::words_for(universe)] = 20;
  in_a_lane([this] { all.hints(0).name_again(20); });
  EXPECT_EQ(hinted(8), 20u);
  EXPECT_EQ(population(), 9u);
}

TEST_F(class_of_chunks, counts_no_more_hints_than_there_are_chunks_and_no_fewer_than_none) {
  in_a_lane([this] {
    for (std::uint32_t chunk = 9; chunk < 64; ++chunk) add(chunk);
    all.remove(0, 3);
    add(3);
    records[0].turns.population = universe;
    entries[5] = universe;
    all.hints(0).name_again(5);
  });
  EXPECT_EQ(population(), universe);
  EXPECT_EQ(hinted(0), 1u);
  records[0].turns.population = 0;
  in_a_lane([this] { EXPECT_EQ(all.remove(0, 2), 0u); });
  EXPECT_EQ(population(), 0u);
}

// Its entry is that of another one's hint.
TEST_F(class_of_chunks, one_without_a_hint_leaves_those_of_others_alone) {
  entries[3] = 5;
  in_a_lane([this] { all.remove(0, 3); });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(entries[3], universe);
}

TEST_F(class_of_chunks, hints_that_lead_to_no_chunk_are_dropped_as_the_class_grows) {
  machine().launch({1, 32}, [this] {
    for (std::uint32_t chunk = 9; chunk <= 24; ++chunk) add(chunk);
  });
  entries[3] = universe;
  entries[5] = 17;
  machine().launch({1, 32}, [this] {
    for (std::uint32_t chunk = 25; chunk < 64; ++chunk) add(chunk);
  });
  chunk_list left;
  for (std::uint32_t chunk = 1; chunk < 64; ++chunk) left.insert(chunk);
  left.erase(3);
  left.erase(5);
  EXPECT_EQ(all_hinted(), left);
  for (std::uint32_t entry = 0; entry < population(); ++entry) {
    EXPECT_EQ(entries[hinted(entry)], entry);
  }
}

// The one at the end is moved to where the other one was, or that one is at the end by then.
TEST_F(class_of_chunks, two_may_leave_at_the_same_time) {
  const std::vector<classes::record> records_before = records;
  const std::vector<std::uint32_t> hints_before = hints, entries_before = entries;
  const std::vector<std::uint64_t> trees_before = trees;
  simt::explorer two({2, 1}, 10'000);
  int schedules = 0;
  int spoiled = 0;
  for (const std::uint32_t other : {2u, 7u, 8u}) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      std::copy(records_before.begin(), records_before.end(), records.begin());
      std::copy(hints_before.begin(), hints_before.end(), hints.begin());
      std::copy(entries_before.begin(), entries_before.end(), entries.begin());
      std::copy(trees_before.begin(), trees_before.end(), trees.begin());
      const auto outcome = two.run({simt::strategy::uniform, seed},
                                   [&] { all.remove(0, simt::block_rank() == 0 ? 6 : other); });
      ASSERT_EQ(outcome.stuck, "") << seed;
      chunk_list left{1, 2, 3, 4, 5, 6, 7, 8};
      left.erase(6);
      left.erase(other);
      ASSERT_EQ(population(), 6u);
      ++schedules;
      spoiled += all_hinted() != left ? 1 : 0;
    }
  }
  // Of a lane that stands still for long, a hint may be spoiled.
  EXPECT_LE(spoiled, schedules / 100) << spoiled;
}

TEST_F(class_of_chunks, a_turn_that_leads_to_no_chunk_drops_its_hint) {
  entries[3] = universe;
  in_a_lane([this] {
    constexpr std::uint32_t words = 1;
    for (std::uint32_t turn = 16; turn < 200; ++turn) {
      const bool is_spoiled = all.hinted(0, turn, words, true).chunk == 3;
      EXPECT_EQ(all.drop_hint(0, turn, words), is_spoiled) << turn;
    }
  });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 4, 5, 6, 7, 8}));
  EXPECT_EQ(entries[8], 2u);
}

TEST_F(class_of_chunks, the_last_hint_is_dropped_as_well) {
  entries[8] = universe;
  in_a_lane([this] {
    EXPECT_FALSE(all.hints(0).drop(6));
    EXPECT_TRUE(all.hints(0).drop(7));
    EXPECT_TRUE(all.hints(0).drop(7));  // it is beyond the last
  });
  EXPECT_EQ(all_hinted(), (chunk_list{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(class_of_chunks, with_all_chunks_of_the_heap_a_wrong_hint_is_dropped) {
  in_a_lane([this] {
    for (std::uint32_t chunk = 9; chunk < universe; ++chunk) add(chunk);
    add(0);
  });
  ASSERT_EQ(population(), universe);
  entries[3] = universe;
  in_a_lane([this] { EXPECT_TRUE(all.hints(0).drop(2)); });
  EXPECT_EQ(population(), universe - 1);
  EXPECT_EQ(all_hinted().count(3), 0u);
}

// Also by the lanes that add the last one of them.
TEST_F(class_of_chunks, with_all_chunks_of_the_heap_a_growing_class_drops_wrong_hints) {
  in_a_lane([this] {
    for (std::uint32_t chunk = 9; chunk < universe; ++chunk) add(chunk);
    add(0);
  });
  ASSERT_EQ(population(), universe);
  entries[3] = universe;
  for (int teams = 0; teams < 64 && population() == universe; ++teams) {
    machine().launch({1, 32}, [this] { all.hints(0).drop_some(simt::coalesced(this)); });
    machine().synchronize();
  }
  EXPECT_EQ(population(), universe - 1);
  EXPECT_EQ(all_hinted().count(3), 0u);
}

// Lanes that each gave a chunk a hint at the same time.
TEST_F(class_of_chunks, a_count_of_more_hints_than_chunks_comes_down_as_they_leave) {
  records[0].turns.population = universe + 1;
  in_a_lane([this] {
    EXPECT_EQ(all.remove(0, 2), universe);
    EXPECT_EQ(all.remove(0, 3), universe - 1);
  });
  EXPECT_EQ(population(), universe - 1);
}

// What follows the hints of the class are those of the next one, whose chunk 20 has lost its own.
TEST_F(class_of_chunks, a_count_of_more_hints_than_chunks_names_none_of_another_class) {
  entries[20] = universe;
  hints[warpheap_class_hints::words_for(universe)] = 20;
  records[0].turns.population = universe + 1;
  in_a_lane([this] { all.remove(0, 2); });
  EXPECT_EQ(entries[20], universe);
  EXPECT_NE(hinted(1), 20u);
}

TEST_F(class_of_chunks, without_hints_a_turn_drops_none) {
  records[0].turns.population = 0;
  in_a_lane([this] { EXPECT_FALSE(all.drop_hint(0, 17, 1)); });
  EXPECT_EQ(population(), 0u);
}

/// Two lanes at the same time, in schedules that each begin with the same state.
class hints_of_two_lanes : public class_of_chunks {
 protected:
  /// How many of them are wrong in the end.
  int count_wrong(const auto& lane, const auto& is_right) {
    const std::vector<classes::record> records_before = records;
    const std::vector<std::uint32_t> hints_before = hints, entries_before = entries;
    simt::explorer two({2, 1}, 10'000);
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
      std::copy(records_before.begin(), records_before.end(), records.begin());
      std::copy(hints_before.begin(), hints_before.end(), hints.begin());
      std::copy(entries_before.begin(), entries_before.end(), entries.begin());
      const auto outcome = two.run(any_schedule(seed), lane);
      EXPECT_EQ(outcome.stuck, "") << seed;
      wrong += is_right() ? 0 : 1;
    }
    return wrong;
  }
  static constexpr std::uint64_t count = WARPHEAP_TEST_SANITIZED ? 300 : 2000;
};

// A lane that adds a chunk has counted its hint, and has yet to write it.
TEST_F(hints_of_two_lanes, one_that_is_about_to_be_written_is_not_dropped) {
  const auto lane = [this] {
    if (simt::block_rank() == 0) {
      add(20);
    } else if (population() == 9) {
      all.hints(0).drop(8);
    }
  };
  const int wrong =
      count_wrong(lane, [this] { return population() == 9 && entries[hinted(8)] == 8; });
  EXPECT_LE(wrong, static_cast<int>(count) / 100);
}

// One that leaves takes the last hint with it while another lane drops one.
TEST_F(hints_of_two_lanes, one_is_dropped_while_a_chunk_leaves) {
  entries[3] = universe;
  const auto lane = [this] {
    if (simt::block_rank() == 0) {
      all.hints(0).remove(6);
    } else {
      all.hints(0).drop(2);
    }
  };
  const int wrong = count_wrong(
      lane, [this] { return population() == 6 && all_hinted() == chunk_list{1, 2, 4, 5, 7, 8}; });
  EXPECT_LE(wrong, static_cast<int>(count) / 20);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
