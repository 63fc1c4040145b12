// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a class takes a chunk, and what of the heap is known to be left when it decides.
#include "any_schedule.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = warpheap_manager<>;
using growth = warpheap_class_growth<warpheap_config{}>;
constexpr std::size_t chunk_bytes = 16_KiB;

/// How many of the first `lanes` lanes of a warp get a block, of which the others want none.
std::uint32_t take_in_part(const heap<manager>& from, std::size_t bytes, std::uint64_t lanes) {
  const device_array<std::byte*> there(lanes);
  from.on().launch({1, 32}, take_one_each<manager>{from.ref(), bytes, lanes, there.get()});
  const block_list got = there.read();
  return static_cast<std::uint32_t>(got.size()) -
         static_cast<std::uint32_t>(std::count(got.begin(), got.end(), nullptr));
}

/// A heap of at most 64 chunks, which one word of the pool covers, and of which a large block has
/// left some.
class chunks_left : public ::testing::Test {
 protected:
  explicit chunks_left(std::uint32_t left) {
    const std::uint32_t all = parts().universe();
    EXPECT_TRUE(all > 48 && all <= 64) << all;
    EXPECT_NE(take_one(heap_, (all - left) * chunk_bytes), nullptr);
  }
  const manager::supply& parts() const { return all_.parts(); }
  std::uint32_t chunks_of_class() const { return parts().classes().of(of_).turns.population; }
  template <class Function>
  void in_a_lane(const Function& what) const {
    machine().launch({1, 1}, what);
    machine().synchronize();
  }

  static constexpr std::uint32_t bytes = 200;
  heap<manager> heap_{machine(), 1_MiB};
  manager all_ = heap_.ref().manager();
  std::uint32_t of_ = parts().classes().sizes().class_of(bytes);
};

/// Less than an eighth.
class few_chunks_left : public chunks_left {
 protected:
  few_chunks_left() : chunks_left(6) {
    in_a_lane([&] { EXPECT_EQ(parts().eighths_in_pool(), 0); });
  }
};

/// Less than a half, and more than an eighth.
class some_chunks_left : public chunks_left {
 protected:
  some_chunks_left() : chunks_left(16) {
    in_a_lane([&] { EXPECT_EQ(parts().eighths_in_pool(), 2); });
  }
};

// The lanes of a filling heap would look for slots in full words, one by one.
TEST_F(some_chunks_left, a_class_grows_ahead_as_much_as_its_lanes_need) {
  const int slots = chunk_bytes / 208;
  const int lanes = 8 * slots;
  in_a_lane([&] {
    for (int i = 0; i < lanes; ++i) growth(parts(), of_).grow_ahead(false);
  });
  // Each lane draws a chunk with the probability that it needs all of its slots.
  EXPECT_GE(chunks_of_class(), 3u);
  EXPECT_LE(chunks_of_class(), 14u);
}

TEST_F(few_chunks_left, no_class_grows_before_it_is_full) {
  in_a_lane([&] {
    // One without chunks has no room.
    EXPECT_NE(growth(parts(), of_).grow_ahead(false).chunk, growth::none);
    for (int i = 0; i < 4000; ++i) {
      EXPECT_EQ(growth(parts(), of_).grow_ahead(false).chunk, growth::none);
    }
  });
  EXPECT_EQ(chunks_of_class(), 1u);
}

// One group alone, and it leaves the growth of the class to others afterwards.
TEST_F(few_chunks_left, a_class_gets_its_first_chunk_once) {
  std::uint32_t& growing = parts().classes().of(of_).turns.growing;
  growing = 1;
  in_a_lane([&] { EXPECT_EQ(growth(parts(), of_).grow_ahead(false).chunk, growth::none); });
  EXPECT_EQ(chunks_of_class(), 0u) << "another group lets it grow";
  growing = 0;
  in_a_lane([&] { EXPECT_NE(growth(parts(), of_).grow_ahead(false).chunk, growth::none); });
  EXPECT_EQ(chunks_of_class(), 1u);
  EXPECT_EQ(growing, 0u);
}

