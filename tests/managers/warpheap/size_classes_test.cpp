// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of size classes and of their words, against what the header's table says.
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Bytes of the slot for a request, by the table.
std::uint32_t slot_for(std::uint32_t bytes, std::uint32_t chunk) {
  if (bytes <= chunk / 16) {
    if (bytes <= 512) return round_up(bytes, 16u);
    std::uint32_t doubling = 512;
    while (doubling * 2 < bytes) doubling *= 2;
    return round_up(bytes, doubling / (doubling < 4096 ? 32 : 16));
  }
  std::uint32_t parts = 15;
  while (chunk / parts / 16 * 16 < bytes) --parts;
  return chunk / parts / 16 * 16;
}

/// Calls a function with each size of a request, or with many in large chunks.
template <class Function>
void for_sizes(const warpheap_size_classes& sizes, const Function& what) {
  const std::uint32_t step = sizes.chunk_shift() <= 14 ? 1 : 13;
  for (std::uint32_t bytes = 1; bytes <= sizes.largest(); bytes += step) what(bytes);
  for (std::uint32_t bytes = 16; bytes <= sizes.largest(); bytes *= 2) {
    what(bytes - 1);
    what(bytes);
    if (bytes < sizes.largest()) what(bytes + 1);
  }
}

TEST(warpheap_size_classes, a_request_has_the_slot_that_the_table_names) {
  for (const int shift : {8, 9, 12, 14, 16, 18, 20}) {
    const warpheap_size_classes sizes(shift);
    for_sizes(sizes, [&](std::uint32_t bytes) {
      const std::uint32_t of = sizes.class_of(bytes);
      ASSERT_LT(of, sizes.count()) << bytes << " of 2^" << shift;
      ASSERT_EQ(sizes.slot_bytes(of), slot_for(bytes, sizes.chunk_bytes()))
          << bytes << " of 2^" << shift;
    });
    for (std::uint32_t of = 1; of < sizes.count(); ++of) {
      ASSERT_GE(sizes.slot_bytes(of), sizes.slot_bytes(of - 1)) << of << " of 2^" << shift;
    }
    EXPECT_EQ(sizes.slot_bytes(sizes.count() - 1), sizes.largest());
  }
}

TEST(warpheap_size_classes, a_slot_for_an_alignment_is_a_multiple_of_it) {
  for (const int shift : {8, 9, 12, 14, 16, 18}) {
    const warpheap_size_classes sizes(shift);
    for (std::uint32_t alignment = 16; alignment <= sizes.largest(); alignment *= 2) {
      for (std::uint32_t bytes = alignment; bytes <= sizes.largest(); bytes += alignment) {
        const std::uint32_t of = sizes.aligned_class_of(bytes);
        ASSERT_LT(of, sizes.count()) << bytes << " at " << alignment << " of 2^" << shift;
        ASSERT_GE(sizes.slot_bytes(of), bytes) << alignment << " of 2^" << shift;
        ASSERT_EQ(sizes.slot_bytes(of) % alignment, 0u) << bytes << " of 2^" << shift;
      }
    }
  }
}

template <int WordSlots>
void expect_words_for_all_slots() {
  using chunks = warpheap_chunks<warpheap_config{.word_slots = WordSlots}>;
  for (const int shift : {8, 12, 14, 18}) {
    const warpheap_size_classes sizes(shift);
    for (std::uint32_t of = 0; of < sizes.count(); ++of) {
      const std::uint32_t bytes = sizes.slot_bytes(of);
      const auto most_words = static_cast<std::uint32_t>(chunks::words_for(sizes.chunk_bytes()));
      const auto slots =
          warpheap_slots::of(bytes, sizes.chunk_bytes() / bytes, WordSlots, most_words);
      ASSERT_LE(slots.per_word, static_cast<std::uint32_t>(WordSlots));
      ASSERT_LE(slots.words, most_words) << of;
      std::uint32_t count = 0;
      for (std::uint32_t word = 0; word < slots.words; ++word) {
        const std::uint64_t bits = chunks::slots_in(slots, word);
        ASSERT_NE(bits, 0u) << of << ": a word without slots";
        ASSERT_EQ(bits & (bits + 1), 0u);
        // A slot's word and bit are found by divisions by `per_word`.
        ASSERT_TRUE(word + 1 == slots.words || popcount(bits) == static_cast<int>(slots.per_word));
        count += static_cast<std::uint32_t>(popcount(bits));
      }
      ASSERT_EQ(count, sizes.chunk_bytes() / bytes) << of << " of 2^" << shift;
    }
  }
}

TEST(warpheap_size_classes, the_words_of_a_chunk_have_a_bit_for_each_slot) {
  expect_words_for_all_slots<1>();
  expect_words_for_all_slots<3>();
  expect_words_for_all_slots<16>();
  expect_words_for_all_slots<48>();
}

// Launches of warps that want such slots take all of a word, or hardly any of the next one.
TEST(warpheap_size_classes, a_warp_fills_a_word_of_large_slots) {
  for (const std::uint32_t count : {512u, 256u, 128u, 64u, 32u}) {
    EXPECT_EQ(warpheap_slots::of(16, count, 48, 342).per_word, 32u) << count;
  }
  EXPECT_EQ(warpheap_slots::of(2000, 131, 48, 342).per_word, 33u);
  EXPECT_EQ(warpheap_slots::of(16, 544, 48, 342).per_word, 46u) << "small ones fill words";
  EXPECT_EQ(warpheap_slots::of(16, 31, 48, 342).words, 1u);
  EXPECT_EQ(warpheap_slots::of(16, 128, 48, 3).per_word, 43u) << "there is no room for four words";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
