// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where lanes look first for a slot of a class, and pointers that are not blocks of a class or run.
#include "damage.hpp"
#include "rubbish.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = warpheap_manager<>;

TEST(warpheap_classes, format_writes_nothing_behind_what_is_theirs) {
  const warpheap_size_classes sizes(14);
  const std::uint32_t universe = 10;
  // What is laid out last is followed by rubbish, so each of the arrays is the last one once.
  for (int last = 0; last < 3; ++last) {
    const rubbish memory(256 * 1024);
    region_cursor cursor = memory.cursor();
    manager::classes::parts where{};
    where.records = cursor.take<manager::classes::record>(sizes.count());
    for (int i = 1; i <= 3; ++i) {
      const int which = (last + i) % 3;
      if (which == 0) {
        where.hints =
            cursor.take<std::uint32_t>(warpheap_class_hints::words_for(universe) * sizes.count());
      } else if (which == 1) {
        where.entries = cursor.take<std::uint32_t>(universe);
      } else {
        where.trees = cursor.take<std::uint64_t>(bitmap_tree::words_for(universe) * sizes.count());
      }
    }
    machine().launch({1, 1}, [&] { manager::classes(sizes, where, universe).format(0, 1); });
    EXPECT_TRUE(memory.is_untouched_behind(cursor)) << last;
  }
}

// Where each place of turns has its own chunks. What follows the hints in use are old ones.
TEST(warpheap_classes, turns_of_many_chunks_name_all_of_them_and_no_other) {
  constexpr std::uint32_t universe = 300;
  constexpr std::uint32_t counted = 256;
  const warpheap_size_classes sizes(14);
  std::vector<manager::classes::record> records(sizes.count());
  std::vector<std::uint32_t> hints(warpheap_class_hints::words_for(universe) * sizes.count());
  std::vector<std::uint32_t> entries(universe);
  std::vector<std::uint64_t> trees(bitmap_tree::words_for(universe) * sizes.count());
  const manager::classes all(sizes, {records.data(), hints.data(), entries.data(), trees.data()},
                             universe);
  std::set<std::uint32_t> named;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    for (std::uint32_t i = 0; i < universe; ++i) hints[i / 2] |= (i + 1) << i % 2 * 16;
    records[0].turns.population = counted;
    for (std::uint32_t turn = 0; turn < 2 * counted; ++turn) {
      named.insert(all.hinted(0, turn, 1, true).chunk);
    }
  });
  EXPECT_EQ(named.size(), counted);
  EXPECT_EQ(*named.begin(), 1u);
  EXPECT_EQ(*named.rbegin(), counted);
}

/// A heap in which some classes have a chunk with room.
class warpheap_hints : public ::testing::Test {
 protected:
  using claims = warpheap_slot_claims<warpheap_config{}>;
  static constexpr std::uint32_t sizes[]{16, 200, 1000, 4096};

  warpheap_hints() {
    for (const std::uint32_t bytes : sizes) take(heap_, bytes, 1);
  }
  std::uint32_t owner_of(std::uint32_t chunk) const {
    return manager::chunks::owner_of(parts().chunks().look(chunk));
  }
  const manager::supply& parts() const { return all_.parts(); }

  heap<manager> heap_{machine(), 4_MiB};
  manager all_ = heap_.ref().manager();
};

TEST_F(warpheap_hints, a_turn_names_a_chunk_of_the_class) {
  machine().launch({1, 1}, [this] {
    for (const std::uint32_t bytes : sizes) {
      const std::uint32_t of = parts().classes().sizes().class_of(bytes);
      const auto at = parts().classes().hinted(of, 0, parts().classes().slots(of).words);
      EXPECT_EQ(owner_of(at.chunk), chunk_owner::first_class + of) << bytes;
    }
  });
}

