// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

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

// Behind the words of the pages there is one that looks like a page with a large block.
TEST(bulk_allocator_foreign_pointers, a_pointer_just_behind_the_pages_is_ignored) {
  const rubbish memory(2_MiB);
  const bulk_allocator<> manager(memory.all(), machine().properties(), {});
  manager.format(0, 1);
  region_cursor cursor = memory.cursor();
  arenas<config> all;  // as the manager lays them out
  all.lay_out(cursor, manager.pages(), machine().properties().multiprocessors);
  ASSERT_NE(manager.pages() % 32, 0u) << "words behind those of the pages belong to nothing else";
  all.table().set_state(manager.pages(), page_state::large_block(0));
  const auto before = memory.contents();
  const std::size_t bytes = std::size_t{manager.pages()} << geometry<config>::page_shift;
  machine().launch({1, 1}, [&] { manager.free(all.table().heap() + bytes); });
  EXPECT_TRUE(memory.contents() == before);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
