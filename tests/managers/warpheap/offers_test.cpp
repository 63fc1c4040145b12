// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offers by themselves: their rings and cells, and what of them is counted.
#include "any_schedule.hpp"
#include "machine.hpp"

#include "warpheap/managers/warpheap/offers.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_offers, format_touches_nothing_behind_its_cells) {
  const warpheap_size_classes sizes(14);
  constexpr std::uint32_t chunks = 100;
  constexpr warpheap_offers::extent rubbish = 0xcdcdcdcdcdcdcdcd;
  const std::uint32_t all = warpheap_offers::all_cells(sizes, chunks);
  std::vector<warpheap_offers::ring> rings(warpheap_offers::all_rings(sizes, chunks) + 1);
  std::vector<warpheap_offers::extent> extents(sizes.count() + 1, rubbish);
  std::vector<std::uint32_t> cells(all + 1, 1);
  rings.back().made = 1;
  const warpheap_offers offers(rings.data(), extents.data(), sizes.count(), cells.data(), all);
  for (const std::uint64_t lanes : {1u, 7u}) {
    for (std::uint64_t rank = 0; rank < lanes; ++rank) offers.format(sizes, chunks, rank, lanes);
    std::uint64_t first = 0;
    for (std::uint32_t of = 0; of < sizes.count(); ++of) {
      EXPECT_EQ(offers.examine(of), 0) << of;
      EXPECT_EQ(extents[of] & 0xffffffffu, first) << of << ": behind the cells of the last one";
      first += (extents[of] >> 48) * ((extents[of] >> 32 & 0xffffu) + 1);
    }
    EXPECT_EQ(first, all);
  }
  EXPECT_EQ(cells.back(), 1u);
  EXPECT_EQ(rings.back().made, 1u);
  EXPECT_EQ(extents.back(), rubbish);
}

/// The offers of a class that has one ring.
class one_ring : public ::testing::Test {
 protected:
  void make_cells(std::uint32_t count) {
    extent_ = std::uint64_t{count} << 48;
    cells.assign(count, 0);
    offers = warpheap_offers(&ring, &extent_, 1, cells.data(), count);
  }

  static constexpr std::uint32_t of = 0;
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 6000;
  warpheap_offers::ring ring{};
  std::vector<std::uint32_t> cells;
  warpheap_offers offers;

 private:
  warpheap_offers::extent extent_ = 0;
};

// Two lanes may have requested one offer. One of them will put its request back, which may be that
// of an offer that is made meanwhile.
TEST_F(one_ring, more_requests_than_offers_are_not_taken_for_none) {
  make_cells(8);
  machine().launch({1, 1}, [&, counts = &ring.counts] {
    EXPECT_FALSE(offers.any(of));
    for (const std::int64_t open : {-3, -1}) {
      const auto before = static_cast<std::uint64_t>(open * ((std::int64_t{1} << 32) + 1));
      *counts = before;
      EXPECT_TRUE(offers.any(of)) << open;
      EXPECT_EQ(offers.take(of), warpheap_offers::none) << open;
      EXPECT_EQ(*counts, before) << open;
    }
  });
}

// Numbers drawn in vain would send a later lane round the ring, for milliseconds.
TEST_F(one_ring, as_many_numbers_are_drawn_for_offers_as_there_are_offers) {
  make_cells(64);
  for (int rounds = 0; rounds < 3; ++rounds) {
    // The second warp finds room for twelve.
    for (const std::uint32_t lanes : {20u, 32u, 32u}) {
      machine().launch({1, lanes},
                       [&] { offers.make(of, static_cast<std::uint32_t>(simt::thread_rank())); });
    }
    EXPECT_EQ(offers.examine(of), 32) << "half of the cells";
    machine().launch({1, 1}, [&] {
      for (int left = 32; left != 0; --left) EXPECT_NE(offers.take(of), warpheap_offers::none);
    });
    EXPECT_EQ(offers.examine(of), 0);
    EXPECT_EQ(ring.made, ring.taken);
  }
}

// One look at a ring is for all lanes of a warp.
TEST_F(one_ring, a_whole_warp_takes_an_offer_each) {
  make_cells(2 * simt::warp_size);
  std::vector<int> taken(simt::warp_size);
  machine().launch({1, simt::warp_size}, [&] {
    const auto mine = static_cast<std::uint32_t>(simt::lane_id());
    EXPECT_TRUE(offers.make(of, mine));
    const std::uint32_t word = offers.take(of);
    ASSERT_LT(word, taken.size()) << "lane " << mine;
    ++taken[word];
  });
  EXPECT_EQ(taken, std::vector<int>(simt::warp_size, 1));
  EXPECT_EQ(offers.examine(of), 0);
}

// What a lane has left in a cell costs the next offer a number, and the cell serves again.
TEST_F(one_ring, a_cell_that_a_lane_gave_up_is_free_again) {
  make_cells(8);
  cells[0] = 0xffffffffu;
  ring.taken = 1;  // by that lane
  machine().launch({1, 1}, [&] {
    EXPECT_TRUE(offers.make(of, 7));
    EXPECT_EQ(offers.take(of), 7u);
  });
  EXPECT_EQ(ring.made, 2u);
  EXPECT_EQ(cells, std::vector<std::uint32_t>(8));
}

