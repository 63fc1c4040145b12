// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of 1024 threads, the most that a kernel can have, whatever registers a manager's calls
// want: a launch by the device needs no launch bounds.
#include "conformance/kernels.hpp"
#include "conformance/warp_heaps_kernels.hpp"
#include "device_array.hpp"
#include "manager_names.hpp"
#include "warpheap/registry.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::uint32_t largest_block = 1024;
constexpr std::uint64_t lanes = 4 * std::uint64_t{largest_block};

template <class M>
class blocks_of_1024 : public ::testing::Test {};

TYPED_TEST_SUITE(blocks_of_1024, managers::apply<::testing::Types>, manager_names);

TYPED_TEST(blocks_of_1024, all_lanes_are_served) {
  if (race_checked) GTEST_SKIP() << "such blocks cost ThreadSanitizer a gigabyte each";
  const heap<TypeParam> from(machine(), std::size_t{16} << 20);
  const simt::grid shape = simt::grid::covering(lanes, largest_block);
  const device_array<tally> found(1);
  if constexpr (block_manager<TypeParam>) {
    const device_array<std::uint64_t> bytes(std::vector<std::uint64_t>(lanes, 48));
    const device_array<void*> blocks(lanes);
    machine().launch(shape,
                     allocate<handle<TypeParam>>{from.ref(), bytes.get(), blocks.get(), lanes});
    const std::vector<void*> taken = blocks.read();
    EXPECT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0);
    std::vector<std::uint64_t> other(lanes);
    for (std::uint64_t i = 0; i < lanes; ++i) other[i] = lanes - 1 - i;
    const device_array<std::uint64_t> whose(other);
    machine().launch(shape, check_and_free<handle<TypeParam>>{from.ref(), bytes.get(), blocks.get(),
                                                              whose.get(), lanes, found.get()});
  } else {
    machine().launch(shape, begin_and_end<TypeParam>{from.ref(), 48, 2, 2, false, found.get()});
    EXPECT_EQ(found.read().front().nulls, 0u);
  }
  EXPECT_EQ(found.read().front().corrupted, 0u);
  EXPECT_TRUE(from.validate().ok()) << from.validate().describe();
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
