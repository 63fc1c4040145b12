// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/managers/random_walk/random_walk.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class pages_of_large_heaps : public ::testing::Test {};
using page_managers = ::testing::Types<rw<>, rw_bm<>, corw<>, crw<>>;
TYPED_TEST_SUITE(pages_of_large_heaps, page_managers);

TYPED_TEST(pages_of_large_heaps, blocks_are_apart_and_within) {
  for (const std::size_t gib : {5, 41, 64}) {
    in_region_of(gib << 30, [&](const region& memory) {
      // Zero is what formatting writes, but for the bits beyond the last page.
      const TypeParam manager(memory, small_machine(), {.page_bytes = 16});
      // Clustered walks do not go everywhere.
      constexpr bool is_spread = !std::is_same_v<TypeParam, crw<>>;
      expect_sound_addresses(manager, memory, 16, 2000, is_spread);
    });
  }
}

TEST(runs_of_large_heaps, blocks_are_apart_and_within) {
  for (const std::size_t gib : {5, 70, 1000}) {
    in_region_of(gib << 30, [&](const region& memory) {
      const rw_malloc<> manager(memory, small_machine(), {});
      expect_sound_addresses(manager, memory, 1000, 1000);
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
