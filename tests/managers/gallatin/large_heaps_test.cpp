// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(gallatin_of_large_heaps, leave_the_last_segments_to_runs_blocks_and_units) {
  for (const std::size_t gib : {5, 70, 139}) {
    in_region_of(gib << 30, [&](const region& memory) {
      const gallatin<> manager(memory, small_machine(), {});
      manager.format(0, 1);
      const std::size_t segment = manager.shape().segment_bytes();
      const std::size_t count = manager.shape().segments();
      std::byte* const end = manager.segments() + count * segment;
      in_a_lane([&] {
        // Runs come from the back; what is first leaves only the last segments to the others.
        auto* const run = static_cast<std::byte*>(manager.malloc(3 * segment));
        EXPECT_EQ(run + 3 * segment, end);
        manager.free(run);
        std::vector<void*> first;
        for (std::size_t i = 0; i + 2 < count; ++i) first.push_back(manager.malloc(segment));
        auto* const unit = static_cast<std::byte*>(manager.malloc(48));
        auto* const block = static_cast<std::byte*>(manager.malloc(segment / 4));
        EXPECT_GE(unit, end - 2 * segment);
        EXPECT_GE(block, end - 2 * segment);
        EXPECT_LE(block + segment / 4, end);
        EXPECT_EQ(manager.malloc(segment), nullptr);
        manager.free(unit);
        manager.free(block);
        for (void* each : first) manager.free(each);
        auto* const everything = static_cast<std::byte*>(manager.malloc(count * segment));
        EXPECT_EQ(everything, manager.segments());
        manager.free(everything);
      });
      expect_invariants(manager);
    });
  }
}

/// Segments 0, the one in the middle and the last three are free.
template <gallatin_config Config>
void expect_segments(std::size_t heap_bytes, std::uint32_t most = 0) {
  in_region_of(heap_bytes, [&](const region& memory) {
    const gallatin<Config> manager(memory, small_machine(), {});
    const std::size_t unit = manager.shape().segment_bytes();
    const std::uint32_t count = manager.shape().segments();
    if (most != 0) {
      ASSERT_EQ(count, most);
    }
    constexpr std::uint64_t lanes = 64;  // more than there are searches and lines of slots
    // More than 64 GiB in one run.
    const auto long_run = static_cast<std::uint32_t>(64_GiB / unit + 1);
    const auto& segments = manager.buffers().blocks().segments();
    std::byte* const first = manager.segments();
    EXPECT_GE(first, memory.base);
    EXPECT_LE(first + count * unit, memory.base + memory.bytes);
    const auto at = [&](std::uint32_t i) { return first + std::size_t{i} * unit; };
    in_a_lane([&] {
      format_fronts(manager, lanes);
      clear_fronts(segments.free_segments(), lanes);
      for (const std::uint32_t i : {0u, count / 2}) segments.free_segments().insert(i);
      insert_run(segments.free_segments(), count - 3, 3);
      std::byte* const run = take(manager, 3 * unit);
      EXPECT_EQ(run, at(count - 3));
      manager.free(run);
      const byte_blocks all{at(0), at(count / 2), at(count - 3), at(count - 2), at(count - 1)};
      for (const std::uint32_t here : {0u, count / 2, count - 1}) {
        byte_blocks held;
        for (std::size_t i = 0; i < all.size(); ++i) held.push_back(take(manager, unit));
        ASSERT_EQ(held, all);
        EXPECT_EQ(take(manager, unit), nullptr);
        held.erase(std::find(held.begin(), held.end(), at(here)));
        manager.free(at(here));
        // Whole blocks, and units out of the first block and of the next one.
        for (const std::size_t bytes : {unit / 2, unit / 16, std::size_t{32768}, std::size_t{12288},
                                        std::size_t{4096}, std::size_t{16}}) {
          byte_blocks blocks;
          for (std::size_t i = 0; i < unit / bytes && i < 5000; ++i) {
            blocks.push_back(take(manager, bytes));
          }
          expect_apart(blocks, bytes, at(here), at(here) + unit);
          give(manager, blocks);
          // All of it is back, what waited in slots, too.
          EXPECT_EQ(take(manager, unit), at(here));
          manager.free(at(here));
        }
        give(manager, held);
      }
      EXPECT_EQ(take(manager, 3 * unit), at(count - 3));
      manager.free(at(count - 3));
      insert_run(segments.free_segments(), count - long_run, long_run - 3);
      EXPECT_EQ(take(manager, long_run * unit), at(count - long_run));
      manager.free(at(count - long_run));
      EXPECT_EQ(take(manager, long_run * unit), at(count - long_run));
    });
  });
}

TEST(gallatin_of_large_heaps, the_last_segments_hold_runs_blocks_and_units) {
  expect_segments<gallatin_config{}>(140_GiB);
}
TEST(gallatin_of_large_heaps, so_do_those_of_a_heap_of_half_of_all_addresses) {
  expect_segments<gallatin_config{}>(64_TiB);
}
TEST(gallatin_of_large_heaps, so_do_those_of_a_heap_with_as_many_as_there_can_be) {
  expect_segments<gallatin_config{.segment_bytes = 1_MiB}>(9_TiB, 1u << 23);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
