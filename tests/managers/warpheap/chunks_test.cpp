// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks and classes by themselves, blocks at the limits of sizes, and chunks that do not belong
// where they are.
#include "machine.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = warpheap_manager<>;
constexpr warpheap_config config;
constexpr std::uint64_t rubbish_word = 0xcdcdcdcdcdcdcdcd;

TEST(warpheap_chunks, format_touches_no_words_of_chunks_that_are_not_backed) {
  constexpr std::uint32_t chunk_bytes = 1u << 16;
  const std::size_t each = warpheap_chunks<config>::words_for(chunk_bytes);
  std::vector<std::uint32_t> states(3, 1);
  std::vector<std::uint64_t> words(3 * each, rubbish_word);
  const warpheap_chunks<config> chunks(states.data(), words.data(), chunk_bytes);
  chunks.format(3, 2, 0, 1);
  for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(chunks.look(c), chunk_owner::nobody);
  for (std::uint32_t i = 0; i < each; ++i) {
    EXPECT_EQ(chunks.word(1, i), 0u) << i;
    EXPECT_EQ(chunks.word(2, i), rubbish_word) << i;
  }
}

TEST(warpheap_classes, format_touches_nothing_behind_its_trees) {
  constexpr std::uint32_t universe = 100;
  using classes = warpheap_classes<config>;
  const warpheap_size_classes sizes(16);
  std::vector<classes::record> records(sizes.count());
  std::vector<std::uint32_t> hints(classes::hint_words(universe) * sizes.count(), 1);
  std::vector<std::uint32_t> entries(universe, 1);
  std::vector<std::uint64_t> trees(bitmap_tree::words_for(universe) * sizes.count() + 1,
                                   rubbish_word);
  const classes all(sizes, {records.data(), hints.data(), entries.data(), trees.data()}, universe);
  all.format(0, 1);
  EXPECT_FALSE(all.open(sizes.count() - 1).any());
  EXPECT_EQ(trees.back(), rubbish_word);
}

class one_heap : public ::testing::Test {
 protected:
  const manager& all() const { return all_; }
  /// Calls a function in a lane.
  template <class Function>
  void in_a_lane(const Function& what) {
    machine().launch({1, 1}, what);
  }
  /// One chunk is where a run should be, or the other way round.
  void expect_wrong_run_at(std::uint32_t chunk) const {
    const validation found = heap_.validate();
    ASSERT_EQ(found.violations.size(), 1u) << found.describe();
    EXPECT_EQ(found.violations[0].invariant, 6);
    EXPECT_EQ(found.violations[0].place, chunk);
  }

  heap<manager> heap_{machine(), 4_MiB};
  manager all_ = heap_.ref().manager();
};

TEST_F(one_heap, an_aligned_block_of_the_largest_class_is_half_of_a_chunk) {
  const std::uint32_t bytes = all().parts().classes().sizes().largest();
  std::size_t usable = 0;
  in_a_lane([&, to = &usable] {
    void* const block = all().aligned_malloc(bytes, bytes);
    ASSERT_NE(block, nullptr);
    *to = all().usable_size(block);
  });
  EXPECT_EQ(usable, bytes);
}

// Classes of aligned blocks cut a chunk into powers of two only.
TEST_F(one_heap, a_block_at_a_multiple_of_16_has_the_class_that_any_other_has) {
  in_a_lane([&] {
    for (const std::uint32_t bytes : {16u, 600u, 5'000u, 6'000u}) {
      void* const plain = all().malloc(bytes);
      void* const aligned = all().aligned_malloc(16, bytes);
      ASSERT_TRUE(plain != nullptr && aligned != nullptr) << bytes;
      EXPECT_EQ(all().usable_size(aligned), all().usable_size(plain)) << bytes;
    }
  });
}

TEST_F(one_heap, all_chunks_together_serve_an_aligned_block_that_leaves_room_to_align) {
  const std::size_t alignment = 2 * all().growth_step();
  void* block = nullptr;
  in_a_lane([&, to = &block] {
    *to = all().aligned_malloc(alignment, all().largest_block() - alignment);
  });
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
}

TEST_F(one_heap, a_chunk_that_is_nowhere_is_found) {
  constexpr std::uint32_t lost = 5;
  in_a_lane([&] { all().parts().pool().remove(lost); });
  expect_wrong_run_at(lost);
}

/// The first chunk of the only large block.
std::uint32_t start_of_run(const manager& in) {
  std::uint32_t first = 0;
  while (manager::chunks::owner_of(in.parts().chunks().look(first)) != chunk_owner::run) ++first;
  return first;
}

TEST_F(one_heap, a_lost_chunk_is_found_behind_a_run_too) {
  std::uint32_t behind = 0;
  in_a_lane([&, to = &behind] {
    all().malloc(2 * all().growth_step());
    *to = start_of_run(all()) + 2;
    all().parts().pool().remove(*to);
  });
  expect_wrong_run_at(behind);
}

