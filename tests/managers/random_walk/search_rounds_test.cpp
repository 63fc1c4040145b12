// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a search of all words takes, and from where.
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/search_rounds.hpp"
#include "warpheap/managers/random_walk/unit_map.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using random_walk::no_run;
using random_walk::run_left;

void run(std::uint32_t lanes, const auto& kernel) {
  simt::explorer explorer({1, lanes}, 1'000'000);
  EXPECT_EQ(explorer.run({simt::strategy::sticky, 1}, kernel).stuck, "");
}

TEST(search_rounds, who_was_not_served_takes_from_where_a_round_has_left_something) {
  random_walk::shared_rounds memory;
  std::uint32_t taken_from = 0;
  int times = 0;
  run(1, [&] {
    memory.format();
    random_walk::search_rounds(
        memory, simt::coalesced(nullptr), 1, [&] { return times == 0 ? 2u : 0u; },
        [](std::uint32_t /*first*/, std::uint32_t /*count*/) {
          return run_left{5, 2};
        },
        [&](std::uint32_t word) {
          taken_from = word;
          ++times;
        });
  });
  EXPECT_EQ(taken_from, 5u);
  EXPECT_EQ(times, 1);
}

// Others have taken all that there was, but nobody has freed anything: there is still something.
TEST(search_rounds, a_loss_counts_only_if_something_was_freed_meanwhile) {
  random_walk::shared_rounds memory;
  constexpr int more_than_enough = 100;
  int losses = 0;
  run(1, [&] {
    memory.format();
    random_walk::search_rounds(
        memory, simt::coalesced(nullptr), 1, [&] { return losses < more_than_enough ? 2u : 0u; },
        [](std::uint32_t /*first*/, std::uint32_t /*count*/) {
          return run_left{5, 2};
        },
        [&](std::uint32_t /*word*/) { ++losses; });
  });
  EXPECT_EQ(losses, more_than_enough);
}

TEST(search_rounds, format_leaves_nothing_of_what_was_there) {
  using random_walk::shared_rounds;
  EXPECT_TRUE(formats_all_of<shared_rounds>([](shared_rounds& one) { one.format(); }));
}

// Lanes that do not divide a slice look at some places behind it, which are those of the next one.
TEST(unit_map, lanes_take_runs_only_where_there_are_units) {
  constexpr std::uint32_t words = 256;  // two slices
  constexpr std::uint32_t width = 32;
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const random_walk::unit_map<32, 1, true> units(cursor, words * width);
  run(1, [&] {
    units.format(0, 1);
    const simt::group alone = simt::coalesced(nullptr);
    while (units.take_runs(alone, width) != no_run) {
    }
    units.give_run(words / 2 * width);
  });
  std::array<std::uint32_t, 3> taken{};
  run(3, [&] { taken.at(simt::thread_rank()) = units.search(simt::warp(), 1, no_run); });
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, (std::array<std::uint32_t, 3>{4096, 4097, 4098}));
}

// It has waited for a round of others, and does not begin another one.
TEST(unit_map, takes_what_a_round_of_others_has_left) {
  constexpr std::uint32_t width = 32;
  const rubbish memory(4_KiB);
  region_cursor cursor = memory.cursor();
  const random_walk::unit_map<32, 1, true> units(cursor, 100 * width);
  auto* const rounds = memory.cursor().take<random_walk::shared_rounds>(1);
  run(1, [&] {
    units.format(0, 1);
    while (units.take_runs(simt::coalesced(nullptr), width) != no_run) {
    }
    for (const std::uint32_t word : {2u, 70u}) units.give_run(word * width);
  });
  std::uint32_t state = 0;
  const simt::atomic_ref round_has_begun(state);
  std::uint32_t taken = no_run;
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      while (round_has_begun.load(simt::order::relaxed) == 0) simt::backoff(1);
      taken = units.search(simt::warp(), 5, no_run);
      return;
    }
    rounds->search(
        simt::warp(), 100, [] { return width + 1; },
        [&](std::uint32_t /*first*/, std::uint32_t /*count*/) {
          round_has_begun.store(1, simt::order::relaxed);
          for (int i = 0; i < 20; ++i) simt::backoff(1);
          return run_left{70, width};
        });
  };
  EXPECT_EQ(simt::explorer({2, 1}, 10'000).run({simt::strategy::uniform, 1}, lane).stuck, "");
  EXPECT_EQ(taken, 70 * width);
}

// Behind the words of what is in use lie those of where runs end, with few bits in them.
TEST(unit_map, no_run_goes_on_behind_the_last_word) {
  constexpr std::uint32_t width = 32;
  const rubbish memory(4_KiB);
  region_cursor cursor = memory.cursor();
  const random_walk::unit_map<32, 1, true> units(cursor, 2 * width);
  run(1, [&] {
    units.format(0, 1);
    const simt::group alone = simt::coalesced(nullptr);
    while (units.take_runs(alone, 1) != no_run) {
    }
    for (std::uint32_t unit = 0; unit < width; ++unit) units.give_run(unit);
    EXPECT_EQ(units.take_runs(alone, width), 0u);
    for (std::uint32_t unit = 48; unit < 2 * width; ++unit) units.give_run(unit);
    EXPECT_EQ(units.take_runs(alone, 17), no_run);
    EXPECT_EQ(units.take_runs(alone, 16), 48u);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
