// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which a class that has much of the heap hands out slots, and how many chunks it has.
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using orders = warpheap_class_orders;

/// Orders of two classes in a heap of 64 chunks of eight slots, which two places share. The first
/// two chunks of a class have none.
class two_orders : public ::testing::Test {
 protected:
  two_orders() { in_order.format(0, 1); }

  static constexpr std::uint32_t of_chunk = 8;
  static constexpr std::uint32_t every = 16;

  // One more each, which is not theirs. What was there before does not matter.
  std::vector<orders::place> places{5, {777}};
  std::vector<orders::growth> growths{3, {55, 66}};
  orders in_order{places.data(), growths.data(), 2, 64, 2, 4};
};

TEST_F(two_orders, begin_with_nothing_and_write_nothing_behind_what_is_theirs) {
  for (std::uint32_t of = 0; of < 2; ++of) {
    for (std::uint32_t at = 0; at < 2; ++at) {
      EXPECT_EQ(in_order.hand_out(of, at, 1, of_chunk, every).chunk, 2 + at);
    }
    EXPECT_EQ(in_order.coming(of), 0u);
    EXPECT_EQ(in_order.wanted(of), 0u);
  }
  EXPECT_EQ(places[4].handed, 777u);
  EXPECT_EQ(growths[2].coming, 55u);
  EXPECT_EQ(growths[2].wanted, 66u);
}

TEST_F(two_orders, each_place_goes_through_every_second_chunk) {
  const auto expect = [&](std::uint32_t at, std::uint32_t slots, std::uint32_t chunk,
                          std::uint32_t slot) {
    const auto begin = in_order.hand_out(1, at, slots, of_chunk, every);
    EXPECT_EQ(begin.chunk, chunk);
    EXPECT_EQ(begin.slot, slot);
  };
  expect(0, 6, 2, 0);
  expect(0, 6, 2, 6);
  expect(0, 1, 4, 4);
  expect(1, 1, 3, 0);
}

TEST_F(two_orders, one_lane_looks_at_the_chunks_for_so_many_slots) {
  int looks = 0;
  for (int i = 0; i < 64; ++i) looks += in_order.hand_out(0, 0, 3, of_chunk, every).is_checked;
  EXPECT_EQ(looks, 64 * 3 / 16);
}

TEST_F(two_orders, what_is_given_back_is_handed_out_again) {
  in_order.hand_out(0, 0, 5, of_chunk, every);
  in_order.give_back(0, 0, 5);
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).slot, 0u);
}

TEST_F(two_orders, a_count_below_zero_names_no_chunk_and_comes_right) {
  in_order.give_back(0, 0, 5);
  EXPECT_EQ(in_order.hand_out(0, 0, 4, of_chunk, every).chunk, 64u);
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).chunk, 64u);
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).chunk, 2u);
}

TEST_F(two_orders, a_chunk_that_leaves_takes_back_what_its_place_has_handed_out) {
  in_order.hand_out(0, 0, 24, of_chunk, every);  // chunks 2, 4 and 6
  in_order.hand_out(0, 1, 24, of_chunk, every);  // chunks 3, 5 and 7
  in_order.want(0, 9);
  in_order.shrink(0, 7, of_chunk);
  EXPECT_EQ(in_order.wanted(0), 7u);
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).chunk, 8u);
  EXPECT_EQ(in_order.hand_out(0, 1, 1, of_chunk, every).chunk, 7u);
  in_order.shrink(0, 2, of_chunk);  // has none of them any more
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).chunk, 2u);
  in_order.shrink(0, 1, of_chunk);
  EXPECT_EQ(in_order.wanted(0), 1u);
}

TEST_F(two_orders, a_place_goes_on_from_a_chunk_on_and_never_back) {
  in_order.go_on(0, 1, 2, of_chunk);  // where it begins
  EXPECT_EQ(in_order.hand_out(0, 1, 1, of_chunk, every).chunk, 3u);
  in_order.go_on(0, 1, 9, of_chunk);
  const auto begin = in_order.hand_out(0, 1, 1, of_chunk, every);
  EXPECT_EQ(begin.chunk, 9u);
  EXPECT_EQ(begin.slot, 0u);
  in_order.go_on(0, 1, 5, of_chunk);
  EXPECT_EQ(in_order.hand_out(0, 1, 1, of_chunk, every).slot, 1u);
  EXPECT_EQ(in_order.hand_out(0, 0, 1, of_chunk, every).chunk, 2u);  // the other one
}

TEST_F(two_orders, chunks_with_few_slots_begin_an_order_later) {
  EXPECT_EQ(in_order.first(4), 64u / 32);
  EXPECT_EQ(in_order.first(3), 64u / 8);
}

