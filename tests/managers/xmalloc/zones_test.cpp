// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A heap in zones: where they lie, that none is forgotten, and blocks that lie across their
// borders.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using division = xmalloc_parts::zones<xmalloc_config{}>;

TEST(xmalloc_zones, tile_a_heap_of_any_size) {
  constexpr std::uint32_t least = 65536;
  for (const std::uint32_t units :
       {1u, 65535u, 65536u, 131071u, 131072u, 3 * least + 5, 64 * least - 1, 64 * least,
        65 * least - 1, 65 * least, 128 * least, 1u << 31, ~0u - 1}) {
    const division all(units);
    ASSERT_GE(all.count(), 1u) << units;
    EXPECT_LE(all.count(), 64u) << units;
    EXPECT_LE(all.count(), division::most_of(units)) << units;
    EXPECT_EQ(all.count() == 1, units < 2 * least) << units;
    std::uint32_t begin = 0;
    for (std::uint32_t zone = 0; zone < all.count(); ++zone) {
      EXPECT_EQ(all.begin(zone), begin);
      EXPECT_EQ(all.of(begin), zone);
      EXPECT_EQ(all.of(all.end(zone) - 1), zone);
      EXPECT_GE(all.size(zone), std::min(units, least)) << units;
      begin = all.end(zone);
    }
    EXPECT_EQ(begin, units);
  }
}

TEST(xmalloc_zones, of_a_large_heap_are_at_least_33) {
  for (std::uint32_t units = 64u << 16; units < 1u << 31; units += units / 5) {
    EXPECT_GE(division(units).count(), 33u) << units;
  }
}

class xmalloc_zoned_heap : public heap_test<zoned> {
 protected:
  static constexpr std::size_t zone_units = 32;

  xmalloc_zoned_heap() : heap_test(zoned_bytes) {}

  /// Bytes of a Memoryblock of this many units, none of which is a Basicblock.
  static constexpr std::size_t bytes_of(std::size_t units) { return units * 64 - 16; }
  std::byte* take_units(std::size_t units) {
    const block_list got = take(bytes_of(units), 1);
    return got.empty() ? nullptr : got.front();
  }
  auto memory() const { return heap_.ref().manager().parts().memory(); }
  std::uint32_t unit_of(const std::byte* block) const { return memory().unit_of(block); }
  /// How often the lock of a zone has been held.
  std::uint32_t turns(std::uint32_t zone) const {
    const auto lock = memory().zones().lock_of(zone);
    const std::uint32_t key = lock.try_lock();
    lock.unlock(key - 2);  // as if this had not been a turn
    return key / 2;
  }
};

TEST_F(xmalloc_zoned_heap, has_three_zones_and_is_one_block) {
  ASSERT_EQ(heap_.largest_block(), bytes_of(3 * zone_units));
  for (int round = 0; round < 2; ++round) {
    std::byte* const all = take_units(3 * zone_units);
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(unit_of(all), 0u);
    EXPECT_EQ(take_units(4), nullptr);
    give({all});
  }
}

TEST_F(xmalloc_zoned_heap, serves_from_every_zone) {
  const block_list all = take_all(bytes_of(4));
  EXPECT_EQ(all.size(), 24u);
  give(all);
  EXPECT_EQ(take_all(bytes_of(16)).size(), 6u);
}

// Blocks are cut off the ends of zones, so what each of these leaves lies apart from the others.
TEST_F(xmalloc_zoned_heap, what_blocks_leave_at_the_fronts_of_zones_does_not_come_together) {
  EXPECT_EQ(take_all(bytes_of(20)).size(), 3u);
  EXPECT_EQ(take_all(bytes_of(12)).size(), 3u);
}

TEST_F(xmalloc_zoned_heap, blocks_across_a_border_come_and_go) {
  for (std::size_t units = zone_units + 1; units < 3 * zone_units; ++units) {
    std::byte* const large = take_units(units);
    ASSERT_NE(large, nullptr) << units;
    const std::size_t rest = 3 * zone_units - units;
    std::byte* const other = take_units(std::min(rest, zone_units));
    ASSERT_NE(other, nullptr) << units;
    give({large});
    give({other});
  }
  EXPECT_NE(take_units(3 * zone_units), nullptr);
}

