// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which words turns name: whatever the order in which places of turns advance, words that were
// visited come again only when all others of the place have been.
#include "any_schedule.hpp"
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = warpheap_manager<>;
using words_visited = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;
constexpr std::uint32_t places = warpheap_state::turn_places;

/// A class of a heap, with what a lane has of it.
struct class_of_heap {
  manager::classes classes;
  std::uint32_t number;
  std::uint32_t chunks;
  std::uint32_t words;

  class_of_heap(const heap<manager>& of, std::uint32_t bytes)
      : classes(of.ref().manager().parts().classes()),
        number(classes.sizes().class_of(bytes)),
        chunks(classes.of(number).turns.population),
        words(classes.of(number).shape.words) {}
};

/// Lane 0 asks for turns {taken | place}, `each` of every place, each place from a start of its
/// own.
struct ask {
  class_of_heap of;
  std::uint32_t each;
  std::uint32_t apart;
  words_visited* seen;

  WARPHEAP_DEVICE void operator()() const {
    if (simt::thread_rank() != 0) return;
    for (std::uint32_t place = 0; place < places; ++place) {
      for (std::uint32_t i = 0; i < each; ++i) {
        const std::uint32_t turn = (i + place * apart) * places + place;
        const auto at = of.classes.hinted(of.number, turn, of.words);
        ++(*seen)[{at.chunk, at.word}];
      }
    }
  }
};

words_visited visit(const heap<manager>& heap, const class_of_heap& of, std::uint32_t each,
                    std::uint32_t apart) {
  words_visited seen;
  heap.on().launch({1, 1}, ask{of, each, apart, &seen});
  heap.on().synchronize();
  return seen;
}

TEST(turns, of_many_chunks_each_place_has_its_own_words) {
  const heap<manager> heap(device::cpu(), std::size_t{1} << 24);
  take(heap, 4096, 1604);
  const class_of_heap of(heap, 4096);
  ASSERT_GE(of.chunks, 256u);
  // As many turns as the places with fewest chunks have words, from starts far apart.
  const std::uint32_t each = of.chunks / places * of.words;
  for (const std::uint32_t apart : {0u, 1u, 1234u}) {
    const words_visited seen = visit(heap, of, each, apart * each);
    EXPECT_EQ(seen.size(), std::size_t{places} * each) << apart;
  }
  // Some places have a chunk more.
  ASSERT_NE(of.chunks % places, 0u);
  EXPECT_EQ(visit(heap, of, each + of.words, 0).size(), of.chunks * of.words);
}

// The first block of 64 bytes brings several chunks.
TEST(turns, of_few_chunks_go_through_all_words) {
  const heap<manager> heap(device::cpu(), std::size_t{1} << 24);
  take(heap, 4096, 40);
  take(heap, 64, 1);
  for (const std::uint32_t bytes : {4096u, 64u}) {
    const class_of_heap of(heap, bytes);
    ASSERT_TRUE(of.chunks > 1 && of.chunks < 256) << of.chunks;
    const std::uint32_t all = of.chunks * of.words;
    const words_visited seen = visit(heap, of, (all + places - 1) / places, 0);
    EXPECT_GE(seen.size(), all - all / 17 - 1) << bytes;
    EXPECT_EQ(visit(heap, of, 2 * all, 0).size(), all) << bytes;
  }
}

TEST(turns, of_17_chunks_or_a_multiple_leave_no_word_out) {
  for (const std::uint32_t chunks : {17u, 34u, 51u}) {
    const heap<manager> heap(device::cpu(), std::size_t{1} << 24);
    while (class_of_heap(heap, 512).chunks < chunks) take(heap, 512, 1);
    const class_of_heap of(heap, 512);
    ASSERT_EQ(of.chunks, chunks);
    EXPECT_EQ(visit(heap, of, of.words * chunks, 0).size(), of.words * chunks) << chunks;
  }
}

// A warp that calls again and again has one place.
TEST(turns, of_one_place_go_through_all_words_of_few_chunks) {
  for (const std::uint32_t chunks : {1u, 2u, 3u, 4u, 8u, 16u, 17u}) {
    const heap<manager> heap(device::cpu(), std::size_t{1} << 24);
    while (class_of_heap(heap, 512).chunks < chunks) take(heap, 512, 1);
    const class_of_heap of(heap, 512);
    ASSERT_EQ(of.chunks, chunks);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    heap.on().launch({1, 1}, [&] {
      for (std::uint32_t taken = 0; taken < of.chunks * of.words; ++taken) {
        const auto at = of.classes.hinted(of.number, taken * places + 5, of.words);
        seen.insert({at.chunk, at.word});
      }
    });
    EXPECT_EQ(seen.size(), chunks * of.words) << chunks;
  }
}

// A place has taken that many after two minutes of launches of a million lanes, and would tell its
// lanes the opposite for as long: changes are made where place 0 says something else.
TEST(turns, say_the_same_after_two_thousand_million_of_them) {
  warpheap_state state;
  bool is_right = true;
  machine().launch({1, 1}, [&] {
    state.format(1);
    for (const bool is_dry : {false, true}) {
      for (warpheap_state::turns& one : state.next) one.taken = warpheap_state::dry - 2;
      state.set_dry(is_dry);
      for (std::uint32_t i = 0; i < 4 * places; ++i) {
        const auto turn = state.next_turn(i);
        const bool is_next =
            turn.number() == (((i / places - 2) * places + i % places) & 0x7fffffffu);
        is_right = is_right && is_next && turn.is_dry() == is_dry;
      }
      is_right = is_right && state.seems_dry() == is_dry;
      state.set_dry(false);
    }
  });
  machine().synchronize();
  EXPECT_TRUE(is_right);
}

// Changes are made where place 0 says something else, so nothing would correct the others: the
// lanes of their warps would look for slots one by one in a heap with room. In weak memory, a lane
// may look at place 0 before what it says elsewhere is there; a GPU has no reason to.
TEST(turns, of_all_places_say_the_same_after_lanes_said_different_things) {
  warpheap_state state;
  simt::explorer three({3, 1}, 20'000);
  const auto differ = [&] {
    bool some = false;
    for (const warpheap_state::turns& one : state.next) {
      some = some || one.taken != state.next[0].taken;
    }
    return some;
  };
  expect_in_schedules(
      three, 6000, [&] { state.format(1); }, [&] { state.set_dry(simt::block_rank() != 0); },
      differ, any_sequential_schedule);
}

TEST(turns, say_whether_the_heap_seems_dry) {
  heap<manager> heap(device::cpu(), std::size_t{1} << 20);
  auto& state = heap.ref().manager().parts().whole();
  bool wet = true;
  bool dry = false;
  const auto look = [&] {
    heap.on().launch({1, 1}, [&] {
      dry = true;
      wet = true;
      for (std::uint32_t place = 0; place < places; ++place) {
        (state.next_turn(place).is_dry() ? wet : dry) = false;
      }
    });
    heap.on().synchronize();
  };
  look();
  EXPECT_TRUE(wet && !dry);
  // However many were taken before.
  for (auto& place : state.next) place.taken = std::uint32_t{1} << 27;
  look();
  EXPECT_TRUE(wet && !dry);
  while (!take(heap, 4096, 1).empty()) {
  }
  look();
  EXPECT_TRUE(dry && !wet);
  heap.reset();
  look();
  EXPECT_TRUE(wet && !dry);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
