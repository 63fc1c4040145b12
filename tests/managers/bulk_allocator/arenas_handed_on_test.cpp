// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lanes have freed is there for those that take it next, whatever others have yet to do.
#include "any_schedule.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Chunks of two pages, with one bin of four blocks.
constexpr bulk_allocator_config single_bins{.page_bytes = 128,
                                            .header_bytes = 32,
                                            .chunk_log2 = 1,
                                            .smallest_block = 32,
                                            .largest_small = 32,
                                            .chunks_per_arena = 2};
constexpr std::size_t page = 128;
constexpr std::size_t bytes = 32;
constexpr std::size_t blocks = 4;

/// A full heap, with one bin of blocks.
class bulk_allocator_handed_on : public ::testing::Test {
 protected:
  bulk_allocator_handed_on() {
    machine().launch({1, 1}, [&] {
      all.format(0, 1);
      for (void*& one : bin) one = all.malloc(bytes);
      while (all.malloc(page) != nullptr) {
      }
      EXPECT_EQ(all.malloc(bytes), nullptr);
    });
    full_ = memory_.contents();
  }
  void restore() const { std::copy(full_.begin(), full_.end(), memory_.all().base); }

  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;

 private:
  const rubbish memory_{4_KiB};

 protected:
  const bulk_allocator<single_bins> all{memory_.all(), machine_of(1), {}};
  std::vector<void*> bin = std::vector<void*>(blocks);

 private:
  std::vector<std::byte> full_;
};

// Nothing but the blocks of a bin becomes free. A lane that gets all of them, and frees them, makes
// the bin whole again, which then serves a page: whatever the first one has yet to say about it.
TEST_F(bulk_allocator_handed_on, a_lane_finds_what_it_has_freed_though_another_one_notes_it) {
  bool has_all = false;
  void* got = nullptr;
  int met = 0;
  simt::explorer lanes({2, 1}, 20'000);
  const auto begin = [&] {
    restore();
    has_all = false;
    got = nullptr;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      for (void* const one : bin) all.free(one);
      return;
    }
    std::vector<void*> own;
    for (int tries = 0; tries < 60 && own.size() < blocks; ++tries) {
      if (void* const one = all.malloc(bytes)) own.push_back(one);
    }
    has_all = own.size() == blocks;
    for (void* const one : own) all.free(one);
    if (has_all) got = all.malloc(page);
  };
  expect_in_schedules(lanes, schedules, begin, lane, [&] {
    met += has_all ? 1 : 0;
    return has_all && got == nullptr;
  });
  EXPECT_GT(met, 0);
}

// A lane frees a bin, which is noted, and asks for a page together with a lane before it, which has
// seen nothing of that and reclaims for both.
TEST_F(bulk_allocator_handed_on, a_lane_that_reclaims_for_others_finds_what_they_have_freed) {
  std::uint32_t is_freed = 0;
  bool is_served = false;
  simt::explorer warp({1, 2}, 20'000);
  const auto begin = [&] {
    restore();
    is_freed = 0;
    is_served = false;
  };
  const auto lane = [&] {
    const simt::atomic_ref freed(is_freed);
    if (simt::lane_id() == 1) {
      for (void* const one : bin) all.free(one);
      freed.store(1, simt::order::relaxed);
    }
    while (freed.load(simt::order::relaxed) == 0) simt::backoff(1);
    if (all.malloc(page) != nullptr) is_served = true;
  };
  expect_in_schedules(warp, schedules, begin, lane, [&] { return !is_served; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
