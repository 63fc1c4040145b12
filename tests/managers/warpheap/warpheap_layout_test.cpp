// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many chunks a region has room for. Regions that nobody touches: layouts only compute.
#include "machine.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include "small.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
M over(std::size_t bytes, std::uintptr_t start = std::uintptr_t{1} << 40) {
  return M({reinterpret_cast<std::byte*>(start), bytes}, machine().properties(), {});
}

template <class M>
std::size_t chunks_of(const M& heap) {
  return heap.largest_block() / heap.growth_step();
}

/// What a heap takes of its region, whose chunks may begin anywhere in one more.
template <class M>
std::size_t bytes_of(const M& heap) {
  const auto parts = heap.touched(heap.largest_block());
  const auto before = static_cast<std::size_t>(parts[1].base + parts[1].bytes - parts[0].base);
  return round_up<std::size_t>(before, 16) + (chunks_of(heap) + 1) * heap.growth_step();
}

/// Each number of chunks that these regions have is that of its smallest region, so that no region
/// has room for one more.
template <class M>
void expect_most_chunks(std::size_t from, std::size_t to, std::size_t step) {
  std::size_t before = 0;
  for (std::size_t bytes = from; bytes <= to; bytes += step) {
    const M heap = over<M>(bytes);
    const std::size_t chunks = chunks_of(heap);
    const std::size_t needed = bytes_of(heap);
    ASSERT_GE(chunks, before) << bytes;
    ASSERT_LE(needed, bytes);
    if (chunks == before) continue;
    ASSERT_EQ(chunks_of(over<M>(needed)), chunks) << needed;
    if (chunks == 1) {
      ASSERT_THROW(over<M>(needed - 16), region_too_small);
    } else {
      ASSERT_EQ(chunks_of(over<M>(needed - 1)), chunks - 1) << needed;
    }
    before = chunks;
  }
}

TEST(layout, has_as_many_chunks_as_fit_beside_their_metadata) {
  expect_most_chunks<small>(16_KiB, 200_KiB, 112);
  using medium = warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}>;
  expect_most_chunks<medium>(64_KiB, 2_MiB, 3888);
  expect_most_chunks<warpheap_manager<>>(256_KiB, 8_MiB, 16'368);
}

TEST(layout, does_not_depend_on_where_the_region_begins) {
  for (std::size_t bytes = 64_KiB; bytes < 4_MiB; bytes += 50'000) {
    const std::size_t chunks = chunks_of(over<small>(bytes));
    for (const std::uintptr_t start : {256u, 512u, 3840u}) {
      EXPECT_EQ(chunks_of(over<small>(bytes, start)), chunks) << bytes << " at " << start;
    }
  }
}

// Hints have 16 bits for the number of a chunk.
TEST(layout, a_large_heap_has_larger_chunks_and_never_more_than_2_to_the_16) {
  for (std::size_t bytes = 4_GiB; bytes < 2048_GiB; bytes += bytes / 4 + 1_MiB) {
    EXPECT_LE(chunks_of(over<warpheap_manager<>>(bytes)), 65536u) << bytes;
  }
}

TEST(layout, a_heap_whose_words_have_no_32_bit_numbers_is_refused_with_the_limit) {
  EXPECT_GT(over<warpheap_manager<>>(3072_GiB).largest_block(), 2900_GiB);
  for (const std::size_t bytes : {4096_GiB, 5120_GiB, 65536_GiB}) {
    try {
      over<warpheap_manager<>>(bytes);
      ADD_FAILURE() << bytes << " bytes";
    } catch (const invalid_argument& refused) {
      const std::string what = refused.what();
      EXPECT_NE(what.find(std::to_string(bytes)), std::string::npos) << what;
      EXPECT_NE(what.find("at most "), std::string::npos) << what;
    }
  }
}

TEST(layout, the_limit_for_blocks_is_what_the_largest_heap_has) {
  std::size_t accepted = 3072_GiB;
  std::size_t refused = 4096_GiB;
  std::string why;
  while (refused - accepted > 1) {
    const std::size_t middle = accepted + (refused - accepted) / 2;
    try {
      over<warpheap_manager<>>(middle);
      accepted = middle;
    } catch (const invalid_argument& too_large) {
      why = too_large.what();
      refused = middle;
    }
  }
  const std::size_t largest = over<warpheap_manager<>>(accepted).largest_block();
  EXPECT_NE(why.find("at most " + std::to_string(largest) + " for blocks"), std::string::npos)
      << why << ", and a heap has " << largest;
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
