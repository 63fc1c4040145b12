// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Near exhaustion, a lane that asks alone gets null only if there is nothing: nobody holds or
// changes what it looks for.
#include "damage.hpp"
#include "lone_lane.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// \param lanes of the warp, of which one asks: a part of it, or all
void expect_exact(std::uint32_t lanes, const std::vector<std::uint32_t>& sizes) {
  lone_lane one;
  one.subject().heap().on().launch({1, lanes}, [&] {
    if (simt::lane_id() != 0) return;
    one.exhaust(sizes[0]);
    for (int round = 0; round < 200; ++round) {
      one.give_some(10);
      for (int i = 0; i < 12; ++i) {
        one.ask(sizes[static_cast<std::size_t>(round) / 8 % sizes.size()]);
      }
    }
  });
  one.subject().heap().on().synchronize();
  expect_valid(one.subject().heap());
}

TEST(warpheap_scarce_search, a_part_of_a_warp_finds_each_slot_of_one_class) {
  expect_exact(2, {16});
  expect_exact(2, {60});
}

TEST(warpheap_scarce_search, a_part_of_a_warp_finds_slots_and_chunks_of_other_classes) {
  expect_exact(2, {16, 60, 128, 80});
}

TEST(warpheap_scarce_search, a_whole_warp_finds_them_as_well) {
  expect_exact(1, {16});
  expect_exact(1, {16, 60, 128, 80});
}

// What is on offer is taken at once: a lane that waits for the next offer would lose it to others.
TEST(warpheap_scarce_search, a_part_of_a_warp_takes_what_is_on_offer_without_a_wait) {
  lone_lane one;
  one.subject().heap().on().launch({1, 2}, [&] {
    if (simt::lane_id() != 0) return;
    one.exhaust(16);
    one.give_some(1);
    const auto& parts = one.parts();
    const warpheap_scarce_search<small_chunks> search(parts, parts.classes().sizes().class_of(16));
    EXPECT_NE(search.take().got.chunk, search.none);
  });
}

// Where the heap only seemed to be dry, there is no reason to wait.
TEST(warpheap_scarce_search, a_part_of_a_warp_takes_a_chunk_that_is_there_without_a_wait) {
  const lone_lane one;
  one.subject().heap().on().launch({1, 2}, [&] {
    if (simt::lane_id() != 0) return;
    const auto& parts = one.parts();
    parts.whole().set_dry(true);
    const warpheap_scarce_search<small_chunks> search(parts, parts.classes().sizes().class_of(16));
    EXPECT_NE(search.take().got.chunk, search.none);
  });
}

// It draws among all words of a class with room, which takes no list and no chunk.
TEST(warpheap_scarce_search, a_part_of_a_warp_takes_a_slot_of_a_class_with_room) {
  lone_lane one;
  one.subject().heap().on().launch({1, 2}, [&] {
    if (simt::lane_id() != 0) return;
    one.ask(16);
    const auto& parts = one.parts();
    const std::uint32_t of = parts.classes().sizes().class_of(16);
    const std::uint32_t chunk = parts.classes().open(of).draw(0);
    for (std::uint32_t word = 0; word < parts.classes().shape(of).words; ++word) {
      parts.listed().unlist(chunk, word);
    }
    parts.whole().set_dry(true);
    const warpheap_scarce_search<small_chunks> search(parts, of);
    EXPECT_EQ(search.take().got.chunk, chunk);
  });
}

// In a nearly full class, only some lanes look there, so this is seen after a while.
TEST(warpheap_scarce_search, a_part_of_a_warp_finds_listed_words_without_a_wait) {
  lone_lane one;
  one.subject().heap().on().launch({1, 2}, [&] {
    if (simt::lane_id() != 0) return;
    one.exhaust(16);
    const auto& parts = one.parts();
    const std::uint32_t of = parts.classes().sizes().class_of(16);
    for (std::uint32_t word = 0; word < 4; ++word) {
      parts.classes().count_unmarked(of, 1);
      ASSERT_TRUE(parts.chunks().unmark(0, word, chunk_owner::first_class + of));
      parts.list(0, word);
    }
    one.give_first();
    const warpheap_scarce_search<small_chunks> search(parts, of);
    bool is_found = false;
    for (int i = 0; i < 1000 && !is_found; ++i) is_found = search.take().got.chunk != search.none;
    EXPECT_TRUE(is_found);
  });
}

