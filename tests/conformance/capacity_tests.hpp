// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"
#include "conformance/capacity.hpp"
#include "conformance/objects_tests.hpp"
#include "conformance/warp_heaps_tests.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// `manager_traits` says what a new heap of the manager must hold.
template <class M>
concept has_capacities = requires(const simt::device_properties& on) {
  manager_traits<M>::capacities(on);
};

/// The capacity of the fewest blocks.
inline capacity least_of(const std::vector<capacity>& all) {
  return *std::min_element(all.begin(), all.end(), [](const capacity& a, const capacity& b) {
    return a.blocks < b.blocks;
  });
}

/// Those of a manager that lays blocks out in the heap's memory.
template <class M>
std::vector<capacity> all_capacities() {
  static_assert(has_capacities<M>, "the `manager_traits` do not say what a new heap holds");
  return manager_traits<M>::capacities(machine().properties());
}

/// Those that a test checks: a small run has no time for a single lane that fills more heaps.
template <class M>
std::vector<capacity> capacities_to_check() {
  auto all = all_capacities<M>();
  if (small_run) all = {least_of(all)};
  return all;
}

/// Checks each capacity with `fill`, `std::uint64_t (std::size_t heap_bytes, std::size_t bytes)`,
/// which makes a heap and counts the blocks that a single lane gets. Heaps that are smaller by a
/// unit show that the numbers leave no room for the loss of one; one that cannot be made is empty.
template <class M, class Fill>
void expect_capacities(const Fill& fill) {
  const auto held = [&](std::size_t heap_bytes, std::size_t bytes) -> std::uint64_t {
    try {
      return fill(heap_bytes, bytes);
    } catch (const region_too_small&) {
      return 0;
    }
  };
  for (const capacity& room : capacities_to_check<M>()) {
    SCOPED_TRACE("blocks of " + std::to_string(room.block_bytes) + " bytes in a heap of " +
                 std::to_string(room.heap_bytes));
    EXPECT_GE(held(room.heap_bytes, room.block_bytes), room.blocks) << "memory is missing";
    EXPECT_LT(held(room.heap_bytes - room.unit_bytes, room.block_bytes), room.blocks)
        << "the capacity is stated so low that nobody would miss " << room.unit_bytes << " bytes";
  }
}

/// Different blocks that a single lane gets from a heap. A ring never says that it is full: it
/// hands the first ones out again.
template <class M>
std::uint64_t filled_by_one(const heap<M>& from, std::size_t bytes) {
  const std::uint64_t room = from.bytes() / bytes + 1;
  const device_array<void*> blocks(room);
  const device_array<tally> found(1);
  machine().launch({1, 1}, fill_up<handle<M>>{from.ref(), bytes, blocks.get(), room, found.get()});
  std::vector<void*> got = blocks.read();
  got.resize(std::min(found.read()[0].blocks, room));
  std::sort(got.begin(), got.end());
  return static_cast<std::uint64_t>(std::unique(got.begin(), got.end()) - got.begin());
}

CONFORMANCE_TEST(conformance, a_new_heap_holds_all_that_its_layout_has_room_for) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "blocks in the heap's memory");
  if constexpr (TypeParam::about.uses_region) {
    expect_capacities<TypeParam>([](std::size_t heap_bytes, std::size_t bytes) {
      return filled_by_one(*block_fixture<TypeParam>::make_heap(bytes, heap_bytes), bytes);
    });
  }
}

