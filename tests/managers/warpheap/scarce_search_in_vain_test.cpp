// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What leads searches to no slot is taken away by those that meet it.
#include "any_schedule.hpp"
#include "lone_lane.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/random.hpp"
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

// Others would come to it in vain. It may be there because a lane has seen an older list.
TEST(warpheap_search_in_vain, a_chunk_without_listed_words_does_not_stay_among_the_open_ones) {
  lone_lane one;
  one.subject().heap().on().launch({1, 1}, [&] {
    one.exhaust(16);
    const auto& parts = one.parts();
    const std::uint32_t of = parts.classes().sizes().class_of(16);
    const auto open = parts.classes().open(of);
    const warpheap_scarce_search<small_chunks> search(parts, of);
    constexpr int rounds = 20;
    int looks = 0;
    for (int round = 0; round < rounds; ++round) {
      open.insert(1);
      for (int i = 0; i < 1000 && open.contains(1); ++i, ++looks) search.take_listed(false);
      ASSERT_FALSE(open.contains(1));
    }
    // A look ends with the second visit to it, and one visit of sixteen removes the chunk.
    EXPECT_GT(looks, 3 * rounds);
    open.insert(1);
    search.take_listed(true);
    EXPECT_FALSE(open.contains(1));
  });
}

// A visitor leaves most of such chunks to others, but none of them always, also in heaps whose set
// of chunks has three levels.
TEST(warpheap_search_in_vain, such_a_chunk_does_not_stay_above_one_with_room_either) {
  const exposed_heap<small> subject(2_MiB);
  const small all = subject.heap().ref().manager();
  const auto& parts = all.parts();
  ASSERT_GT(parts.universe(), 64u * 64);
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  const auto open = parts.classes().open(of);
  subject.heap().on().launch({1, 1}, [&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 400; ++i) blocks.push_back(all.malloc(16));
    for (void* const block : blocks) all.free(block);
    std::vector<std::uint32_t> others;
    for (std::uint32_t chunk = 1; chunk < parts.universe(); ++chunk) {
      if (parts.is_open(of, chunk - 1) && chunk % 64 != 0 && !open.contains(chunk)) {
        others.push_back(chunk);
      }
    }
    ASSERT_FALSE(others.empty());
    for (const std::uint32_t chunk : others) open.insert(chunk);
    const warpheap_scarce_search<small_chunks> search(parts, of);
    int served = 0;
    for (int looks = 0; served < 100; ++looks) {
      ASSERT_LT(looks, 10'000);
      served += search.take_listed(false).chunk != search.none;
    }
    const auto stay = std::count_if(others.begin(), others.end(),
                                    [&](std::uint32_t chunk) { return open.contains(chunk); });
    EXPECT_LT(static_cast<std::size_t>(stay), others.size());
  });
}

// A lane draws a word of an empty chunk, and then loses the chunk to a class with fewer words. It
// lists the word again, and each search that draws it would be in vain, and list it again.
TEST(warpheap_search_in_vain, no_word_stays_listed_that_the_class_of_its_chunk_does_not_have) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  const std::uint32_t other = parts.classes().sizes().class_of(128);
  using search = warpheap_scarce_search<small_chunks>;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<void*> blocks;
    while (void* const block = subject.malloc(16)) blocks.push_back(block);
    std::sort(blocks.begin(), blocks.end());
    for (int i = 0; i < 16; ++i) subject.free(blocks[static_cast<std::size_t>(i)]);
  });
  const std::uint32_t words = parts.classes().shape(other).words;
  ASSERT_LT(words, parts.classes().shape(of).words);
  const auto is_wrong = [&] {
    bool wrong = false;
    const std::uint32_t owner = small::chunks::owner_of(parts.chunks().look(0));
    for (std::uint32_t word = words; word < parts.chunks().stride(); ++word) {
      wrong =
          wrong || (owner == chunk_owner::first_class + other && parts.listed().contains(0, word));
    }
    return wrong;
  };
  const std::vector<std::byte> first_empty = memory.contents();
  simt::explorer two({2, 1}, 20'000);
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 6000;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    std::copy(first_empty.begin(), first_empty.end(), memory.all().base);
    const auto outcome = two.run(any_schedule(seed), [&] {
      if (simt::block_rank() != 0) {
        subject.malloc(128);
        return;
      }
      random_sequence random(seed);
      for (std::uint32_t pause = random.below(128); pause != 0; --pause) simt::backoff(1);
      search(parts, of).take_listed(true);
    });
    ASSERT_EQ(outcome.stuck, "");
    if (!is_wrong()) continue;
    machine().launch({1, 1}, [&] {
      for (int looks = 0; looks < 50; ++looks) search(parts, other).take_listed(true);
    });
    ASSERT_FALSE(is_wrong()) << seed;
  }
}

/// Exhausts a heap by 128 B, and frees one block beside what `misleads` leaves behind, again and
/// again.
void expect_found_beside(void (*misleads)(const small::supply&, std::uint32_t of)) {
  lone_lane one;
  one.subject().heap().on().launch({1, 1}, [&] {
    one.exhaust(128);
    const auto& parts = one.parts();
    const std::uint32_t of = parts.classes().sizes().class_of(128);
    for (int round = 0; round < 20; ++round) {
      misleads(parts, of);
      parts.classes().count_unmarked(of, 1);
      ASSERT_TRUE(parts.chunks().unmark(0, 0, chunk_owner::first_class + of));
      parts.list(0, 0);
      one.give_first();
      one.exhaust(128);
    }
  });
}

TEST(warpheap_search_in_vain, a_slot_is_found_beside_any_number_of_words_that_there_are_not) {
  expect_found_beside([](const small::supply& parts, std::uint32_t of) {
    for (std::uint32_t chunk = 0; chunk < parts.universe(); ++chunk) {
      const std::uint32_t most = parts.chunks().stride();
      for (std::uint32_t word = parts.classes().shape(of).words; word < most; ++word) {
        parts.list(chunk, word);
      }
    }
  });
}

TEST(warpheap_search_in_vain, a_slot_is_found_beside_chunks_without_listed_words) {
  expect_found_beside([](const small::supply& parts, std::uint32_t of) {
    for (std::uint32_t chunk = 1; chunk < parts.universe(); ++chunk) {
      parts.classes().open(of).insert(chunk);
    }
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
