// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_array.hpp"

#include <gtest/gtest.h>
#include <set>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

struct identity {
  std::uint64_t rank;
  std::uint64_t grid;
  std::uint64_t first_noise;
  std::uint64_t second_noise;
  std::uint32_t block;
  std::uint32_t threads;
  std::uint32_t in_block;
  std::uint32_t sm;
  std::uint32_t warp;
  int lane;
};

struct record_identity {
  identity* out;
  WARPHEAP_DEVICE void operator()() const {
    identity& mine = out[simt::thread_rank()];
    mine.rank = simt::thread_rank();
    mine.grid = simt::grid_size();
    mine.first_noise = simt::noise();
    mine.second_noise = simt::noise();
    mine.block = simt::block_rank();
    mine.threads = simt::block_size();
    mine.in_block = simt::thread_in_block();
    mine.sm = simt::sm_id();
    mine.warp = simt::warp().mask().bits();
    mine.lane = simt::lane_id();
  }
};

TEST(identity, numbers_every_lane_once) {
  for (const std::uint32_t threads : {1u, 31u, 32u, 33u, 100u, 128u}) {
    constexpr std::uint32_t blocks = 5;
    const device_array<identity> out(blocks * threads);
    machine().launch({blocks, threads}, record_identity{out.get()});
    const auto lanes = out.read();
    std::set<std::uint64_t> noises;
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
      const identity& lane = lanes[i];
      EXPECT_EQ(lane.rank, i);
      EXPECT_EQ(lane.grid, blocks * threads);
      EXPECT_EQ(lane.block, i / threads);
      EXPECT_EQ(lane.threads, threads);
      EXPECT_EQ(lane.in_block, i % threads);
      EXPECT_EQ(lane.lane, static_cast<int>(i % threads % 32));
      const std::uint32_t first = i % threads / 32 * 32;
      const std::uint32_t in_warp = threads - first < 32 ? threads - first : 32;
      EXPECT_EQ(lane.warp, simt::lane_mask::first(static_cast<int>(in_warp)).bits());
      noises.insert(lane.first_noise);
      noises.insert(lane.second_noise);
    }
    EXPECT_EQ(noises.size(), 2 * lanes.size()) << "two lanes or two calls got the same noise";
  }
}

TEST(identity, blocks_run_on_more_than_one_multiprocessor) {
  constexpr std::uint32_t blocks = 256;
  const device_array<identity> out(blocks);
  machine().launch({blocks, 1}, record_identity{out.get()});
  std::set<std::uint32_t> seen;
  for (const identity& lane : out.read()) seen.insert(lane.sm);
  EXPECT_GT(seen.size(), 1u);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
