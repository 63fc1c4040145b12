// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Slots are found by drawing, all over the heap.
TEST(dynasoar_of_large_heaps, blocks_are_apart_and_within) {
  in_region_of(std::size_t{9} << 30, [&](const region& memory) {
    const dynasoar<> manager(memory, small_machine(), {});
    manager.format(0, 1);
    expect_sound_addresses(manager, memory, 1000, 1000);
  });
}

TEST(dynasoar_of_large_heaps, the_last_blocks_hold_slots) {
  using manager_type = dynasoar<>;
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{3_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const manager_type manager(memory, small_machine(), {});
      const auto same = dynasoar_blocks<manager_type::shape>::lay_out(
          memory, "the same", [](region_cursor&, std::uint32_t) {});
      const auto& table = same.state();
      if (of.most != 0) {
        ASSERT_EQ(table.count(), of.most);
      }
      const numbers free_units{0, 1, table.count() / 2, table.count() - 1u};
      in_a_lane([&] {
        format_fronts(manager, 1);
        clear_fronts(table.free_blocks(), 1);
        for (const std::uint64_t i : free_units) {
          table.free_blocks().insert(static_cast<std::uint32_t>(i));
        }
      });
      expect_units(manager, memory, manager.largest_block(), table.count(), free_units, 4);
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