// A lane that is slow may let the numbers of one kind get ahead of the others. If they stayed so,
// lanes would wait at the same cells in each round, and offers would find no place there.
TEST_F(one_ring, numbers_that_went_apart_come_together_again) {
  constexpr std::uint32_t count = 16;
  make_cells(count);
  simt::explorer crowd({32, 1}, 20'000);
  simt::explorer alone({1, 1}, 20'000);
  const std::uint64_t crowds = schedules / 20;
  for (std::uint64_t seed = 1; seed <= crowds; ++seed) {
    const auto pairs = [this](std::uint32_t left) {
      for (; left != 0; --left) {
        offers.make(of, 7);
        offers.take(of);
      }
    };
    ASSERT_EQ(crowd.run({simt::strategy::pct, seed}, [&] { pairs(6); }).stuck, "") << seed;
    const warpheap_offers::ring after = ring;
    const std::vector<std::uint32_t> cells_after = cells;
    std::uint32_t made = 0;
    std::uint32_t taken = 0;
    const auto outcome = alone.run({simt::strategy::pct, seed}, [&] {
      while (offers.take(of) != warpheap_offers::none) {
      }
      pairs(4 * count);
      made = ring.made;
      taken = ring.taken;
      pairs(4 * count);
    });
    ASSERT_EQ(outcome.stuck, "") << seed;
    ASSERT_EQ(ring.made - made, 4 * count) << seed << ": a number for each offer";
    ASSERT_EQ(ring.taken - taken, 4 * count) << seed;
    // The next crowd comes to what this one has left.
    ring = after;
    std::copy(cells_after.begin(), cells_after.end(), cells.begin());
  }
}

// Lanes of a warp that make offers, and others that want some, may draw at the same time. If two
// got one number, a later lane would go round the ring to find what was offered.
TEST_F(one_ring, lanes_that_draw_together_draw_numbers_of_their_kind) {
  make_cells(512);
  simt::explorer warps({3, 3}, 20'000);
  const auto begin = [this] {
    ring = {};
    std::fill(cells.begin(), cells.end(), 0u);
  };
  const auto lane = [this] {
    const auto mine = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t round = 0; round < 3; ++round) {
      offers.make(of, mine);
      if ((mine + round) % 3 != 0) offers.take(of);
    }
    offers.take(of);
  };
  expect_in_schedules(warps, schedules, begin, lane, [this] { return ring.taken > ring.made; });
}

// The slot is free, so a lane that finds the word as full as before would lose it.
TEST_F(one_ring, who_takes_an_offer_sees_what_was_done_before_it) {
  make_cells(8);
  simt::explorer two({2, 1}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    ring = {};
    std::fill(cells.begin(), cells.end(), 0u);
    std::uint32_t is_free = 0;
    bool is_old = false;
    const auto outcome = two.run(any_schedule(seed), [&] {
      const simt::atomic_ref slot(is_free);
      if (simt::block_rank() != 0) {
        slot.store(1, simt::order::relaxed);
        EXPECT_TRUE(offers.make(of, 7));
        return;
      }
      for (int looks = 0; looks < 20; ++looks) {
        if (offers.take(of) == warpheap_offers::none) continue;
        is_old = slot.load(simt::order::relaxed) == 0;
        break;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(is_old) << seed;
  }
}

// A class of many slots has four rings; lanes of other multiprocessors look into all of them.
TEST(warpheap_offers, what_is_offered_in_one_ring_is_taken_through_any) {
  const warpheap_size_classes sizes(14);
  constexpr std::uint32_t chunks = 2048;
  constexpr std::uint32_t of = 0;
  std::vector<warpheap_offers::ring> rings(warpheap_offers::all_rings(sizes, chunks));
  std::vector<warpheap_offers::extent> extents(sizes.count());
  std::vector<std::uint32_t> cells(warpheap_offers::all_cells(sizes, chunks));
  const warpheap_offers offers(rings.data(), extents.data(), sizes.count(), cells.data(),
                               static_cast<std::uint32_t>(cells.size()));
  machine().launch({1, 1}, [&] { offers.format(sizes, chunks, 0, 1); });
  ASSERT_EQ(extents[of], std::uint64_t{1024} << 48 | std::uint64_t{3} << 32) << "cells, more rings";
  // The warps of a block have different rings.
  machine().launch({1, 128},
                   [&] { offers.make(of, static_cast<std::uint32_t>(simt::thread_rank())); });
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<std::uint32_t>(rings[i * sizes.count() + of].counts), 32u) << i;
  }
  EXPECT_EQ(offers.examine(of), 128);
  std::vector<int> taken(128);
  machine().launch({1, 1}, [&] {
    for (int left = 128; left != 0; --left) {
      EXPECT_FALSE(offers.seem_gone(of));
      EXPECT_TRUE(offers.any(of));
      const std::uint32_t word = offers.take(of);
      ASSERT_LT(word, 128u);
      ++taken[word];
    }
    EXPECT_EQ(offers.take(of), warpheap_offers::none);
    EXPECT_FALSE(offers.any(of));
  });
  EXPECT_EQ(taken, std::vector<int>(128, 1));
  EXPECT_EQ(offers.examine(of), 0);
}

TEST(warpheap_offers, rings_have_a_cell_for_512_slots_or_256_large_ones_within_bounds) {
  for (const int chunk_shift : {12, 16, 20}) {
    const warpheap_size_classes sizes(chunk_shift);
    for (const std::uint32_t chunks : {1u, 64u, 2048u, 65536u}) {
      std::uint64_t expected = 0;
      for (std::uint32_t of = 0; of < sizes.count(); ++of) {
        const std::uint32_t bytes = sizes.slot_bytes(of);
        const std::uint64_t slots = std::uint64_t{sizes.chunk_bytes() / bytes} * chunks;
        const std::uint64_t each = bytes <= 1024 ? 512 : 256;
        expected += std::clamp<std::uint64_t>(std::bit_ceil((slots + each - 1) / each), 8, 8192);
      }
      EXPECT_EQ(warpheap_offers::all_cells(sizes, chunks), expected);
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