// Offers may lead to nothing: others found the slots in words that had lost their marks. A lane
// that must find what there is goes on until no offer is left.
TEST(warpheap_scarce_search, a_thorough_lane_takes_any_number_of_offers_in_vain) {
  // Of so many slots that there is room for eight offers.
  const exposed_heap<small> subject(500 * 256);
  const small all = subject.heap().ref().manager();
  const std::uint32_t of = all.parts().classes().sizes().class_of(16);
  using search = warpheap_scarce_search<small_chunks>;
  subject.heap().on().launch({1, 1}, [&] {
    void* last = nullptr;
    while (void* const block = all.malloc(16)) last = block;
    const auto offer_what_is_full = [&] {
      for (int i = 0; i < small_chunks.most_stale + 1; ++i) {
        ASSERT_TRUE(all.parts().offers().make(of, 0));
      }
    };
    offer_what_is_full();
    all.free(last);
    EXPECT_EQ(search(all.parts(), of).take_offered(false).chunk, search::none);
    EXPECT_NE(search(all.parts(), of).take_offered(true).chunk, search::none);
    offer_what_is_full();
    EXPECT_EQ(search(all.parts(), of).take_offered(true).chunk, search::none);
    EXPECT_EQ(all.parts().offers().examine(of), 0);
  });
}

// A chunk that is noted as empty may be in use again, and there may be more of those than a look
// clears. A request that has not come to the last of them has not seen that there is no chunk,
// whatever others offer meanwhile.
TEST(warpheap_scarce_search, a_look_that_has_not_come_to_the_last_empty_chunk_is_not_the_last_one) {
  const rubbish memory(6_MiB);
  const small all(memory.all(), machine().properties(), {});
  const auto& parts = all.parts();
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    std::vector<void*> blocks;
    while (void* const block = all.malloc(128)) blocks.push_back(block);
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 0; i < 2; ++i) all.free(blocks[i]);  // of chunk 0
    for (std::uint32_t c = 0; c < parts.universe(); ++c) parts.empties().insert(c);
  });
  // In a quarter of the words, the look finds it by chance.
  ASSERT_GE(parts.empties().leaf_words(), 256u);
  const std::uint32_t of = parts.classes().sizes().class_of(60);
  const std::vector<std::byte> state = memory.contents();
  simt::explorer two({2, 1}, 100'000);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::copy(state.begin(), state.end(), memory.all().base);
    bool is_over = false;
    const auto outcome = two.run({simt::strategy::uniform, seed}, [&] {
      if (simt::block_rank() == 0) {
        const auto came = warpheap_scarce_search<small_chunks>(parts, of).take();
        is_over = came.got.chunk == small::supply::none && !came.is_open;
        return;
      }
      for (int pause = 50; pause != 0; --pause) simt::backoff(1);
      if (parts.offers().make(of, 0)) parts.offers().take(of);
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(is_over) << seed;
  }
}

/// Lanes that look once before they give up.
constexpr warpheap_config hasty = [] {
  warpheap_config how = small_chunks;
  how.most_looks = how.part_looks = how.most_undisturbed = 1;
  return how;
}();

// A look may see old values, and then there is a last one, which does not. Whatever is listed by
// then, such as many full words beside one with room, is looked at.
TEST(warpheap_scarce_search, the_last_look_is_at_all_that_was_listed_before) {
  const rubbish memory(16_KiB);
  const warpheap_manager<hasty> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  void* freed = nullptr;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<void*> blocks;
    while (void* const block = subject.malloc(16)) blocks.push_back(block);
    freed = *std::min_element(blocks.begin(), blocks.end());  // in word 0 of chunk 0
  });
  const std::uint32_t words = parts.classes().shape(of).words;
  const auto list_again = [&](std::uint32_t chunk, std::uint32_t word) {
    parts.classes().count_unmarked(of, 1);
    EXPECT_TRUE(parts.chunks().unmark(chunk, word, chunk_owner::first_class + of));
    if (chunk == 0 && word == 0) subject.free(freed);
    parts.list(chunk, word);
  };
  const std::vector<std::byte> full = memory.contents();
  simt::explorer two({2, 1}, 100'000);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    std::uint32_t is_listed = 0;  // relaxed: it says that, and orders nothing
    void* block = nullptr;
    const auto outcome = two.run({simt::strategy::uniform, seed, simt::memory_model::weak}, [&] {
      if (simt::block_rank() != 0) {
        // Ends: the other lane waits for nothing, and pauses let it run.
        while (simt::atomic_ref(is_listed).load(simt::order::relaxed) == 0) simt::backoff(100);
        block = subject.malloc(16);
        return;
      }
      for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
        for (std::uint32_t word = 0; word < words; ++word) list_again(chunk, word);
      }
      list_again(4, 0);  // what was listed before comes before the change of the set
      simt::atomic_ref(is_listed).store(1, simt::order::relaxed);
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_EQ(block, freed) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
