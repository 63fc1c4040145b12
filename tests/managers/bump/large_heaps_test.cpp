// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/managers/bump/bump.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A heap whose counters alone are there. Each refused request adds nearly its size to the counter,
// so that a few million of them would take it around 64 bits.
template <class M>
class counters_of_bump : public ::testing::Test {};
using bump_managers =
    ::testing::Types<bump<bump_config{bump_counters::one}>, bump<bump_config{bump_counters::warp}>,
                     bump<bump_config{bump_counters::sharded}>>;
TYPED_TEST_SUITE(counters_of_bump, bump_managers);

TYPED_TEST(counters_of_bump, requests_that_are_refused_never_wrap_them) {
  struct alignas(4096) counters {
    std::byte bytes[4096];
  };
  static counters memory;
  constexpr std::size_t heap_bytes = std::size_t{1} << 48;
  const TypeParam manager(region{memory.bytes, heap_bytes}, small_machine(), {});
  manager.format(0, 1);
  const std::size_t share = manager.largest_block();
  ASSERT_GE(share * small_machine().multiprocessors, heap_bytes - 4096 - 4 * 16 - 64);
  int served = 0;
  in_a_lane([&] {
    constexpr int requests = sanitized ? 100'000 : 5'000'000;
    for (int i = 0; i < requests; ++i) {
      const auto* const block = static_cast<std::byte*>(manager.malloc(share - 16));
      if (block == nullptr) continue;
      ++served;
      EXPECT_GE(block, memory.bytes);
    }
  });
  // One for each counter, and never again.
  EXPECT_EQ(served, static_cast<int>(heap_bytes / share));
  expect_invariants(manager);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
