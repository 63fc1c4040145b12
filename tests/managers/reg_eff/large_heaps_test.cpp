// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// They have less than 32 GiB.
TEST(reg_eff_of_large_heaps, large_blocks_leave_the_far_end_to_small_ones) {
  expect_small_blocks_at_the_far_end<reg_eff<reg_eff_config{.presplit_bytes = 0}>>({5, 31});
}
TEST(reg_eff_of_large_heaps, so_do_those_of_many_offsets_and_short_headers) {
  constexpr reg_eff_config config{
      .offsets = memory_offsets::per_multiprocessor, .header_words = 1, .presplit_bytes = 0};
  expect_small_blocks_at_the_far_end<reg_eff<config>>({5, 31});
}

template <class M>
class counters_of_reg_eff : public ::testing::Test {};
using reg_eff_counters =
    ::testing::Types<reg_eff<reg_eff_config{.keeps = book_keeping::counter}>,
                     reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>>;
TYPED_TEST_SUITE(counters_of_reg_eff, reg_eff_counters);

// They have no limit, and nobody touches their blocks: the counter alone is there.
TYPED_TEST(counters_of_reg_eff, lead_to_the_last_granule) {
  struct alignas(4096) counters {
    std::byte bytes[4096];
  };
  static counters memory;
  for (const std::size_t bytes : {70_GiB, 256_TiB}) {
    const TypeParam manager(region{memory.bytes, bytes}, small_machine(), {});
    const std::size_t all = manager.largest_block();
    EXPECT_EQ(all, bytes - 128);
    in_a_lane([&] {
      manager.format(0, 1);
      auto* const first = static_cast<std::byte*>(manager.malloc(all / 2));
      EXPECT_EQ(first, memory.bytes + 128);
      EXPECT_EQ(manager.malloc(16), first + all / 2);
      EXPECT_EQ(manager.malloc(all / 2 - 32), first + all / 2 + 16);
      EXPECT_EQ(manager.malloc(16), first + all - 16);
      if (TypeParam::about.reuse == memory_reuse::none) {
        EXPECT_EQ(manager.malloc(16), nullptr);
      } else {
        EXPECT_EQ(manager.malloc(all), first);
        EXPECT_EQ(manager.malloc(all - 16), first);
        EXPECT_EQ(manager.malloc(16), first + all - 16);
      }
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