TEST_F(xmalloc_zoned_heap, free_memory_on_both_sides_of_a_border_serves_one_request) {
  block_list all = take_all(bytes_of(8));
  ASSERT_EQ(all.size(), 12u);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(unit_of(all[3]), 24u);
  give({all[3]});
  give({all[4]});
  EXPECT_EQ(take_units(17), nullptr);
  std::byte* const both = take_units(16);
  ASSERT_EQ(both, all[3]);
  EXPECT_EQ(take_units(8), nullptr);
  // What lies beside it comes and goes meanwhile.
  give({all[2]});
  give({all[5]});
  EXPECT_EQ(take_units(9), nullptr);
  EXPECT_EQ(take_units(8), all[2]);
  EXPECT_EQ(take_units(8), all[5]);
  give({both});
  EXPECT_EQ(take_units(9), all[3]);
}

TEST_F(xmalloc_zoned_heap, lanes_free_blocks_of_all_zones_together) {
  block_list all = take_all(bytes_of(4));
  give(all);
  const block_list wide{take_units(40), take_units(40)};
  block_list both = take_all(bytes_of(4));
  EXPECT_EQ(both.size(), 4u);
  both.insert(both.end(), wide.begin(), wide.end());
  give(both);
  EXPECT_NE(take_units(3 * zone_units), nullptr);
}

TEST_F(xmalloc_zoned_heap, multiprocessors_begin_at_different_zones) {
  const device_array<std::byte*> taken(64);
  heap_.on().launch({2, 1}, take_one_each<zoned>{heap_.ref(), bytes_of(4), 2, taken.get()});
  const block_list got = taken.read();
  ASSERT_NE(got[0], nullptr);
  ASSERT_NE(got[1], nullptr);
  EXPECT_NE(unit_of(got[0]) / zone_units, unit_of(got[1]) / zone_units);
}

// Its last block ends where the zone does, and is not one that lies across the border.
TEST_F(xmalloc_zoned_heap, lanes_that_free_all_of_a_zone_have_one_turn_at_its_lock) {
  const block_list all = take(bytes_of(zone_units / 4), 4);
  ASSERT_EQ(all.size(), 4u);
  const std::uint32_t zone = unit_of(all[0]) / zone_units;
  ASSERT_EQ(unit_of(all[3]) / zone_units, zone);
  const std::uint32_t before = turns(zone);
  give(all);
  EXPECT_EQ(turns(zone), before + 1);
}

// Otherwise, each lane that wants as much would find that out with a turn at the lock.
TEST_F(xmalloc_zoned_heap, a_search_in_vain_tells_others_its_size) {
  const auto is_out = [&](std::uint32_t units) {
    bool each = true;
    for (std::uint32_t zone = 0; zone < 3; ++zone) {
      each = each && memory().zones().room().is_out(zone, units);
    }
    return each;
  };
  ASSERT_EQ(take_all(bytes_of(20)).size(), 3u);
  EXPECT_TRUE(is_out(14)) << "another ring";
  EXPECT_FALSE(is_out(13)) << "the ring of the 12 units that are left";
  EXPECT_EQ(take_units(13), nullptr);
  EXPECT_TRUE(is_out(13));
  EXPECT_FALSE(is_out(12));
}

// Where a Superblock fits, the request shall be served out of one, and not take what the next zone
// has left.
TEST_F(xmalloc_zoned_heap, a_block_that_is_kept_whole_ends_the_search) {
  machine().launch({1, 1}, [&] {
    const auto blocks = memory();
    std::uint32_t first = blocks.take(zone_units - 1);
    for (int other = 0; other < 2; ++other) blocks.take(zone_units - 1);
    blocks.give(first);
    EXPECT_EQ(blocks.take(1, 4), xmalloc_parts::none) << "the first zone could serve four units";
    first = blocks.take(zone_units);
    ASSERT_NE(first, xmalloc_parts::none);
    EXPECT_NE(blocks.take(1, 4), xmalloc_parts::none) << "no zone has four";
  });
}

