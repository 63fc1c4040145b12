// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Behind the words of the chunks there is one that looks like a chunk with pages.
TEST(ouroboros_foreign_pointers, pointers_just_behind_the_chunks_are_ignored) {
  const rubbish memory(1024 * 1024);
  const ouroboros<> manager(memory.all(), machine().properties(), {});
  manager.format(0, 1);
  const auto& map = manager.map();
  const std::uint32_t behind = map.chunk_count();
  ASSERT_NE(behind % 32, 0u) << "words behind those of the chunks belong to nothing else";
  map.table().set(behind, ouroboros_parts::chunk_state::data(0, 1));
  const auto before = memory.contents();
  machine().launch({1, 1}, [&] { manager.free(map.chunk(behind)); });
  EXPECT_TRUE(memory.contents() == before);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
