// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stores' building blocks against naive models of the standard library.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "warpheap/host/stores/address_hash.hpp"
#include "warpheap/host/stores/bit_array.hpp"
#include "warpheap/host/stores/block_table.hpp"
#include "warpheap/host/stores/growing_array.hpp"
#include "warpheap/host/stores/region_map.hpp"
#include "warpheap/host/stores/tiled_regions.hpp"

namespace warpheap::host {
namespace {

TEST(bit_array, agrees_with_a_vector_of_bool) {
  std::mt19937 random(7);
  for (const std::size_t size : {1u, 63u, 64u, 65u, 200u, 1000u}) {
    bit_array bits(size);
    std::vector<bool> model(size);
    for (int step = 0; step < 500; ++step) {
      const std::size_t first = random() % size;
      const std::size_t count = random() % (size - first + 1);
      const bool value = random() % 2 != 0;
      bits.fill(first, count, value);
      std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(first), count, value);

      const std::size_t from = random() % (size + 1);
      const bool wanted = random() % 2 != 0;
      std::size_t next = from;
      while (next < size && model[next] != wanted) ++next;
      ASSERT_EQ(bits.next(from, wanted), next) << "size " << size << " step " << step;
      std::size_t end = from;
      while (end != 0 && model[end - 1] != wanted) --end;
      ASSERT_EQ(bits.end_of_last(from, wanted), end) << "size " << size << " step " << step;
      ASSERT_EQ(bits.test(first), model[first]);
    }
  }
}

// The records that a search for a block looks at, on average, in a table of 2^k chains.
double looks(std::size_t granule, const std::vector<address>& bases, int k) {
  const address_hash hash(granule);
  std::vector<std::size_t> blocks_of(std::size_t{1} << k);
  std::size_t all = 0;
  for (const address base : bases) all += ++blocks_of[hash(base) & (blocks_of.size() - 1)];
  return static_cast<double>(all) / static_cast<double>(bases.size());
}

// As many blocks as three fifths of 2^k, a table's load halfway between two doublings. At random a
// search looks at 1.3 records.
std::vector<address> blocks_at_stride(std::size_t bytes, int k) {
  std::vector<address> bases;
  for (std::size_t n = 0; n < (std::size_t{3} << k) / 5; ++n) {
    bases.push_back((address{1} << 46) + n * bytes);
  }
  return bases;
}

TEST(address_hash, blocks_side_by_side_hardly_ever_meet) {
  for (const std::size_t granule : {16u, 256u}) {
    for (int k = 6; k <= 18; ++k) {
      EXPECT_LE(looks(granule, blocks_at_stride(granule, k), k), 1.0) << granule << ", 2^" << k;
    }
  }
}

TEST(address_hash, no_stride_makes_long_chains) {
  double sum = 0;
  int count = 0;
  for (const std::size_t granule : {16u, 256u, 4096u}) {
    for (const std::size_t factor :
         {1u, 3u, 5u, 7u, 9u, 11u, 13u, 25u, 100u, 1000u, 4095u, 4097u}) {
      for (std::size_t power = 0; power <= 21; ++power) {
        const std::size_t stride = (granule * factor) << power;
        for (int k = 7; k <= 14 && stride << k <= std::size_t{1} << 47; ++k) {
          const double mean = looks(granule, blocks_at_stride(stride, k), k);
          EXPECT_LE(mean, 3.5) << stride << " B in 2^" << k << " chains";
          sum += mean;
          ++count;
        }
      }
    }
  }
  EXPECT_LE(sum / count, 1.25);
}

TEST(block_table, finds_what_was_handed_out_and_nothing_else) {
  constexpr std::size_t count = 20000;
  block_table table({}, count + 64);
  std::mt19937_64 random(3);
  std::map<address, block_table::index> model;
  for (int step = 0; step < 100000; ++step) {
    // Addresses as far apart as pools' are: few low bits, many high ones.
    const address base = (1 + random() % count) << (random() % 4 * 8);
    const auto known = model.find(base);
    const auto found = table.find(base);
    ASSERT_EQ(found, known == model.end() ? block_table::none : known->second);
    if (known != model.end()) {
      ASSERT_EQ(table.take_back(base), known->second);
      ASSERT_EQ(table.take_back(base), block_table::none) << "taken back twice";
      table.forget(known->second);
      model.erase(known);
    } else if (model.size() < count) {
      const auto made = table.add_region({base, 16});
      table.hand_out(made);
      model.emplace(base, made);
    }
    ASSERT_EQ(table.used(), model.size());
  }
}

// More records than that have numbers which no link can hold.
TEST(block_table, has_as_many_blocks_as_it_may_and_no_more) {
  for (const std::size_t most : {1u, 2u, 99u, 1000u}) {
    block_table table({}, most);
    block_table::index last = block_table::none;
    for (int round = 0; round < 2; ++round) {
      while (table.make_room(1)) {
        ASSERT_LT(table.size(), most);
        last = table.add_region({0x1000 * (table.size() + 1), 0x1000});
      }
      EXPECT_EQ(table.size(), most);
      table.forget(last);
    }
  }
}

TEST(block_table, makes_room_before_it_is_needed_and_says_when_it_is_nearly_full) {
  block_table table({}, 1000);
  auto last = table.add_region({0x10000, 0x100000});
  while (table.make_room()) {
    ASSERT_LE(table.size() + 64, 1000u) << "no limit";
    for (int splits = 0; splits < 64; ++splits) last = table.split(last, 16);
  }
  EXPECT_GE(table.size() + 64, 1000u);
  const auto first = table.add_region({0x20, 16});
  for (int forgotten = 0; forgotten < 700; ++forgotten) table.absorb_left(last);
  EXPECT_TRUE(table.make_room()) << "forgotten records are room";
  table.forget(first);
}

// After 2^32 of them, the next one would be that of no block.
TEST(block_table, no_handle_has_an_even_serial) {
  block_table table;
  const auto whole = table.add_region({0x1000, 0x1000});
  for (int n = 0; n < 100; ++n) {
    const auto handle = table.hand_out_by_handle(whole);
    EXPECT_EQ(handle.serial % 2, 1u);
    ASSERT_EQ(table.take_back(handle), whole);
  }
}

TEST(block_table, a_handle_names_one_block_once) {
  block_table table;
  const auto whole = table.add_region({0x1000, 0x1000});
  const auto handle = table.hand_out_by_handle(whole);
  EXPECT_EQ(table.used(), 1u);
  EXPECT_EQ(table.find(0x1000), block_table::none) << "its address is not known";
  EXPECT_EQ(table.take_back(0x1000), block_table::none);
  EXPECT_EQ(table.take_back(block_table::handle{}), block_table::none);
  EXPECT_EQ(table.take_back({handle.record, handle.serial + 1}), block_table::none);
  EXPECT_EQ(table.take_back({handle.record + 1, handle.serial}), block_table::none);
  EXPECT_EQ(table.take_back(handle), whole);
  EXPECT_EQ(table.used(), 0u);
  EXPECT_EQ(table.take_back(handle), block_table::none) << "freed twice";
  const auto again = table.hand_out_by_handle(whole);
  EXPECT_NE(again, handle);
  EXPECT_EQ(table.take_back(handle), block_table::none) << "of an earlier block in the record";
  EXPECT_EQ(table.take_back(again), whole);
}

TEST(block_table, a_handle_of_a_free_block_is_a_violation) {
  block_table table;
  const extent region{0x1000, 0x1000};
  const auto first = table.add_region(region);
  const auto second = table.split(first, 0x100);
  const auto handle = table.hand_out_by_handle(first);
  EXPECT_EQ(table.check_region(first, region), std::nullopt);
  table[second].chain = handle.serial;
  EXPECT_NE(table.check_region(first, region), std::nullopt);
  table[second].chain = 0;
  EXPECT_EQ(table.take_back(handle), first);
  EXPECT_EQ(table.check_region(first, region), std::nullopt);
}

TEST(block_table, records_have_numbers_without_gaps) {
  block_table table;
  EXPECT_EQ(block_table::number_of(block_table::none), 0u);
  for (std::uint32_t number = 1; number <= 3000; ++number) {
    const auto made = table.add_region({std::uintptr_t{number} << 12, 0x1000});
    ASSERT_EQ(block_table::number_of(made), number);
    ASSERT_EQ(table.hand_out_by_handle(made).record, number);
  }
  EXPECT_EQ(table.size(), 3000u);
}

TEST(block_table, split_and_absorb_are_inverse) {
  block_table table({}, 100);
  const extent region{0x1000, 0x1000};
  const auto first = table.add_region(region);
  const auto second = table.split(first, 0x100);
  const auto third = table.split(second, 0x200);
  EXPECT_EQ(table[third].range(), (extent{0x1300, 0xd00}));
  EXPECT_EQ(table[third].left, second);
  EXPECT_EQ(table.check_region(first, region), std::nullopt);
  table.absorb_right(second);
  EXPECT_EQ(table.check_region(first, region), std::nullopt);
  table.absorb_right(first);
  EXPECT_EQ(table[first].range(), region);
  EXPECT_EQ(table.size(), 1u);
}

TEST(block_table, a_front_that_is_cut_off_can_be_absorbed_from_the_right) {
  block_table table({}, 100);
  const extent region{0x1000, 0x1000};
  const auto edge = table.add_region({region.base, 0});
  const auto last = table.append(edge, region.bytes);
  const auto front = table.cut_front(last, 0x300);
  EXPECT_EQ(table[front].range(), (extent{0x1000, 0x300}));
  EXPECT_EQ(table[last].range(), (extent{0x1300, 0xd00}));
  const auto middle = table.cut_front(last, 0x100);
  EXPECT_EQ(table[middle].left, front);
  EXPECT_EQ(table.check_region(front, region, edge), std::nullopt);
  table.absorb_left(last);
  EXPECT_EQ(table.check_region(front, region, edge), std::nullopt);
  table.absorb_left(last);
  EXPECT_EQ(table[last].range(), region);
  EXPECT_EQ(table[edge].right, last);
  EXPECT_EQ(table.size(), 2u);
}

TEST(block_table, links_say_whether_a_neighbour_is_free) {
  block_table table({}, 100);
  const auto edge = table.add_region({0x1000, 0});
  table[edge].free = false;
  const auto last = table.append(edge, 0x1000);
  EXPECT_FALSE(table[last].left.is_free());
  EXPECT_TRUE(table[edge].right.is_free());
  const auto front = table.cut_front(last, 0x300);
  EXPECT_FALSE(table[last].left.is_free()) << "it is about to be handed out";
  EXPECT_TRUE(table[front].right.is_free());
  table.hand_out(front);
  const auto tail = table.split(front, 0x100);
  EXPECT_FALSE(table[tail].left.is_free());
  EXPECT_TRUE(table[last].left.is_free());
  EXPECT_EQ(table[last].left, tail) << "the mark is not a part of the number";
  table.tell_neighbours(tail, false);
  EXPECT_FALSE(table[last].left.is_free());
  EXPECT_FALSE(table[front].right.is_free());
  EXPECT_EQ(table[front].right, tail);
  table.absorb_left(last);
  EXPECT_TRUE(table[front].right.is_free());
  EXPECT_EQ(table[front].right, last);
}

TEST(tiled_regions, finds_a_neighbour_that_was_not_told) {
  tiled_regions tiles(policy_options{0x100});
  const auto whole = tiles.add({0x1000, 0x1000});
  const auto first = tiles.table.cut_front(whole, 0x100);
  tiles.table.hand_out(first);
  EXPECT_EQ(tiles.check_told(), std::nullopt);
  tiles.table.tell_neighbours(first, true);
  EXPECT_EQ(tiles.check_told().value_or("").substr(0, 2), "C2");
  tiles.table.tell_neighbours(first, false);
  EXPECT_EQ(tiles.check_told(), std::nullopt);
}

using big = std::array<std::uint64_t, 512>;  // a page each, of which a word is touched

// Until the array is large enough to have pages of its own and they have had to move.
growing_array<big> grown_large() {
  growing_array<big> all;
  for (std::uint64_t n = 0; n != 4000; ++n) all.extend()[0] = n;
  return all;
}

void expect_counted(const growing_array<big>& all) {
  ASSERT_EQ(all.size(), 4000u);
  for (std::uint64_t n = 0; n != all.size(); ++n) ASSERT_EQ(all[n][0], n);
}

TEST(growing_array, keeps_its_elements_as_it_grows_and_moves) {
  growing_array<big> all = grown_large();
  expect_counted(all);
  const growing_array<big> other = grown_large();
  // Whatever lies behind the first one now, it grows.
  for (int n = 0; n != 4; ++n) {
    const auto in_the_way = grown_large();
    ASSERT_TRUE(all.reserve(all.capacity() + 1));
    expect_counted(all);
  }
  const std::size_t capacity = all.capacity();
  growing_array<big> next;
  next.extend()[0] = 1;
  next = std::move(all);
  expect_counted(next);
  EXPECT_EQ(next.capacity(), capacity);
  growing_array<big> last(std::move(next));
  ASSERT_TRUE(last.reserve(capacity + 1));  // with the memory that came with them
  expect_counted(last);
}

TEST(growing_array, does_not_grow_for_what_it_has_room_for) {
  growing_array<int> all;
  ASSERT_TRUE(all.reserve(100));
  const std::size_t capacity = all.capacity();
  EXPECT_TRUE(all.reserve(capacity));
  EXPECT_TRUE(all.reserve(1));
  EXPECT_EQ(all.capacity(), capacity);
}

TEST(growing_array, does_not_grow_beyond_what_it_may) {
  growing_array<int> all;
  for (const std::size_t capacity : {10u, 99u, 100u}) {
    EXPECT_FALSE(all.reserve(101, 100));
    ASSERT_TRUE(all.reserve(capacity, 100) && all.capacity() == capacity) << capacity;
  }
}

TEST(growing_array, a_large_one_starts_at_a_huge_page) {
#if defined(__linux__)
  const growing_array<big> all = grown_large();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&all[0]) % (std::uintptr_t{2} << 20), 0u);
