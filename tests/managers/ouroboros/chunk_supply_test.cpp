// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "any_schedule.hpp"
#include "machine.hpp"

#include "warpheap/managers/ouroboros/chunk_supply.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ouroboros_parts::chunk_supply;

class ouroboros_chunk_supply : public ::testing::Test {
 protected:
  static constexpr std::uint32_t chunks = 64;
  static constexpr std::uint32_t span = 4;

  chunk_supply supply() { return {&own_, marks_.data(), slots_.data(), chunks, span}; }

 private:
  chunk_supply::words own_;
  std::vector<std::uint32_t> marks_ = std::vector<std::uint32_t>(chunk_supply::mark_words(chunks));
  std::vector<std::uint32_t> slots_ =
      std::vector<std::uint32_t>(std::size_t{1} << chunk_supply::queue_log2(chunks));
};

// So the search of all chunks stays what comes last.
TEST_F(ouroboros_chunk_supply, a_run_that_became_free_is_found_without_a_search) {
  const chunk_supply supply = this->supply();
  for (std::uint32_t run = 0; run < chunks; run += span) {
    machine().launch({1, 1}, [&] {
      supply.format(0, 1, 0, chunks);
      for (std::uint32_t i = 0; i < span; ++i) {
        EXPECT_EQ(supply.take_run(span, false), chunk_supply::none);
        supply.give(run + i, 1);
      }
      EXPECT_EQ(supply.take_run(span, false), run);
    });
  }
}

// Seed 90000324 of ouroboros_s_c_stacked, sizes_meet: the last run had served one chunk, and its
// other half was new.
TEST_F(ouroboros_chunk_supply, new_chunks_and_freed_ones_are_a_run_together) {
  const chunk_supply supply = this->supply();
  for (std::uint32_t taken = 1; taken < span; ++taken) {
    machine().launch({1, 1}, [&] {
      supply.format(0, 1, 0, chunks - span);
      std::vector<std::uint32_t> held;
      for (std::uint32_t i = 0; i < taken; ++i) held.push_back(supply.take());
      EXPECT_EQ(supply.take_run(span, true), chunk_supply::none);
      for (const std::uint32_t chunk : held) supply.give(chunk, 1);
      EXPECT_EQ(supply.take_run(span, true), chunks - span) << taken;
      EXPECT_EQ(supply.take_run(span, true), chunk_supply::none);
    });
    machine().launch({1, 1}, [&] {
      supply.format(0, 1, 0, chunks - span);
      const std::uint32_t chunk = supply.take();
      supply.give(chunk, 1);
      EXPECT_EQ(supply.take_run(span, true), chunks - span);
    });
  }
}

// A run is taken by its marks, and one of its entries is found to be void before the run comes
// back.
TEST_F(ouroboros_chunk_supply, each_chunk_of_a_run_has_one_entry_again) {
  const chunk_supply supply = this->supply();
  constexpr std::uint32_t other = 40;
  for (std::uint32_t void_one = 0; void_one < span; ++void_one) {
    machine().launch({1, 1}, [&] {
      supply.format(0, 1, 0, chunks);
      supply.give(void_one, 1);
      supply.give(other, 1);
      for (std::uint32_t i = 0; i < span; ++i) {
        if (i != void_one) supply.give(i, 1);
      }
      EXPECT_EQ(supply.take_run(span, true), 0u);
      EXPECT_EQ(supply.take(), other);
      supply.give(0, span);
    });
    ASSERT_EQ(supply.entries(), span) << void_one;
    std::set<std::uint32_t> all;
    machine().launch({1, 1}, [&] {
      for (std::uint32_t i = 0; i < span; ++i) all.insert(supply.take());
    });
    EXPECT_EQ(all.size(), span);
  }
}

// Two lanes give the halves of a run back together, and one counts them for both.
TEST_F(ouroboros_chunk_supply, a_run_is_there_for_a_lane_that_has_its_units) {
  const chunk_supply supply = this->supply();
  int met = 0;
  bool is_missed = false;
  simt::explorer warps({2, 2}, 20'000);
  const auto begin = [&] {
    machine().launch({1, 1}, [&] { supply.format(0, 1, chunks, chunks); });
  };
  const auto lane = [&] {
    const auto number = static_cast<std::uint32_t>(simt::lane_id());
    if (simt::block_rank() == 0) {
      supply.give(number * (span / 2), span / 2);
      supply.refund(span / 2);
      return;
    }
    if (number != 0) return;
    for (int tries = 0; tries < 20; ++tries) {
      if (supply.left().borrow_all(span)) {
        ++met;
        is_missed = supply.take_run(span, true) == chunk_supply::none;
        return;
      }
      simt::backoff(1);
    }
  };
  expect_in_schedules(warps, WARPHEAP_TEST_SANITIZED ? 500 : 4000, begin, lane,
                      [&] { return is_missed; });
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
