// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lanes do to a slot of a block buffer while another lane fills it.
#include "lanes.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// The count of a slot must not wrap around, however long a lane takes to fill it.
TEST(gallatin_slots, each_lane_adds_once_to_one_that_is_being_filled) {
  const gallatin_heap heap(machine(), 1_MiB);
  const auto buffers = heap.ref().manager().buffers();
  const std::uint32_t unit = 0;
  std::uint32_t asking = 0;
  std::uint32_t filling = 0;
  std::uint32_t added = 0;
  void* block = nullptr;
  simt::explorer explorer({2, 1});
  const auto outcome = explorer.run({simt::strategy::uniform, 1}, [&] {
    const simt::atomic_ref slot_of_other(asking);
    const simt::atomic_ref is_filling(filling);
    if (simt::block_rank() == 0) {
      while (slot_of_other.load(simt::order::acquire) == 0) simt::backoff(1);
      const std::uint32_t slot = slot_of_other.load(simt::order::relaxed) - 1;
      EXPECT_EQ(buffers.claim_empty(slot, unit), gallatin<>::block_buffers::claim::owned);
      is_filling.store(1, simt::order::release);
      for (int i = 0; i < 200; ++i) simt::backoff(1);
      added = buffers.look(slot, unit).taken;
      buffers.refill(slot, unit, 0);
    } else {
      slot_of_other.store(buffers.own_slot(unit) + 1, simt::order::release);
      while (is_filling.load(simt::order::acquire) == 0) simt::backoff(1);
      block = heap.ref().malloc(16);
    }
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_EQ(added, 1u);
  EXPECT_NE(block, nullptr);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
