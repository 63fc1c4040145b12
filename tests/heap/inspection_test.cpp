// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a manager notes about itself is where readers look for it.
#include "warpheap/heap/inspection.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(inspection, an_invariant_that_does_not_hold_has_its_own_count_and_place) {
  inspection found;
  found.expect(true, 4, 50);
  found.expect(false, 5, 70);
  found.expect(false, 5, 71);
  for (int i = 0; i < inspection::most_invariants; ++i) {
    EXPECT_EQ(found.violations[i], i == 4 ? 2u : 0u) << "I" << i + 1;
    EXPECT_EQ(found.places[i], i == 4 ? 71u : 0u) << "I" << i + 1;
  }
}

TEST(inspection, what_is_not_in_use_after_all_is_taken_off_where_it_was_added) {
  inspection found;
  found.in_use(3, 300);
  found.in_use(0 - std::uint64_t{1}, 0 - std::uint64_t{100});
  EXPECT_EQ(found.blocks_in_use, 2u);
  EXPECT_EQ(found.bytes_in_use, 200u);
  for (int i = 0; i < inspection::most_sizes; ++i) {
    EXPECT_EQ(found.by_size[i].blocks, i == 7 ? 2u : 0u) << "2^" << i;
    EXPECT_EQ(found.by_size[i].bytes, i == 7 ? 200u : 0u) << "2^" << i;
  }
}

TEST(inspection, blocks_are_counted_by_the_power_of_two_that_holds_one) {
  inspection found;
  const std::uint64_t each[]{1, 2, 3, 4, 5, 8, 9};
  for (const std::uint64_t bytes : each) found.in_use(1, bytes);
  const std::uint64_t blocks[]{1, 1, 2, 2, 1};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(found.by_size[i].blocks, blocks[i]) << "2^" << i;
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
