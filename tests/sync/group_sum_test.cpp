// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum over a group, for whole warps and for any part of one.
#include "warpheap/sync/group_sum.hpp"

#include "device_array.hpp"
#include "machine.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

struct sums {
  std::uint64_t before;
  std::uint64_t total;
};

/// What a lane passes: differs between lanes, and does not fit in 32 bits.
WARPHEAP_HD constexpr std::uint64_t value_of(std::uint64_t rank) {
  return (rank + 1) * 0x1'0000'0001ull;
}

/// The lanes of each warp in groups of equal `lane % groups`.
struct sum_lanes {
  int groups;
  sums* found;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    const simt::group alike = simt::warp().match(simt::lane_id() % groups);
    const auto sum = sync::sum_over(alike, value_of(rank));
    found[rank] = {sum.before, sum.total};
  }
};

namespace {

constexpr std::uint32_t threads = 80;  // the last warp is a part of one

TEST(group_sum, is_the_sum_over_the_members_and_over_those_below) {
  for (const int groups : {1, 2, 3, 7, 32}) {
    const device_array<sums> found(threads);
    machine().launch(simt::grid{1, threads}, sum_lanes{groups, found.get()});
    const auto results = found.read();
    for (std::uint64_t me = 0; me < threads; ++me) {
      const std::uint64_t warp = me / simt::warp_size;
      const std::uint64_t group = me % simt::warp_size % static_cast<std::uint64_t>(groups);
      std::uint64_t before = 0;
      std::uint64_t total = 0;
      for (std::uint64_t other = 0; other < threads; ++other) {
        if (other / simt::warp_size != warp ||
            other % simt::warp_size % static_cast<std::uint64_t>(groups) != group) {
          continue;
        }
        if (other < me) before += value_of(other);
        total += value_of(other);
      }
      EXPECT_EQ(results[me].before, before) << "thread " << me << ", " << groups << " groups";
      EXPECT_EQ(results[me].total, total) << "thread " << me << ", " << groups << " groups";
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