TEST_F(xmalloc_zoned_heap, lanes_that_ask_together_keep_a_block_whole_too) {
  std::array<std::uint32_t, 2> got{};
  machine().launch(
      {1, 2}, [&] { got.at(static_cast<std::size_t>(simt::lane_id())) = memory().take(1, 4); });
  for (const std::uint32_t unit : got) EXPECT_EQ(unit, xmalloc_parts::none);
}

/// Lanes of the explorer in a heap whose blocks of eight units, by address, are all in use but
/// some.
class xmalloc_zones_in_schedules : public ::testing::Test {
 protected:
  static constexpr std::uint32_t units = 8;

  /// The first zone has the first four, the second one the next four.
  void free_only(std::initializer_list<std::size_t> numbers) {
    machine().launch({1, 1}, [&] {
      all_.format(0, 1);
      for (std::uint32_t unit; (unit = blocks().take(units)) != xmalloc_parts::none;) {
        units_.push_back(unit);
      }
      std::sort(units_.begin(), units_.end());
      for (const std::size_t i : numbers) blocks().give(units_.at(i));
    });
    ASSERT_EQ(units_.size(), 12u);
    before_ = memory_.contents();
  }
  void begin() const { std::copy(before_.begin(), before_.end(), memory_.all().base); }
  const xmalloc_parts::memoryblocks<zoned_config>& blocks() const { return all_.parts().memory(); }
  bool is_damaged() const {
    inspection found;
    machine().launch({1, 1}, [&] { all_.inspect(0, 1, found); });
    return std::any_of(std::begin(found.violations), std::end(found.violations),
                       [](auto times) { return times != 0; });
  }

  const rubbish memory_{zoned_bytes};
  const zoned all_{memory_.all(), machine_of(1), {}};
  std::vector<std::uint32_t> units_;
  std::vector<std::byte> before_;
};

// Two lanes come to the first zone, and one to the second one, whose lock it may hold when another
// passes by.
TEST_F(xmalloc_zones_in_schedules, a_lane_goes_on_when_others_take_the_last_block_where_it_waits) {
  free_only({0, 4, 6});
  bool is_refused = false;
  simt::explorer lanes({3, 1}, 20'000);
  const auto begin_anew = [&] {
    begin();
    is_refused = false;
  };
  const auto lane = [&] {
    if (blocks().take(units) == xmalloc_parts::none) is_refused = true;
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(lanes, schedules, begin_anew, lane, [&] { return is_refused; });
}

// A lane has seen a border with room on both sides. Meanwhile, the side before it is taken, and the
// one behind it gets as large as all that the lane wants.
TEST_F(xmalloc_zones_in_schedules, a_block_across_a_border_has_some_of_both_sides) {
  free_only({3, 4});
  simt::explorer lanes({3, 1}, 20'000);
  const auto lane = [&] {
    switch (simt::block_rank()) {
      case 0:
        blocks().take(2 * units);
        break;
      case 1:
        blocks().give(units_[5]);
        break;
      default:
        blocks().take(units);
    }
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(
      lanes, schedules, [&] { begin(); }, lane, [&] { return is_damaged(); });
}

// All ask at once, and none frees: each zone is emptied to the last block.
TEST(xmalloc_zones, are_all_emptied_by_lanes_that_ask_together) {
  const heap<xmalloc<>> of(machine(), 20_MiB);
  const auto all = of.ref().manager().parts().memory().zones().by();
  ASSERT_GT(all.count(), 2u);
  constexpr std::size_t bytes = 20'000;
  constexpr std::uint32_t units = (bytes + 16 + 63) / 64;
  std::uint64_t fit = 0;
  for (std::uint32_t zone = 0; zone < all.count(); ++zone) fit += all.size(zone) / units;
  EXPECT_GE(take(of, bytes, 2048).size(), fit);
  expect_valid(of);
  EXPECT_TRUE(take(of, bytes, 64).empty());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