TEST(class_orders, small_heaps_have_none) {
  EXPECT_EQ(orders::places_for(1023, 1024), 0u);
  EXPECT_EQ(orders::places_for(1024, 1024), 1u);
  EXPECT_EQ(orders::places_for(65536, 1024), 8u);
  const orders none(nullptr, nullptr, 1, 1023, 0, 128);
  none.format(0, 1);
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.coming(0), 0u);
  EXPECT_EQ(none.announce(0, 4), 0u);
  none.arrived(0, 4);
  none.shrink(0, 1, 8);
}

/// A block of this many bytes for the first lane of each block of lanes.
template <class M>
struct take_one_a_block {
  handle<M> from;
  std::size_t bytes;
  std::byte** there;

  WARPHEAP_DEVICE void operator()() const {
    if (simt::thread_rank() % simt::block_size() != 0) return;
    there[simt::block_rank()] = static_cast<std::byte*>(from.malloc(bytes));
  }
};

/// How many chunks the class of a size has, over those that so many blocks need.
template <class M>
double over_need(const heap<M>& of, std::uint32_t bytes, std::size_t live) {
  const M all = of.ref().manager();
  const auto& classes = all.parts().classes();
  const std::uint32_t number = classes.sizes().class_of(bytes);
  EXPECT_EQ(all.parts().orders().coming(number), 0u);
  return static_cast<double>(classes.of(number).turns.population) * classes.slots(number).count /
         static_cast<double>(live);
}

/// How many chunks belong to a class that has a third of a heap of 32 MiB, in launches of 16,384
/// lanes, over those that it needs.
template <warpheap_config Config>
double chunks_over_need(std::uint32_t bytes) {
  using manager = warpheap_manager<Config>;
  const heap<manager> from{machine(), 32_MiB};
  constexpr std::uint64_t lanes = 16384;
  const device_array<std::byte*> there(lanes);
  const std::size_t launches = 32_MiB / 3 / bytes / lanes;
  std::size_t live = 0;
  for (std::size_t i = 0; i < launches; ++i) {
    from.on().launch({lanes / 256, 256},
                     take_one_each<manager>{from.ref(), bytes, lanes, there.get()});
    for (std::byte* const block : there.read()) live += block != nullptr;
  }
  EXPECT_EQ(live, launches * lanes);
  return over_need(from, bytes, live);
}

TEST(ordered_words, a_class_that_has_much_of_the_heap_grows_by_what_it_needs) {
  constexpr warpheap_config by_chance{.chunks_per_place = 1u << 30};
  EXPECT_LT(chunks_over_need<warpheap_config{}>(64), 1.2);
  EXPECT_GT(chunks_over_need<by_chance>(64), 1.3);
}

// An order only goes on to new chunks, so lanes for which words have room take other turns.
TEST(ordered_words, a_class_does_not_grow_while_the_same_number_of_blocks_comes_and_goes) {
  using manager = warpheap_manager<>;
  const heap<manager> from{machine(), 64_MiB};
  constexpr std::uint64_t lanes = 40960;
  const device_array<std::byte*> there(lanes);
  double early = 0;
  for (int launches = 0; launches < 16; ++launches) {
    from.on().launch({lanes / 256, 256},
                     take_one_each<manager>{from.ref(), 256, lanes, there.get()});
    from.on().launch({lanes / 256, 256}, give_one_each<manager>{from.ref(), lanes, there.get()});
    if (launches == 3) early = over_need(from, 256, lanes);
  }
  const double late = over_need(from, 256, lanes);
  EXPECT_LE(late, early + early / 16);
  EXPECT_LT(late, 1.3);
}

/// A heap whose chunks all belong to classes, and a class that keeps an order.
class ordered_class : public ::testing::Test {
 protected:
  using manager = warpheap_manager<>;
  using words = warpheap_ordered_words<warpheap_config{}>;

  /// Blocks of 4 KiB take all chunks, and leave as many empty as `kept` does not.
  explicit ordered_class(std::uint32_t kept = 0) {
    block_list others = take_all(from, 4096, from.bytes() / 4096);
    std::sort(others.begin(), others.end());
    begin = others.front();
    others.erase(others.begin(),
                 others.begin() + kept * (parts().classes().sizes().chunk_bytes() / 4096));
    give(from, others);
  }
  /// How many of this many requests, one after the other, get a slot.
  std::uint32_t served(std::uint32_t requests) const {
    std::uint32_t count = 0;
    machine().launch({1, 1}, [&] {
      for (std::uint32_t i = 0; i < requests; ++i) {
        count += words(parts(), of).take(true).chunk != words::none ? 1 : 0;
      }
    });
    machine().synchronize();
    return count;
  }
  std::uint32_t population() const { return parts().classes().of(of).turns.population; }
  const manager::supply& parts() const { return all.parts(); }

