// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_array.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Reverses the block's ranks through shared memory, several times over.
struct reverse_block {
  std::uint32_t* out;
  std::uint32_t exited;  // threads from this number on leave before the first barrier
  WARPHEAP_DEVICE void operator()() const {
    auto* shared = reinterpret_cast<std::uint32_t*>(simt::block_shared());
    const std::uint32_t me = simt::thread_in_block();
    if (me >= exited) return;
    std::uint32_t value = me;
    for (int round = 0; round < 3; ++round) {
      shared[me] = value;
      simt::block_sync();
      value = shared[exited - 1 - me];
      simt::block_sync();
    }
    out[simt::thread_rank()] = value + 1000 * simt::block_rank();
  }
};

TEST(block, shares_memory_and_meets_at_barriers) {
  for (const std::uint32_t threads : {1u, 32u, 33u, 96u, 127u}) {
    constexpr std::uint32_t blocks = 9;
    const device_array<std::uint32_t> out(blocks * threads);
    machine().launch({blocks, threads, threads * 4}, reverse_block{out.get(), threads});
    const auto seen = out.read();
    for (std::uint32_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i], threads - 1 - i % threads + 1000 * (i / threads)) << threads;
    }
  }
}

TEST(block, barriers_do_not_wait_for_lanes_that_have_exited) {
  const device_array<std::uint32_t> out(2 * 96);
  machine().launch({2, 96, 96 * 4}, reverse_block{out.get(), 40});
  const auto seen = out.read();
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(seen[i], i < 40 ? 39 - i : 0);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
