// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane asks for all that call with it. What each of them did and sees is as if it had called
// alone.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/type_list.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

struct point {
  std::uint64_t x;
  using fields = field_list<&point::x>;
};

/// A full heap, and the last two of its objects.
class last_objects : public ::testing::Test {
 protected:
  using manager = dynasoar_objects<type_list<point>>;
  using pointer = decltype(std::declval<const manager&>().make<point>(point{}));

  last_objects() {
    machine().launch({1, 1}, [this] {
      all_.format(0, 1);
      while (const pointer made = all_.make<point>(point{1})) {
        last_[0] = last_[1];
        last_[1] = made;
      }
    });
    full_ = memory_.contents();
  }
  void restore() const { std::copy(full_.begin(), full_.end(), memory_.all().base); }

  // Mistakes were met within a few hundred.
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  const rubbish memory_{16_KiB};
  const manager all_{memory_.all(), machine().properties(), {}};
  pointer last_[2];
  std::vector<std::byte> full_;
};

TEST_F(last_objects, leave_their_places_to_the_lane_that_destroys_them_though_another_one_asks) {
  bool is_refused = false;
  simt::explorer warp({1, 2}, 20'000);
  const auto lane = [&] {
    if (simt::lane_id() == 1) {
      for (const pointer& one : last_) all_.destroy<point>(one);
    }
    const pointer made = all_.make<point>(point{2});
    if (simt::lane_id() == 1) is_refused = !made;
  };
  expect_in_schedules(
      warp, schedules, [&] { restore(); }, lane, [&] { return is_refused; });
}

TEST_F(last_objects, come_with_all_that_was_done_before_they_were_destroyed) {
  std::uint32_t written = 0;
  bool is_old = false;
  simt::explorer warps({2, 2}, 20'000);
  const auto begin = [&] {
    restore();
    written = 0;
  };
  const auto lane = [&] {
    const simt::atomic_ref word(written);
    if (simt::block_rank() == 1) {
      if (simt::lane_id() != 0) return;
      word.store(1, simt::order::relaxed);
      for (const pointer& one : last_) all_.destroy<point>(one);
      return;
    }
    for (int tries = 0; tries < 20; ++tries) {
      if (!all_.make<point>(point{2})) continue;
      if (word.load(simt::order::relaxed) == 0) is_old = true;
      break;
    }
  };
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_old; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