  static constexpr std::uint32_t bytes = 400;
  heap<manager> from{machine(), 64_MiB};
  std::byte* begin = nullptr;  ///< of chunk 0
  manager all = from.ref().manager();
  std::uint32_t of = parts().classes().sizes().class_of(bytes);
  std::uint32_t slots = parts().classes().slots(of).count;
  std::uint32_t first = parts().orders().first(slots);
};

// A class without room to spare has full words in each launch, and its lanes look for the last
// slots one by one: 6 KB after ten other sizes took 300 us (docs/decisions/0057).
TEST_F(ordered_class, grows_into_what_others_have_left_empty) {
  ASSERT_FALSE(parts().pool().peek_any());
  take(from, bytes, std::size_t{slots} * (first + 1));
  const std::uint32_t before = population();
  // Up to a hundred chunks have come that were not needed, as the workers happened to run.
  EXPECT_GE(served(200 * slots), 195 * slots);
  EXPECT_GE(population(), before + 30);
}

// Then it has chunks that its order does not know. A launch of 8 KiB visited 1250 of them in
// vain, 32 for each warp (docs/decisions/0058).
TEST_F(ordered_class, catches_up_with_chunks_that_came_without_it) {
  const block_list blocks = take(from, bytes, std::size_t{slots} * 4 * first);
  machine().launch({1, 1}, [&] { parts().orders().format(0, 1); });
  // The last eighth has room.
  std::set<std::uint32_t> late;
  machine().launch({1, 1}, [&] {
    for (std::uint32_t i = population() - population() / 8; i < population(); ++i) {
      late.insert(parts().classes().named(of, i, 0).chunk);
    }
  });
  block_list freed;
  const std::uint32_t each = parts().classes().sizes().chunk_bytes();
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(freed), [&](std::byte* block) {
    return late.contains(static_cast<std::uint32_t>((block - begin) / each));
  });
  give(from, freed);
  const std::uint32_t before = population();
  EXPECT_EQ(served(10), 10u);
  EXPECT_EQ(population(), before);
}

/// Others have left nothing.
class last_ordered_class : public ordered_class {
 protected:
  last_ordered_class() : ordered_class(1700) {}
};

// Otherwise an order would be far ahead of the chunks that the class gets later.
TEST_F(last_ordered_class, takes_back_what_it_has_handed_out_in_vain) {
  take_all(from, bytes, std::size_t{slots} * parts().universe());
  ASSERT_GT(population(), first);
  EXPECT_EQ(served(3000), 0u);
  const auto handed = [this] {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all_places;
    machine().launch({1, 1}, [&] {
      for (std::uint32_t at = 0; at < parts().orders().places(); ++at) {
        const auto next = parts().orders().hand_out(of, at, 0, slots, slots);
        all_places.emplace_back(next.chunk, next.slot);
      }
    });
    return all_places;
  };
  const auto before = handed();
  EXPECT_EQ(served(200), 0u);
  EXPECT_EQ(handed(), before);
}

// Lanes looked for slots as in a heap with room, 500 us a launch instead of 55, since the set of
// the empties still had chunks that were in use (docs/decisions/0058).
TEST_F(last_ordered_class, makes_the_heap_seem_dry_when_many_find_nothing) {
  take_all(from, bytes, std::size_t{slots} * parts().universe());
  ASSERT_GT(population(), first);
  const std::uint32_t noted = parts().empties().leaf_words();
  for (int rounds = 0; rounds < 8000; ++rounds) {
    machine().launch({1, 1}, [&] {
      for (std::uint32_t word = 0; word + 1 < noted; ++word) {
        parts().empties().insert_bits(word, ~std::uint64_t{0});
      }
      if (rounds == 0) parts().whole().set_dry(false);
    });
    ASSERT_EQ(served(8), 0u);  // which take some of these out, and not all
  }
  machine().launch({1, 1}, [&] { EXPECT_TRUE(parts().whole().seems_dry()); });
}

/// One lane of each block of eight warps allocates, in a heap with eight places.
TEST(ordered_words, a_class_needs_no_more_if_one_warp_of_a_block_allocates) {
  using manager = warpheap_manager<warpheap_config{.chunks_per_place = 128}>;
  const heap<manager> from{machine(), 17_MiB};
  constexpr std::uint64_t blocks = 2000;
  const device_array<std::byte*> there(blocks);
  std::size_t live = 0;
  for (int launches = 0; launches < 3; ++launches) {
    from.on().launch({blocks, 256}, take_one_a_block<manager>{from.ref(), 1024, there.get()});
    for (std::byte* const block : there.read()) live += block != nullptr;
  }
  ASSERT_EQ(live, 3 * blocks);
  ASSERT_EQ(from.ref().manager().parts().orders().places(), 8u);
  EXPECT_LT(over_need(from, 1024, live), 1.6);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
