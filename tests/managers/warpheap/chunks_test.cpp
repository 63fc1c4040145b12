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

/// The slots that a claim should get: the first ones that are free, from one on, and then from 0.
std::uint64_t first_free(std::uint64_t room, const warpheap_chunks<config>::wish& wanted) {
  std::uint64_t got = 0;
  if (std::popcount(room) < wanted.least) return 0;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t slot = std::uint64_t{1} << (wanted.from + i) % 64;
    if ((room & slot) != 0 && std::popcount(got) < wanted.want) got |= slot;
  }
  return got;
}

TEST(warpheap_chunks, a_claim_takes_the_first_free_slots_from_where_it_begins) {
  using chunks_type = warpheap_chunks<config>;
  constexpr std::uint32_t owner = chunk_owner::first_class;
  constexpr std::uint64_t mark = std::uint64_t{1} << 63;
  std::uint32_t state = owner;
  std::uint64_t words[16]{};
  const chunks_type chunks(&state, words, 256);
  machine().launch({1, 1}, [&, word = &words[1]] {
    random_sequence random(1);
    for (int round = 0; round < 3000; ++round) {
      // Two words, of which the second one may have fewer slots.
      const std::uint32_t per_word = 1 + random.below(48);
      const warpheap_slots shape{16, per_word + 1 + random.below(per_word), 2, per_word};
      const chunks_type::target at{0, 1, owner, shape};
      std::uint64_t used = random.next() & random.next() & at.slots();
      if (round % 3 == 0) used = ~used & at.slots();
      const bool is_marked = round % 5 == 0;
      const std::uint64_t before = chunks_type::empty_word(owner) | used | (is_marked ? mark : 0);
      const int want = 1 + static_cast<int>(random.below(32));
      const chunks_type::wish wanted{
          .want = want,
          .from = static_cast<int>(random.below(per_word)),
          .which = round % 2 == 0 ? chunks_type::claims::offered : chunks_type::claims::unmarked,
          .least = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(want)))};
      const bool may = !is_marked || wanted.which == chunks_type::claims::offered;
      const std::uint64_t expected = may ? first_free(at.slots() & ~used, wanted) : 0;
      // What the lane believes to be in the word may be right, or old.
      const std::uint64_t seen = round % 7 == 0 ? before : chunks_type::empty_word(owner);
      for (const bool quickly : {false, true}) {
        *word = before;
        const auto won =
            quickly ? chunks.claim_quickly<2>(at, seen, wanted) : chunks.claim(at, seen, wanted);
        ASSERT_EQ(won.bits, expected) << round;
        ASSERT_EQ(*word, before | expected) << round;
        ASSERT_TRUE(expected == 0 || won.was_empty == (used == 0)) << round;
      }
    }
  });
}

// A lane may be late, and the word is another class's by then.
TEST(warpheap_chunks, a_word_of_another_class_is_left_as_it_is) {
  using chunks_type = warpheap_chunks<config>;
  constexpr std::uint32_t mine = chunk_owner::first_class;
  constexpr std::uint32_t other = mine + 1;
  constexpr std::uint64_t mark = std::uint64_t{1} << 63;
  std::uint32_t state = other;
  std::uint64_t words[16]{};
  const chunks_type chunks(&state, words, 256);
  const warpheap_slots shape = warpheap_slots::of(64, 4, 48, 1);
  const chunks_type::target at{0, 0, mine, shape};
  machine().launch({1, 1}, [&, word = &words[0]] {
    for (const std::uint64_t used : {0u, 5u, 15u}) {
      for (const std::uint64_t full : {std::uint64_t{0}, mark}) {
        for (const std::uint64_t before : {chunks_type::empty_word(other) | used | full, full}) {
          *word = before;
          for (const auto which : {chunks_type::claims::unmarked, chunks_type::claims::offered}) {
            EXPECT_EQ(chunks.claim(at, before, {.which = which}).bits, 0u);
            EXPECT_EQ(chunks.claim(at, before ^ 1, {.which = which}).bits, 0u);
          }
          EXPECT_EQ(chunks.claim_first<2>(at, 4).bits, 0u);
          EXPECT_EQ(chunks.mark_full(at), chunks_type::mark::not_full);
          EXPECT_FALSE(chunks.unmark(0, 0, mine));
          EXPECT_EQ(chunks.close(0, 0, mine), chunks_type::closed::in_use);
          EXPECT_EQ(*word, before);
        }
      }
    }
  });
}

TEST(warpheap_classes, format_touches_nothing_behind_its_trees) {
  constexpr std::uint32_t universe = 100;
  using classes = warpheap_classes<config>;
  const warpheap_size_classes sizes(16);
  std::vector<classes::record> records(sizes.count());
  std::vector<std::uint32_t> hints(warpheap_class_hints::words_for(universe) * sizes.count(), 1);
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

// What an alignment adds to a block may be more than the block, and than the largest slot.
TEST_F(one_heap, a_block_of_any_size_is_at_a_multiple_of_any_alignment) {
  const std::size_t chunk = all().growth_step();
  in_a_lane([&] {
    for (std::size_t alignment = 16; alignment <= 4 * chunk; alignment *= 2) {
      for (const std::size_t bytes :
           {std::size_t{1}, std::size_t{100}, alignment - 1, alignment, alignment + 1,
            chunk / 16 + 1, chunk / 2 - 1, chunk / 2, chunk / 2 + 1, chunk}) {
        void* const block = all().aligned_malloc(alignment, bytes);
        ASSERT_NE(block, nullptr) << bytes << " at " << alignment;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u) << bytes;
        EXPECT_GE(all().usable_size(block), bytes) << alignment;
        all().free(block);
      }
    }
  });
  expect_valid(heap_);
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

TEST_F(one_heap, what_can_be_aligned_is_what_an_empty_heap_serves) {
  const std::size_t chunk = all().growth_step();
  const std::size_t chunks = all().largest_block() / chunk;
  in_a_lane([&] {
    for (std::size_t alignment = chunk; alignment <= 4 * all().largest_block(); alignment *= 2) {
      for (std::size_t length = 1; length <= chunks; ++length) {
        void* const block = all().aligned_malloc(alignment, length * chunk);
        ASSERT_EQ(all().can_align(alignment, length * chunk), block != nullptr)
            << length << " chunks at " << alignment;
        if (block != nullptr) all().free(block);
      }
    }
  });
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

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