TEST_F(one_heap, a_chunk_inside_a_run_that_is_in_the_pool_is_found) {
  std::uint32_t last = 0;
  in_a_lane([&, to = &last] {
    all().malloc(2 * all().growth_step());
    *to = start_of_run(all()) + 1;
    all().parts().pool().insert(*to);
  });
  expect_wrong_run_at(last);
}

TEST_F(one_heap, a_slot_of_a_marked_word_that_is_free_and_not_offered_is_found) {
  const std::uint32_t of = all().parts().classes().sizes().class_of(4096);
  take_all(heap_, 4096, 32);
  const auto& chunks = all().parts().chunks();
  std::uint32_t chunk = 0;
  while (!manager::chunks::is_marked(chunks.word(chunk, 0))) ++chunk;
  in_a_lane([&] { chunks.give_back(chunk, 0, 1); });
  const validation found = heap_.validate();
  ASSERT_EQ(found.violations.size(), 1u) << found.describe();
  EXPECT_EQ(found.violations[0].invariant, 8);
  EXPECT_EQ(found.violations[0].place, of);
}

TEST_F(one_heap, a_chunk_that_is_being_closed_while_nobody_calls_is_found) {
  ASSERT_NE(take_one(heap_, 4096), nullptr);
  const auto& chunks = all().parts().chunks();
  std::uint32_t chunk = 0;
  while (chunks.look(chunk) == chunk_owner::nobody) ++chunk;
  in_a_lane([&] { chunks.give(chunk, chunks.look(chunk) | manager::chunks::closing); });
  const validation found = heap_.validate();
  ASSERT_EQ(found.violations.size(), 1u) << found.describe();
  EXPECT_EQ(found.violations[0].invariant, 5);
  EXPECT_EQ(found.violations[0].place, chunk);
}

/// The lists of three chunks of 100 words, two 64-bit words each.
class lists_of_two_words : public ::testing::Test {
 protected:
  lists_of_two_words() { listed_.format(3, 0, 1); }

  /// The words of a chunk that many draws yield.
  std::set<std::uint32_t> drawn(std::uint32_t chunk) const {
    std::set<std::uint32_t> words;
    for (std::uint64_t i = 0; i < 4000; ++i) words.insert(listed_.draw(chunk, mix64(i)));
    return words;
  }

  static constexpr std::uint32_t each = 100;
  std::vector<std::uint64_t> storage_ =
      std::vector<std::uint64_t>(3 * warpheap_listed_words::words_for(each) + 1, rubbish_word);
  const warpheap_listed_words listed_{storage_.data(), each};
};

TEST_F(lists_of_two_words, begin_empty_and_end_where_their_storage_does) {
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
    EXPECT_FALSE(listed_.any(chunk));
    EXPECT_EQ(drawn(chunk), std::set{warpheap_listed_words::none});
  }
  EXPECT_EQ(storage_.back(), rubbish_word);
}

TEST_F(lists_of_two_words, yield_what_is_listed_of_the_chunk) {
  for (const std::uint32_t word : {0u, 63u, 64u, 99u}) {
    listed_.list(1, word);
    EXPECT_TRUE(listed_.any(1) && listed_.contains(1, word));
    EXPECT_EQ(drawn(1), std::set{word});
    for (const std::uint32_t beside : {0u, 2u}) {
      EXPECT_FALSE(listed_.any(beside)) << word;
      EXPECT_EQ(drawn(beside), std::set{warpheap_listed_words::none}) << word;
    }
    listed_.unlist(1, word);
    EXPECT_FALSE(listed_.any(1) || listed_.contains(1, word)) << word;
  }
}

TEST_F(lists_of_two_words, hold_all_words_of_one_chunk_and_leave_its_neighbours_alone) {
  listed_.list(0, 70);
  listed_.list(2, 5);
  // Of three lanes, the last one has nothing to do.
  for (std::uint32_t rank = 0; rank < 3; ++rank) listed_.list_all(1, each, rank, 3);
  std::set<std::uint32_t> all;
  for (std::uint32_t word = 0; word < each; ++word) all.insert(word);
  EXPECT_EQ(drawn(1), all);
  EXPECT_EQ(drawn(0), std::set{70u});
  EXPECT_EQ(drawn(2), std::set{5u});
}

TEST(warpheap_offers, format_touches_nothing_behind_its_cells) {
  const warpheap_size_classes sizes(14);
  constexpr std::uint32_t chunks = 100;
  const std::uint32_t all = warpheap_offers::all_cells(sizes, chunks);
  std::vector<warpheap_offers::ring> rings(warpheap_offers::all_rings(sizes, chunks) + 1);
  std::vector<warpheap_offers::extent> extents(sizes.count() + 1, rubbish_word);
  std::vector<std::uint32_t> cells(all + 1, 1);
  rings.back().made = 1;
  const warpheap_offers offers(rings.data(), extents.data(), sizes.count(), cells.data(), all);
  offers.format(sizes, chunks, 0, 1);
  for (std::uint32_t of = 0; of < sizes.count(); ++of) EXPECT_EQ(offers.examine(of), 0) << of;
  EXPECT_EQ(cells.back(), 1u);
  EXPECT_EQ(rings.back().made, 1u);
  EXPECT_EQ(extents.back(), rubbish_word);
}

