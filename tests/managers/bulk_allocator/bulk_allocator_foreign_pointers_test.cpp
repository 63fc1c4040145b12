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