TEST_F(warpheap_hints, a_turn_serves_where_there_is_room) {
  machine().launch({1, 1}, [this] {
    for (const std::uint32_t bytes : sizes) {
      const std::uint32_t of = parts().classes().sizes().class_of(bytes);
      const auto got = claims(parts(), of).take_in_turn(simt::coalesced(nullptr), true, 0, false);
      ASSERT_NE(got.chunk, claims::none) << bytes;
      EXPECT_EQ(owner_of(got.chunk), chunk_owner::first_class + of) << bytes;
    }
  });
}

// The leader draws the turn for all, whether or not it wants a slot itself.
TEST_F(warpheap_hints, a_turn_is_that_of_all_lanes_of_a_warp) {
  const std::uint32_t of = parts().classes().sizes().class_of(16);
  ASSERT_GE(parts().classes().of(of).shape.words, 4u);
  std::set<std::uint32_t> words;
  machine().launch({1, 2}, [&] {
    const bool wants = simt::lane_id() == 1;
    for (std::uint32_t at = 0; at < 4; ++at) {
      const auto got = claims(parts(), of).take_in_turn(simt::warp(), wants, at, false);
      if (wants) words.insert(got.slot / parts().classes().slots(of).per_word);
    }
  });
  EXPECT_EQ(words.size(), 4u);
}

TEST_F(warpheap_hints, all_chunks_of_the_class_are_named_and_none_that_was_taken_out) {
  take(heap_, 4096, 16);
  const std::uint32_t of = parts().classes().sizes().class_of(4096);
  machine().launch({1, 1}, [&] {
    const auto named = [&] {
      std::set<std::uint32_t> chunks;
      for (std::uint32_t turn = 0; turn < parts().classes().of(of).turns.population; ++turn) {
        chunks.insert(parts().classes().hinted(of, turn, 1, true).chunk);
      }
      return chunks;
    };
    std::set<std::uint32_t> left = named();
    ASSERT_GE(left.size(), 4u);
    while (!left.empty()) {
      parts().classes().remove(of, *left.begin());
      left.erase(left.begin());
      EXPECT_EQ(named(), left);
    }
  });
}

// The count of chunks is only a guess: a chunk may be counted twice for a moment. What follows the
// hints of a class are those of the next one.
TEST_F(warpheap_hints, a_turn_names_no_chunk_of_another_class_if_too_many_are_counted) {
  ASSERT_NE(take_one(heap_, parts().classes().sizes().slot_bytes(1)), nullptr);
  const std::uint32_t counted = parts().universe() + 32;
  parts().classes().of(0).turns.population = counted;
  std::set<std::uint32_t> named;
  machine().launch({1, 1}, [&] {
    for (std::uint32_t turn = 0; turn < counted; ++turn) {
      named.insert(parts().classes().hinted(0, turn, 1, true).chunk);
    }
  });
  for (const std::uint32_t chunk : named) {
    EXPECT_TRUE(chunk == 0 || owner_of(chunk) == chunk_owner::first_class) << chunk;
  }
}

TEST_F(warpheap_hints, a_class_is_tight_when_an_eighth_of_its_words_or_half_of_very_few_has_room) {
  auto& record = parts().classes().of(0);
  record.turns.population = 1;
  const auto is_tight = [&](std::uint32_t words, std::uint32_t with_room) {
    record.unmarked = with_room;
    return parts().classes().is_tight(0, words);
  };
  EXPECT_TRUE(is_tight(16, 2));
  EXPECT_FALSE(is_tight(16, 3));
  EXPECT_TRUE(is_tight(4, 0));
  EXPECT_FALSE(is_tight(4, 1));
  EXPECT_TRUE(is_tight(3, 1));
  EXPECT_FALSE(is_tight(3, 2));
}

TEST_F(warpheap_hints, a_class_is_nearly_full_when_an_eighth_of_its_words_has_room_however_few) {
  auto& record = parts().classes().of(0);
  record.turns.population = 1;
  const auto is_nearly_full = [&](std::uint32_t words, std::uint32_t with_room) {
    record.unmarked = with_room;
    return parts().classes().is_nearly_full(0, words);
  };
  EXPECT_TRUE(is_nearly_full(16, 2));
  EXPECT_FALSE(is_nearly_full(16, 3));
  EXPECT_TRUE(is_nearly_full(2, 0));
  EXPECT_FALSE(is_nearly_full(2, 1));
}

