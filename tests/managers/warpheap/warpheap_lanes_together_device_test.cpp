// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of a kernel that allocate and free in turn, each at its own time, stay together
// (docs/decisions/0034). Only a GPU can tell.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using tested_heap = heap<warpheap_manager<>>;

constexpr std::uint32_t blocks = WARPHEAP_TEST_SANITIZED ? 4 : 64;
constexpr std::uint32_t rounds = 64;

/// How many groups of lanes came to a place, and how many lanes they had.
struct crowd {
  std::uint64_t groups = 0;
  std::uint64_t lanes = 0;
  std::uint64_t nulls = 0;
};

/// In each round, a lane frees its block, or allocates one if it has none.
struct lanes_in_turn {
  handle<warpheap_manager<>> from;
  crowd* found;
  std::uint32_t times;

  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(simt::thread_rank());
    void* held[2] = {};
    for (std::uint32_t round = 0; round < times; ++round) {
      count();
      const std::uint64_t drawn = random.next();
      void*& block = held[drawn % 2];
      if (block != nullptr) {
        from.free(block);
        block = nullptr;
      } else {
        block = from.malloc(16 + (drawn >> 32) % 1024);
        if (block == nullptr) simt::atomic_ref(found->nulls).fetch_add(1, simt::order::relaxed);
      }
    }
    from.free(held[0]);
    from.free(held[1]);
  }

  WARPHEAP_DEVICE void count() const {
    const simt::group here = simt::coalesced(found);
    if (!here.is_leader()) return;
    simt::atomic_ref(found->groups).fetch_add(1, simt::order::relaxed);
    simt::atomic_ref(found->lanes)
        .fetch_add(static_cast<std::uint64_t>(here.size()), simt::order::relaxed);
  }
};

TEST(lanes_together, in_a_loop_that_allocates_and_frees) {
  const tested_heap heap(machine(), 64_MiB);
  const auto launch = [&] {
    const device_array<crowd> found(1);
    machine().launch({blocks, 256}, lanes_in_turn{heap.ref(), found.get(), rounds});
    return found.read().front();
  };
  launch();  // the classes grow, which scatters lanes
  const crowd came = launch();
  EXPECT_EQ(came.nulls, 0u);
  EXPECT_EQ(came.lanes, std::uint64_t{blocks} * 256 * rounds);
  EXPECT_TRUE(heap.validate().ok()) << heap.validate().describe();
  if (!WARPHEAP_CUDA_MODEL) GTEST_SKIP() << "the CPU model runs lanes one by one, not together";
  EXPECT_GE(came.lanes / came.groups, 20u) << came.groups << " groups";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
