// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes across the ends of a block under the layer `checked`, over every manager: they are
// reported, and nothing follows what they damaged of a manager's own data between blocks.
#include "conformance/traits.hpp"
#include "device_array.hpp"
#include "manager_names.hpp"
#include "take_and_give.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/registry.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Writes `count` bytes from `from` bytes behind a block's start on, and frees all, every
/// `step`-th first.
template <class Handle>
struct write_and_free {
  static constexpr int culprit = 15;

  Handle heap;
  std::ptrdiff_t from;
  int count;
  int step;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    for (int i = 0; i < count; ++i) taken[culprit][from + i] = std::byte{0x11};
    for (int i = 0; i < simt::warp_size; ++i) {
      heap.free(taken[i * step & (simt::warp_size - 1)]);
    }
  }
};

constexpr std::size_t heap_bytes = std::size_t{1} << 20;

/// No two blocks of a full heap lie side by side. Only such a manager can be damaged by what the
/// layer reports.
template <class M>
bool keeps_data_between_blocks() {
  constexpr std::size_t bytes = 64;
  const heap<M> full(machine(), heap_bytes, options_for<M>(bytes));
  const block_list blocks = take(full, bytes, heap_bytes / bytes);
  return std::adjacent_find(blocks.begin(), blocks.end(),
                            [](const std::byte* one, const std::byte* next) {
                              return next - one == static_cast<std::ptrdiff_t>(bytes);
                            }) == blocks.end();
}

template <class M>
class stray_writes : public ::testing::Test {};
TYPED_TEST_SUITE(stray_writes, managers::apply<::testing::Types>, manager_names);

TYPED_TEST(stray_writes, across_the_ends_of_a_block_are_reported_and_not_followed) {
  if constexpr (!keeps_blocks_in_region<TypeParam>) {
    GTEST_SKIP() << "hands out no single blocks of its region";
  } else {
    using manager_type = checked<TypeParam>;
    using writes = write_and_free<handle<manager_type>>;
    const bool can_be_damaged = keeps_data_between_blocks<TypeParam>();
    // Around the guards' ends, and those of 4, 8 and 16 bytes that a manager may keep between them.
    constexpr int counts[]{1, 33, 40, 44, 48, 52, 64, 80};
    constexpr int steps[]{1, -1, 13};  // upwards, downwards, mixed
    for (const std::size_t bytes : {1, 300, 1000}) {
      if (race_checked && bytes != 300) continue;
      heap<manager_type> heap(machine(), heap_bytes,
                              options_for<manager_type>(checking::footprint(bytes)));
      if (bytes > heap.largest_block()) continue;
      const auto expect_a_report = [&](std::ptrdiff_t from, int count, int step) {
        heap.reset();
        const block_list taken = take(heap, bytes, simt::warp_size);
        ASSERT_EQ(taken.size(), simt::warp_size);
        const device_array<std::byte*> there(taken);
        machine().launch({1, 1}, writes{heap.ref(), from, count, step, there.get()});
        const incident_report found = heap.incidents();
        const auto block = reinterpret_cast<std::uintptr_t>(taken[writes::culprit]);
        EXPECT_TRUE(std::any_of(
            found.incidents.begin(), found.incidents.end(),
            [&](const incident& one) { return one.block == block || one.other == block; }))
            << count << " bytes from " << from << " of " << bytes << ", step " << step;
        EXPECT_TRUE(can_be_damaged || heap.validate().ok()) << heap.validate().describe();
      };
      for (int i = 0; i < 8; ++i) {
        expect_a_report(static_cast<std::ptrdiff_t>(bytes), counts[i], steps[i % 3]);
        expect_a_report(-counts[i], counts[i], steps[(i + 1) % 3]);
      }
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
