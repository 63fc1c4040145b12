// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/heap/layers/checked/quarantine.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// With the largest turn from before, the second one would be slot 0 again: 2^64 - 1 is a multiple
// of three.
TEST(checked_quarantine, keeps_each_block_for_as_many_frees_as_it_has_slots) {
  std::uint64_t turns = 0;
  std::uint64_t slots[3];
  const checking::quarantine kept(&turns, slots, std::size(slots));
  std::byte blocks[9];
  for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    turns = before;
    std::fill(std::begin(slots), std::end(slots), before);
    machine().launch({1, 1}, [&] {
      kept.format(0, 1);
      for (std::size_t i = 0; i < std::size(blocks); ++i) {
        EXPECT_EQ(kept.replace(&blocks[i]), i < 3 ? nullptr : &blocks[i - 3])
            << i << ", " << before;
      }
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