// Another group may have ended the growth between a look at the class and the next one.
TEST_F(few_chunks_left, a_class_gets_its_first_chunk_once_whichever_groups_want_it) {
  simt::explorer three({3, 1}, 20'000);
  const auto begin = [&] {
    in_a_lane([&] {
      all_.format(0, 1);
      ASSERT_NE(all_.malloc((parts().universe() - 6) * chunk_bytes), nullptr);
    });
  };
  const auto wrong = [&] {
    return chunks_of_class() != 1 || parts().classes().of(of_).turns.growing != 0;
  };
  expect_in_schedules(
      three, 600, begin, [&] { growth(parts(), of_).grow_ahead(false); }, wrong,
      any_sequential_schedule);
}

class no_chunks_left : public chunks_left {
 protected:
  no_chunks_left() : chunks_left(0) {}
};

// Its lanes would have chunks in hand, as far as others can tell, and while one has, requests of no
// class can be refused.
TEST_F(no_chunks_left, a_class_without_chunks_takes_none_while_others_prove_that) {
  simt::explorer two({2, 1}, 20'000);
  bool out = false;
  const auto begin = [&] {
    in_a_lane([&] { parts().whole().chunks.released(); });
    out = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      growth(parts(), of_).grow_ahead(false);
    } else {
      out = parts().is_out();
    }
  };
  expect_in_schedules(two, 300, begin, lane, [&] { return !out; });
}

// They are told so, lest they look for a chunk once more.
TEST_F(few_chunks_left, lanes_that_come_too_late_for_the_last_one_get_none) {
  in_a_lane([&] {
    for (int i = 0; i < 7; ++i) {
      auto how = growth::step::grow;
      const bool is_there = i < 6;
      EXPECT_EQ(growth(parts(), of_).grow(how, 0).chunk != growth::none, is_there);
      EXPECT_EQ(how, is_there ? growth::step::grow : growth::step::none_left);
    }
  });
}

// Lanes alone, parts of a warp and whole ones.
TEST_F(few_chunks_left, a_class_has_as_many_chunks_as_its_blocks_fill) {
  const std::uint32_t slots = chunk_bytes / 208;
  std::uint32_t taken = 0;
  const auto expect_no_more = [&](std::uint32_t lanes) {
    ASSERT_EQ(chunks_of_class(), (taken + slots - 1) / slots) << lanes << " lanes, " << taken;
  };
  for (const std::uint32_t lanes : {1u, 32u, 7u}) {
    for (int i = 0; i < 4; ++i) {
      taken += static_cast<std::uint32_t>(take(heap_, bytes, lanes).size());
      expect_no_more(lanes);
      taken += take_in_part(heap_, bytes, lanes);
      expect_no_more(lanes);
    }
  }
  expect_valid(heap_);
}

TEST(warpheap_looks_for_an_empty_chunk, clear_all_words_of_the_largest_heap_in_the_end) {
  using moves = warpheap_chunk_moves<warpheap_config{}>;
  EXPECT_EQ(moves::words_at_look(0), 1u);
  EXPECT_EQ(moves::words_at_look(3), 8u);
  EXPECT_EQ(moves::words_at_look(1000), 1u << 31);
  // Those of one for a run of chunks, of which each counts for four while others look: what is
  // cleared after the last one is of no use.
  using runs = warpheap_chunk_runs<warpheap_config{}>;
  for (std::uint32_t all = 1; all <= (1u << warpheap_manager<>::classes::most_chunks_log2) / 64;
       ++all) {
    std::uint32_t for_runs = 0;
    std::uint32_t last = 0;
    int count = 0;
    for (int looks = 0; looks < warpheap_config{}.most_undisturbed; ++count) {
      for_runs += last;
      ++looks;
      last = looks > 1 ? moves::words_at_look(looks) : 0;
      looks = runs::looks_beside_crowd(looks, all);
    }
    EXPECT_GE(for_runs, all);
    EXPECT_EQ(count, all <= moves::words_at_look(9) ? 4 : 5) << all;
  }
  // The looks of a request whose memory is not freed by others.
  std::uint32_t words = 0;
  for (int look = 0; look < warpheap_config{}.most_undisturbed; ++look) {
    words += warpheap_class_growth<warpheap_config{}>::words_at_look(look);
  }
  EXPECT_GE(words, (1u << warpheap_manager<>::classes::most_chunks_log2) / 64);
}

// With plenty of memory, requests that a turn does not serve let the class grow; those of parts of
// warps take turns as well.
TEST(warpheap_growth, a_class_with_room_in_all_words_takes_no_chunk) {
  heap<manager> heap(machine(), 4_MiB);
  const manager::classes classes = heap.ref().manager().parts().classes();
  const auto& of_128_bytes = classes.of(classes.sizes().class_of(128));
  ASSERT_EQ(of_128_bytes.shape.words, 4u);
  // A word has 32 slots, and 15 groups take their turns at it four times at most.
  for (int round = 0; round < 8; ++round) {
    for (int group = 0; group < 15; ++group) {
      ASSERT_EQ(take_in_part(heap, 128, 7), 7u);
      ASSERT_EQ(of_128_bytes.turns.population, 1u)
          << "after " << group + 1 << " groups of seven lanes";
    }
    heap.reset();
  }
}

// Of a group of twenty lanes, the word has room for eleven, and the other one for the other nine.
TEST(warpheap_growth, a_group_that_a_word_serves_in_part_finds_room_in_another) {
  heap<manager> heap(machine(), 4_MiB);
  const manager::classes classes = heap.ref().manager().parts().classes();
  const auto& of_192_bytes = classes.of(classes.sizes().class_of(192));
  ASSERT_EQ(of_192_bytes.shape.words, 2u);
  ASSERT_EQ(of_192_bytes.shape.per_word, 43u);
  for (int round = 0; round < 60; ++round) {
    give(heap, {take_one(heap, 192)});  // now the class has a chunk
    heap.ref().manager().parts().whole().next[0].taken = 0;
    for (int warp = 0; warp < 2; ++warp) ASSERT_EQ(take_in_part(heap, 192, 32), 32u);
    ASSERT_EQ(take_in_part(heap, 192, 20), 20u);
    ASSERT_EQ(of_192_bytes.turns.population, 1u) << "round " << round;
    heap.reset();
  }
}

TEST(warpheap_supply, an_empty_heap_is_whole_whatever_its_number_of_chunks) {
  for (const std::uint32_t chunks : {1u, 2u, 8u, 62u, 63u, 64u}) {
    const heap<manager> heap(machine(), 2_MiB, {.initial_bytes = chunks * chunk_bytes});
    machine().launch(
        {1, 1}, [&] { EXPECT_EQ(heap.ref().manager().parts().eighths_in_pool(), 8) << chunks; });
  }
}

// Drawn looks see a half of a word of the pool, of which the heap may have as many chunks.
TEST(warpheap_supply, all_of_an_empty_heap_is_left_whatever_its_number_of_chunks) {
  constexpr std::uint32_t look = manager::supply::chunks_type::at_a_look;
  for (const std::uint32_t chunks : {1u, look - 1, look, look + 1, 2 * look, 64 + look}) {
    const heap<manager> heap(machine(), 2_MiB, {.initial_bytes = chunks * chunk_bytes});
    const manager::supply parts = heap.ref().manager().parts();
    ASSERT_EQ(parts.backed(), chunks);
    machine().launch({1, 1}, [&] {
      for (int looks = 0; looks < 32; ++looks) EXPECT_EQ(parts.parts_left(0), 64) << chunks;
    });
  }
}

TEST(warpheap_supply, chunks_that_other_classes_have_left_empty_count) {
  const heap<manager> heap(machine(), 1_MiB);
  const manager::supply parts = heap.ref().manager().parts();
  const std::uint32_t of_200 = parts.classes().sizes().class_of(200);
  const std::uint32_t of_64 = parts.classes().sizes().class_of(64);
  const auto expect = [&](int for_others) {
    machine().launch({1, 1}, [&] {
      for (int looks = 0; looks < 16; ++looks) {
        EXPECT_EQ(parts.eighths_in_pool(), 0);
        EXPECT_EQ(parts.parts_left(of_64), for_others);
        EXPECT_EQ(parts.parts_left(of_200), 0);
      }
    });
  };
  const block_list all = take_all(heap, 200, 10'000);
  ASSERT_EQ(all.size(), parts.backed() * parts.classes().slots(of_200).count);
  expect(0);
  give(heap, all);
  expect(64);
  ASSERT_EQ(take(heap, 200, all.size()).size(), all.size());
  // As if no lane had met this one since it is in use again.
  machine().launch({1, 1}, [&] { parts.empties().insert(0); });
  expect(0);
}

// A multiprocessor may know the number of chunks of before the heap has grown.
TEST(warpheap_supply, a_chunk_that_is_empty_is_noted_where_chunks_are_not_known_of_yet) {
  const heap<manager> heap(machine(), 2_MiB);
  const manager::supply parts = heap.ref().manager().parts();
  const std::uint32_t backed = parts.backed();
  ASSERT_GT(backed, 64u);
  const block_list all = take_all(heap, chunk_bytes / 2, 32);
  for (const std::uint32_t known : {64u, 63u, 10u}) {
    parts.whole().backed = known;
    give(heap, {all[all.size() - 2], all[all.size() - 1]});
    parts.whole().backed = backed;
    expect_valid(heap);
    machine().launch({1, 1}, [&] { EXPECT_TRUE(parts.empties().any()); });
    EXPECT_EQ(take(heap, chunk_bytes / 2, 2).size(), 2u);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
