// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A word with room is listed by lanes that may be late: its chunk may have another owner by then.
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A lane lists a word of an empty chunk of its class. Another one gives the chunk to a class of its
// own, fills it, and marks its word, so that none is listed. If the first lane lists its word only
// then, others rely on it: it is to open the chunk for the class that the chunk belongs to now.
TEST(warpheap_supply, a_word_that_is_listed_late_opens_its_chunk_for_the_new_class) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(128);
  const std::uint32_t owner = chunk_owner::first_class + of;
  const warpheap_slots two = parts.classes().shape(of);
  ASSERT_EQ(two.count, 2u);
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<std::byte*> blocks;
    while (void* const block = subject.malloc(80)) {
      blocks.push_back(static_cast<std::byte*>(block));
    }
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 0; i < 3; ++i) subject.free(blocks[i]);  // all of chunk 0
    ASSERT_EQ(small::chunks::words_in_use(parts.chunks().look(0)), 0u);
    ASSERT_FALSE(parts.listed().any(0));
  });
  const std::vector<std::byte> one_empty = memory.contents();
  const auto move_and_fill = [&] {
    using moves = warpheap_chunk_moves<small_chunks>;
    auto how = moves::source::own;
    const auto alone = simt::lane_mask::of(simt::lane_id());
    ASSERT_EQ(moves::add(parts, of, alone, {}, &how), 0u);
    ASSERT_EQ(how, moves::source::for_team);
    ASSERT_EQ(parts.chunks().claim({0, 0, owner, two}, parts.chunks().word(0, 0), {}).bits, 2u);
    ASSERT_TRUE(warpheap_word_marks<small_chunks>::retire(parts, of, 0, 0));
  };
  simt::explorer lanes({2, 1}, 10'000);
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    std::copy(one_empty.begin(), one_empty.end(), memory.all().base);
    std::uint32_t is_listed = 0;  // relaxed: it says that, and orders nothing
    const simt::atomic_ref listed(is_listed);
    const auto outcome = lanes.run({simt::strategy::pct, seed}, [&] {
      if (simt::block_rank() == 0) {
        parts.list(0, 0);
        listed.store(1, simt::order::relaxed);
        return;
      }
      move_and_fill();
      if (listed.load(simt::order::relaxed) == 0) ++late;
      // Ends: the other lane waits for nothing, and pauses let it run.
      while (listed.load(simt::order::relaxed) == 0) simt::backoff(100);
      parts.chunks().give_back(0, 0, 1);
      parts.classes().count_unmarked(of, 1);
      EXPECT_TRUE(parts.chunks().unmark(0, 0, owner));
      parts.list(0, 0);
    });
    ASSERT_EQ(outcome.stuck, "");
    bool is_found = false;
    machine().launch(
        {1, 1}, [&] { is_found = parts.is_open(of, 0) && parts.classes().open(of).contains(0); });
    ASSERT_TRUE(is_found) << seed;
  }
  EXPECT_GT(late, 100);
}

// The lane that has noted it may not have said so yet, and others may be told that there is none.
TEST(warpheap_supply, an_empty_chunk_ends_what_is_known_of_none_also_if_it_is_noted) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(16) != nullptr) {
    }
    ASSERT_TRUE(parts.is_out());
    parts.empties().insert(0);
    ASSERT_TRUE(parts.whole().chunks.is_out(1));
    parts.note_empty(0);
    EXPECT_FALSE(parts.whole().chunks.is_out(1));
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