// One that never had a chunk as well: what is known of all its words holds for none.
TEST_F(warpheap_hints, a_class_without_words_has_none_with_room) {
  machine().launch({1, 1}, [this] {
    const auto& classes = parts().classes();
    for (std::uint32_t of = 0; of < classes.sizes().count(); ++of) {
      const bool has_words = classes.of(of).turns.population != 0;
      EXPECT_EQ(classes.all_marked(of) == 0, has_words) << of;
      classes.count_unmarked(of, 1);
      EXPECT_EQ(classes.all_marked(of), 0u) << of;
    }
  });
}

TEST_F(warpheap_hints, some_lanes_look_for_the_last_slots_that_words_may_have) {
  auto& record = parts().classes().of(0);
  const auto lanes_that_look = [&](std::uint32_t per_word, std::uint32_t chunks,
                                   std::uint32_t with_room) {
    constexpr std::uint32_t words = 16;
    record.turns.population = chunks;
    record.unmarked = with_room;
    int lanes = 0;
    for (std::uint32_t i = 0; i < words * chunks; ++i) {
      const std::uint32_t noise = i * ((1u << 28) / chunks);
      lanes += parts().classes().may_search(0, {16, words * per_word, words, per_word}, noise);
    }
    return lanes;
  };
  for (const std::uint32_t slots : {4u, 32u, 48u}) {
    EXPECT_EQ(lanes_that_look(slots, 1, 0), 0) << "there is nothing to find";
    EXPECT_EQ(lanes_that_look(slots, 1, 1), 1);
    EXPECT_EQ(lanes_that_look(slots, 1, 3), 16) << "no longer tight";
  }
  // One for two words, and one more.
  EXPECT_EQ(lanes_that_look(48, 16, 32), 17);
  EXPECT_EQ(lanes_that_look(32, 16, 32), 17);
  EXPECT_EQ(lanes_that_look(16, 16, 32), 9) << "words of half as many slots";
  EXPECT_EQ(lanes_that_look(4, 16, 32), 3);
}

// A word that has more of them serves requests faster as a whole.
TEST_F(warpheap_hints, the_first_three_slots_of_a_marked_word_are_offered_and_then_it_has_room) {
  constexpr std::uint32_t bytes = 128;
  const std::uint32_t of = parts().classes().sizes().class_of(bytes);
  const warpheap_slots shape = parts().classes().shape(of);
  const auto unmarked = [&] {
    return static_cast<std::uint32_t>(parts().classes().of(of).unmarked);
  };
  // Until a chunk is full. They begin at multiples of their size.
  std::map<std::uintptr_t, std::vector<std::byte*>> chunks;
  std::vector<std::byte*>* full = nullptr;
  while (full == nullptr) {
    std::byte* const block = take_one(heap_, bytes);
    auto& beside = chunks[reinterpret_cast<std::uintptr_t>(block) / all_.growth_step()];
    beside.push_back(block);
    if (beside.size() == shape.count) full = &beside;
  }
  std::sort(full->begin(), full->end());
  std::uint32_t chunk = 0;
  const auto is_full = [&](std::uint32_t c) {
    for (std::uint32_t i = 0; i < shape.words; ++i) {
      const std::uint64_t word = parts().chunks().word(c, i);
      if (!manager::chunks::is_of(word, chunk_owner::first_class + of) ||
          manager::chunks::used_of(word) != manager::chunks::slots_in(shape, i)) {
        return false;
      }
    }
    return true;
  };
  while (!is_full(chunk)) ++chunk;
  const std::uint32_t words = unmarked();
  machine().launch({1, 1}, [&] {
    EXPECT_TRUE(warpheap_word_marks<warpheap_config{}>::retire(parts(), of, chunk, 0));
  });
  for (int freed = 1; freed <= 4; ++freed) {
    give(heap_, {(*full)[static_cast<std::size_t>(freed)]});
    machine().launch({1, 1}, [&] { EXPECT_EQ(parts().offers().examine(of), std::min(freed, 3)); });
    EXPECT_EQ(unmarked(), freed <= 3 ? words - 1 : words);
  }
  expect_valid(heap_);
}