// Numbers drawn in vain would send a later lane round the ring, for milliseconds.
TEST(warpheap_offers, as_many_numbers_are_drawn_for_offers_as_there_are_offers) {
  constexpr std::uint32_t of = 0;
  warpheap_offers::ring ring{};
  warpheap_offers::extent extent = std::uint64_t{64} << 48;  // cells
  std::vector<std::uint32_t> cells(64);
  const warpheap_offers offers(&ring, &extent, 1, cells.data(), 64);
  for (int rounds = 0; rounds < 3; ++rounds) {
    // The second warp finds room for twelve.
    for (const std::uint32_t lanes : {20u, 32u, 32u}) {
      machine().launch({1, lanes},
                       [&] { offers.make(of, static_cast<std::uint32_t>(simt::thread_rank())); });
    }
    EXPECT_EQ(offers.examine(of), 32) << "half of the cells";
    machine().launch({1, 1}, [&] {
      for (int left = 32; left != 0; --left) EXPECT_NE(offers.take(of), warpheap_offers::none);
    });
    EXPECT_EQ(offers.examine(of), 0);
    EXPECT_EQ(ring.made, ring.taken);
  }
}

// What a lane has left in a cell costs the next offer a number, and the cell serves again.
TEST(warpheap_offers, a_cell_that_a_lane_gave_up_is_free_again) {
  constexpr std::uint32_t of = 0;
  warpheap_offers::ring ring{};
  warpheap_offers::extent extent = std::uint64_t{8} << 48;  // cells
  std::vector<std::uint32_t> cells(8);
  const warpheap_offers offers(&ring, &extent, 1, cells.data(), 8);
  cells[0] = 0xffffffffu;
  ring.taken = 1;  // by that lane
  machine().launch({1, 1}, [&] {
    EXPECT_TRUE(offers.make(of, 7));
    EXPECT_EQ(offers.take(of), 7u);
  });
  EXPECT_EQ(ring.made, 2u);
  EXPECT_EQ(cells, std::vector<std::uint32_t>(8));
}

// A class of many slots has four rings; lanes of other multiprocessors look into all of them.
TEST(warpheap_offers, what_is_offered_in_one_ring_is_taken_through_any) {
  const warpheap_size_classes sizes(14);
  constexpr std::uint32_t chunks = 2048;
  constexpr std::uint32_t of = 0;
  std::vector<warpheap_offers::ring> rings(warpheap_offers::all_rings(sizes, chunks));
  std::vector<warpheap_offers::extent> extents(sizes.count());
  std::vector<std::uint32_t> cells(warpheap_offers::all_cells(sizes, chunks));
  const warpheap_offers offers(rings.data(), extents.data(), sizes.count(), cells.data(),
                               static_cast<std::uint32_t>(cells.size()));
  machine().launch({1, 1}, [&] { offers.format(sizes, chunks, 0, 1); });
  ASSERT_EQ(extents[of], std::uint64_t{1024} << 48 | std::uint64_t{3} << 32) << "cells, more rings";
  // The warps of a block have different rings.
  machine().launch({1, 128},
                   [&] { offers.make(of, static_cast<std::uint32_t>(simt::thread_rank())); });
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<std::uint32_t>(rings[i * sizes.count() + of].counts), 32u) << i;
  }
  EXPECT_EQ(offers.examine(of), 128);
  std::vector<int> taken(128);
  machine().launch({1, 1}, [&] {
    for (int left = 128; left != 0; --left) {
      EXPECT_FALSE(offers.seem_gone(of));
      EXPECT_TRUE(offers.any(of));
      const std::uint32_t word = offers.take(of);
      ASSERT_LT(word, 128u);
      ++taken[word];
    }
    EXPECT_EQ(offers.take(of), warpheap_offers::none);
    EXPECT_FALSE(offers.any(of));
  });
  EXPECT_EQ(taken, std::vector<int>(128, 1));
  EXPECT_EQ(offers.examine(of), 0);
}

TEST(warpheap_offers, rings_have_a_cell_for_512_slots_or_256_large_ones_within_bounds) {
  for (const int chunk_shift : {12, 16, 20}) {
    const warpheap_size_classes sizes(chunk_shift);
    for (const std::uint32_t chunks : {1u, 64u, 2048u, 65536u}) {
      std::uint64_t expected = 0;
      for (std::uint32_t of = 0; of < sizes.count(); ++of) {
        const std::uint32_t bytes = sizes.slot_bytes(of);
        const std::uint64_t slots = std::uint64_t{sizes.chunk_bytes() / bytes} * chunks;
        const std::uint64_t each = bytes <= 1024 ? 512 : 256;
        expected += std::clamp<std::uint64_t>(std::bit_ceil((slots + each - 1) / each), 8, 8192);
      }
      EXPECT_EQ(warpheap_offers::all_cells(sizes, chunks), expected);
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
