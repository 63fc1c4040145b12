// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All lanes that get one block together know what its last owner did, and not only the one of them
// that asked the manager: in weak memory.
#include "machine.hpp"
#include "managers/warpheap/small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(shared_block, comes_to_every_lane_with_what_the_last_owner_wrote) {
  if (race_checked) GTEST_SKIP() << "ThreadSanitizer's memory is not weak";
  constexpr std::size_t bytes = 256;
  const heap<small> full(machine(), 16_KiB);
  const handle<small> from = full.ref();
  machine().launch({1, 1}, [&] {
    void* last = nullptr;
    while (void* const block = from.malloc(bytes)) last = block;
    from.free(last);  // the only one that there is
  });
  machine().synchronize();
  simt::explorer warps({2, 2}, 20'000);
  std::uint32_t taken = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    std::uint32_t written = 0;
    std::uint32_t newest = 0;  // what it would be if memory were not weak
    bool is_old = false;
    const auto outcome = warps.run({simt::strategy::uniform, seed, simt::memory_model::weak}, [&] {
      const simt::atomic_ref in(written);
      if (simt::block_rank() == 0) {
        void* const block = from.malloc_shared(simt::warp(), bytes);
        if (block == nullptr) return;
        if (in.load(simt::order::relaxed) != newest) is_old = true;
        if (simt::lane_id() == 1) taken += newest;
        simt::warp().sync();
        if (simt::lane_id() == 0) from.free(block);
      } else if (simt::lane_id() == 0) {
        void* const block = from.malloc(bytes);
        if (block == nullptr) return;
        in.store(++newest, simt::order::relaxed);
        from.free(block);
      }
    });
    ASSERT_EQ(outcome.stuck, "") << seed;
    ASSERT_FALSE(is_old) << seed;
  }
  EXPECT_GT(taken, 10u) << "the lanes never had the block after another one";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