TEST(warpheap_free, an_address_behind_the_last_chunk_is_nobodys) {
  const exposed_heap<manager> subject(1_MiB + 300_KiB);
  std::byte* const all = take_one(subject.heap(), subject.heap().largest_block());
  ASSERT_NE(all, nullptr);
  // What stands behind the states of the chunks looks like that of a run.
  const manager::supply parts = subject.heap().ref().manager().parts();
  ASSERT_NE(parts.universe() % 32, 0u) << "nothing but padding may stand there";
  std::byte* const behind = all + subject.heap().largest_block();
  machine().launch({1, 1}, [&] {
    parts.chunks().give(parts.universe(), chunk_owner::run);
    EXPECT_EQ(subject.heap().ref().manager().usable_size(behind), 0u);
    EXPECT_NE(subject.heap().ref().manager().usable_size(all), 0u);
  });
  give(subject.heap(), {behind});
  expect_valid(subject.heap());
  EXPECT_EQ(subject.heap().stats().blocks_in_use, 1u);
}

// Whatever is cut off on the way from an address to a chunk: some of these look like the block
// then.
TEST(warpheap_free, an_address_at_any_power_of_two_from_a_block_is_nobodys) {
  const heap<manager> heap(machine(), 2_MiB);
  for (const std::size_t bytes : {std::size_t{16}, heap.ref().manager().growth_step()}) {
    std::byte* const block = take_one(heap, bytes);
    ASSERT_NE(block, nullptr);
    const std::size_t usable = heap.ref().manager().usable_size(block);
    machine().launch({1, 1}, [&] {
      for (int log2 = 21; log2 < 64; ++log2) {
        for (const std::uintptr_t far :
             {std::uintptr_t{1} << log2, 0 - (std::uintptr_t{1} << log2)}) {
          auto* const foreign =
              reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(block) + far);
          EXPECT_EQ(heap.ref().manager().usable_size(foreign), 0u) << "2^" << log2;
          heap.ref().manager().free(foreign);
        }
      }
      EXPECT_EQ(heap.ref().manager().usable_size(block), usable) << "it was freed";
    });
    EXPECT_EQ(heap.stats().blocks_in_use, 1u);
    give(heap, {block});
    expect_valid(heap);
  }
}

// One lane counts for a class, in heaps of as many words as here at most.
TEST(warpheap_inspection, words_with_room_are_counted_where_there_are_2_to_the_19) {
  using of_single_slots = warpheap_manager<warpheap_config{
      .smallest_chunk = 1u << 14, .largest_chunk = 1u << 14, .word_slots = 1}>;
  const heap<of_single_slots> heap(machine(), 16_MiB, {.initial_bytes = 8_MiB});
  const of_single_slots::supply parts = heap.ref().manager().parts();
  ASSERT_EQ(parts.backed() * parts.chunks().stride(), 1u << 19);
  expect_valid(heap);
  ++parts.classes().of(0).unmarked;
  EXPECT_FALSE(heap.validate().ok());
}

// Those that may not look are not counted, and those that look, once: else none could later on.
TEST(warpheap_classes, lanes_of_which_some_may_look_leave_the_count_as_it_was) {
  const rubbish memory(16_KiB);
  const small all(memory.all(), machine().properties(), {});
  const auto& classes = all.parts().classes();
  constexpr std::uint32_t of = 3;
  const std::uint32_t& searching = classes.of(of).searching;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    EXPECT_EQ(classes.begin_search(of, 3, 4, 2), 2) << "no word is unmarked";
    EXPECT_EQ(searching, 2u);
    EXPECT_EQ(classes.begin_search(of, 3, 4, 2), 0);
    EXPECT_EQ(searching, 2u);
    classes.end_search(of, 2);
    EXPECT_EQ(searching, 0u);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