/// Those that are lapped: with the fewest blocks, the most, and one in between. The smaller the
/// blocks, the more structures there are above the units of the layout.
inline std::vector<capacity> capacities_to_lap(std::vector<capacity> all) {
  std::sort(all.begin(), all.end(),
            [](const capacity& a, const capacity& b) { return a.blocks < b.blocks; });
  // A single lane of a GPU, or under a sanitizer, takes seconds to fill the others.
  if (sanitized || WARPHEAP_CUDA_MODEL || small_run || all.size() == 1) return {all.front()};
  if (all.size() == 2) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

// Tickets, epochs, rounds and tags go on for as long as a heap is used: here beyond 2^8 everywhere,
// and beyond 2^16 where 300 ms suffice for that many laps. `./dev nightly` waits for all of them. A
// lap is a ticket of a page queue of Ouroboros, of a bin's semaphore, of a class's words and offers
// of the default manager, an epoch of what is known of the full heap, and an epoch of KMA where a
// superblock is one block.
CONFORMANCE_TEST(conformance, a_heap_that_runs_out_again_and_again_stays_exact) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "blocks in the heap's memory");
  WARPHEAP_REQUIRE(TypeParam::about.frees, "blocks that are freed");
  if constexpr (TypeParam::about.uses_region) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds most_time(300);
    constexpr std::uint64_t laps_of_a_launch = 300;
    const std::uint64_t most_laps = sanitized || WARPHEAP_CUDA_MODEL || small_run ? 300 : 66'000;
    for (const capacity& full : capacities_to_lap(all_capacities<TypeParam>())) {
      SCOPED_TRACE("blocks of " + std::to_string(full.block_bytes) + " bytes");
      const auto heap = this->make_heap(full.block_bytes, full.heap_bytes);
      const std::uint64_t room = full.heap_bytes / full.block_bytes + 1;
      const device_array<void*> blocks(room);
      const device_array<tally> found(1);
      std::uint64_t lap = 0;
      const auto go_on = [&](std::uint64_t laps, bool frees_all) {
        const std::uint64_t together = manager_traits<TypeParam>::reused_together(full.block_bytes);
        machine().launch({1, 1}, exhaust_in_laps<handle<TypeParam>>{
                                     heap->ref(), full.block_bytes, together, lap, laps, frees_all,
                                     blocks.get(), room, found.get()});
        machine().synchronize();
        lap += laps;
      };
      go_on(laps_of_a_launch, false);
      const auto start = clock::now();
      while (lap < most_laps && (all_laps || clock::now() - start < most_time)) {
        go_on(laps_of_a_launch, false);
      }
      this->RecordProperty("laps_of_" + std::to_string(full.block_bytes) + "_bytes",
                           std::to_string(lap));
      go_on(0, true);
      const tally seen = found.read()[0];
      EXPECT_GE(seen.blocks, full.blocks);
      EXPECT_EQ(seen.nulls, 0u) << "requests failed for which a block had just been freed";
      EXPECT_EQ(seen.corrupted, 0u) << "more blocks were handed out than there are";
      this->expect_empty(*heap);
      EXPECT_EQ(filled_by_one(*heap, full.block_bytes), seen.blocks);
    }
  }
}

CONFORMANCE_TEST(warp_heaps, one_warp_heap_can_have_all_that_the_layout_has_room_for) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "blocks in the heap's memory");
  if constexpr (TypeParam::about.uses_region) {
    expect_capacities<TypeParam>([](std::size_t heap_bytes, std::size_t bytes) {
      const heap<TypeParam> filled(machine(), heap_bytes);
      const device_array<tally> found(1);
      machine().launch({1, 1}, take_all_and_end<TypeParam>{filled.ref(), bytes, found.get()});
      return found.read()[0].blocks;
    });
  }
}

CONFORMANCE_TEST(objects, a_new_heap_holds_as_many_of_each_type_as_its_layout_has_room_for) {
  expect_capacities<TypeParam>([](std::size_t heap_bytes, std::size_t bytes) {
    const heap<TypeParam> filled(machine(), heap_bytes);
    const device_array<tally> found(1);
    if (bytes == sizeof(small_object)) {
      machine().launch({1, 1}, make_until_full<TypeParam, small_object>{filled.ref(), found.get()});
    } else {
      machine().launch({1, 1}, make_until_full<TypeParam, large_object>{filled.ref(), found.get()});
    }
    return found.read()[0].blocks;
  });
}

}  // namespace test
WARPHEAP_END_NAMESPACE
