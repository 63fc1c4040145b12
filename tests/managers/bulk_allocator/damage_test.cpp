// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant, and words that it could miss.
#include "damage.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = bulk_allocator<small_pages>;

TEST(bulk_allocator_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(8 * 1024, {32, 16, 100, 200},
                               {{1, {10, 1362}},
                                {2, {20, 1007}},
                                {3, {4, 49}},
                                {4, {53, 2481}},
                                {5, {30, 1419}},
                                {6, {33, 563}},
                                {7, {66, 2568}},
                                {8, {26, 355}},
                                {9, {1, 12}},
                                {10, {4, 24}}});
}

TEST(bulk_allocator_damage, there_is_none_in_heaps_that_end_with_a_chunk_or_not) {
  bool ends_with_a_chunk = false;
  for (std::size_t more = 0; more < 10 * 128; more += 128) {
    const exposed_heap<small> subject(8 * 1024 + more);
    ends_with_a_chunk = ends_with_a_chunk || subject.heap().ref().manager().pages() % 4 == 0;
    while (!test::take(subject.heap(), 16, 3).empty()) {
    }
    expect_valid(subject.heap());
  }
  EXPECT_TRUE(ends_with_a_chunk);
}

using namespace bulk_parts;
constexpr bulk_allocator_config config;

// What it counts as in use would depend on its list.
TEST(bulk_allocator_inspection, a_bin_of_a_list_that_there_is_not_is_found_and_not_counted) {
  const rubbish memory(2_MiB);
  region_cursor cursor = memory.cursor();
  arenas<config> all;
  all.lay_out(cursor, 2 * geometry<config>::chunk_pages, 1);
  inspection found;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    inspector<config>(all, found).run(0, 1);
  });
  EXPECT_EQ(found.violations[6], 0u);
  machine().launch({1, 1}, [&] {
    all.table().set_state(3, page_state::slab(all.lists().count(), 0));
    inspector<config>(all, found).run(0, 1);
  });
  EXPECT_EQ(found.violations[6], 1u);
  EXPECT_EQ(found.places[6], 3u);
  EXPECT_EQ(found.blocks_in_use, 0u);
}

// Its bins would lie behind the heap.
TEST(bulk_allocator_inspection, a_chunk_that_reaches_beyond_the_last_page_is_wrong) {
  using sizes = geometry<config>;
  const rubbish memory(2_MiB);
  region_cursor cursor = memory.cursor();
  arenas<config> all;
  all.lay_out(cursor, 2 * sizes::chunk_pages - 1, 1);
  inspection found;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    all.table().format_map(sizes::chunk_pages, sizes::regular_bins, 0);
    all.table().set_state(sizes::chunk_pages,
                          page_state::slab(all.chunks_of(0), sizes::regular_bins));
    inspector<config>(all, found).run(0, 1);
  });
  EXPECT_EQ(found.violations[7], 1u);
  EXPECT_EQ(found.places[7], sizes::chunk_pages);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
