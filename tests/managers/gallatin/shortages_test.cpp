// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served.
#include "machine_of.hpp"
#include "refusal_steps.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap with the slots of a large machine, which blocks of 4 KiB fill.
class exhausted_gallatin : public ::testing::Test {
 protected:
  exhausted_gallatin() {
    steps(one_lane, [this] {
      all_.format(0, 1);
      fill();
    });
    EXPECT_GT(blocks_.size(), 1000u);
  }

  void fill() {
    while (void* const block = all_.malloc(4096)) blocks_.push_back(block);
  }
  void give_all() {
    for (void* const block : blocks_) all_.free(block);
    blocks_.clear();
  }

  std::uint64_t steps_of(std::size_t bytes) {
    return steps(one_lane, [&] { EXPECT_EQ(all_.malloc(bytes), nullptr); });
  }

  static constexpr simt::grid one_lane{1, 1};

  rubbish memory_{16_MiB};
  gallatin<> all_{memory_.all(), machine_of(132), {}};
  std::vector<void*> blocks_;
};

constexpr std::uint64_t few = 40;
/// Slots that there is room for. Units have a few of them, at which a search looks.
constexpr std::uint64_t places = 132 * 16;

TEST_F(exhausted_gallatin, one_search_serves_all_requests_that_follow) {
  std::uint64_t slots = 0;
  for (std::uint32_t unit = 0; unit < 16; ++unit) slots += all_.shape().slots(unit);
  steps_of(64);
  EXPECT_LT(steps_of(64), few);
  for (const std::size_t bytes : {256, 100'000}) {
    const std::uint64_t search = steps_of(bytes);
    EXPECT_GT(search, slots);
    EXPECT_LT(search, places);
    EXPECT_LT(steps_of(bytes), few);
  }
}

TEST_F(exhausted_gallatin, requests_that_fail_at_once_share_a_search) {
  for (const std::size_t bytes : {64, 256, 100'000}) {
    const std::uint64_t at_once = steps({8, 1}, [&] { EXPECT_EQ(all_.malloc(bytes), nullptr); });
    EXPECT_LT(at_once, 2 * places) << bytes;
  }
}

TEST_F(exhausted_gallatin, what_comes_back_to_a_used_block_starts_no_search) {
  steps_of(64);
  steps(one_lane, [this] {
    for (std::size_t i = 0; i < blocks_.size(); i += 2) all_.free(blocks_[i]);
  });
  EXPECT_LT(steps_of(64), few);
}

// Each of its searches is spoilt: something has become available meanwhile, though never for it.
TEST_F(exhausted_gallatin, a_request_gives_up_beside_a_lane_that_always_frees) {
  constexpr std::uint64_t a_few_searches = 4 * places;
  for (const std::size_t bytes : {64, 256, 100'000}) {
    const std::uint64_t taken =
        steps_of_a_refusal([&] { return all_.malloc(bytes); },
                           [this] { all_.buffers().blocks().shortages().end_all(); });
    EXPECT_LT(taken, 2 * a_few_searches) << bytes;
  }
}

// Memory may be on its way to the slot of another multiprocessor, of this unit or of another one.
TEST_F(exhausted_gallatin, a_request_gives_up_beside_a_slot_that_is_never_filled) {
  using manager = gallatin<>;
  constexpr std::size_t bytes = 64;
  for (const std::size_t other : {std::size_t{16}, bytes}) {
    steps(one_lane, [&] {
      give_all();
      const manager::block_buffers& buffers = all_.buffers();
      const std::uint32_t unit = manager::geometry::unit_for(other);
      const std::uint32_t slot = (buffers.own_slot(unit) + 1) % all_.shape().slots(unit);
      EXPECT_EQ(buffers.claim_empty(slot, unit), manager::block_buffers::claim::owned);
      fill();
    });
    EXPECT_LT(steps_of(bytes), 40 * places) << other;
    EXPECT_LT(steps_of(2 * all_.shape().segment_bytes()), 100 * places) << other;
  }
}

TEST_F(exhausted_gallatin, a_block_that_has_come_back_is_found) {
  steps_of(64);
  steps_of(4096);
  steps(one_lane, [this] {
    give_all();
    EXPECT_NE(all_.malloc(64), nullptr);
    EXPECT_NE(all_.malloc(4096), nullptr);
  });
}

// It is still in its slot, so only a search of other requests gives it back to all.
TEST_F(exhausted_gallatin, a_block_of_a_slot_whose_last_unit_has_come_back_is_found) {
  steps(one_lane, [this] {
    give_all();
    void* const last = all_.malloc(16);
    fill();
    while (all_.malloc(64) != nullptr) {
    }
    all_.free(last);
    EXPECT_NE(all_.malloc(64), nullptr);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
