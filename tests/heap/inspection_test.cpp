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