#else
  GTEST_SKIP() << "the C library's memory";
#endif
}

TEST(growing_array, is_unchanged_where_the_process_has_no_addresses_for_more) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs addresses of its own";
  growing_array<big> all = grown_large();
  const std::size_t capacity = all.capacity();
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  const bool grew = all.reserve(capacity + 1);
  growing_array<big> small;
  // More than what tests before this one may have left in the C library's heap.
  const bool grew_from_nothing = small.reserve(std::size_t{1} << 20);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_FALSE(grew);
  EXPECT_FALSE(grew_from_nothing);
  EXPECT_EQ(all.capacity(), capacity);
  expect_counted(all);
  EXPECT_TRUE(all.reserve(capacity + 1));
}

TEST(tiled_regions, a_region_starts_at_its_edge_and_takes_it_along) {
  tiled_regions tiles(policy_options{0x100});
  const auto whole = tiles.add({0x1000, 0x1000});
  tiles.add({0x2000, 0x1000});
  EXPECT_EQ(tiles.check(), std::nullopt);
  const auto first = tiles.table.cut_front(whole, 0x100);
  EXPECT_EQ(tiles.first_of(0x1000), first) << "any record may be the first";
  EXPECT_EQ(tiles.count_free(), 3u) << "an edge is not a block";
  tiles.table[first].free = false;
  EXPECT_FALSE(tiles.is_unused(0x1000));
  tiles.table[first].vacant = true;
  EXPECT_TRUE(tiles.is_unused(0x1000));
  tiles.table[first].vacant = false;
  tiles.table[first].free = true;
  tiles.table.absorb_left(whole);
  EXPECT_TRUE(tiles.is_unused(0x1000));
  const auto edge = tiles.table[whole].left;
  tiles.table[edge].free = true;
  EXPECT_EQ(tiles.check().value_or("").substr(0, 2), "T5");
  tiles.table[edge].free = false;
  tiles.remove(0x1000);
  EXPECT_EQ(tiles.table.size(), 2u) << "the other region's edge and its block";
  EXPECT_EQ(tiles.check(), std::nullopt);
}

TEST(region_map, finds_the_region_that_contains_an_address) {
  region_map<int> regions;
  regions.add({0x3000, 0x1000}, 3);
  regions.add({0x1000, 0x1000}, 1);
  regions.add({0x2000, 0x800}, 2);
  EXPECT_EQ(regions.find(0xfff), nullptr);
  EXPECT_EQ(regions.find(0x1000)->data, 1);
  EXPECT_EQ(regions.find(0x27ff)->data, 2);
  EXPECT_EQ(regions.find(0x2800), nullptr);
  EXPECT_EQ(regions.find(0x3fff)->data, 3);
  EXPECT_EQ(regions.find(0x4000), nullptr);
  regions.remove(0x2000);
  EXPECT_EQ(regions.find(0x2000), nullptr);
  EXPECT_EQ(regions.find(0x3000)->data, 3);
}

}  // namespace
}  // namespace warpheap::host
