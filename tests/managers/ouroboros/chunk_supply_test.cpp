// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/managers/ouroboros/chunk_supply.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ouroboros_parts::chunk_supply;

// So the search of all chunks stays what comes last.
TEST(ouroboros_chunk_supply, a_run_that_became_free_is_found_without_a_search) {
  constexpr std::uint32_t chunks = 64;
  constexpr std::uint32_t span = 4;
  chunk_supply::words own;
  std::vector<std::uint32_t> marks(chunk_supply::mark_words(chunks));
  std::vector<std::uint32_t> slots(std::size_t{1} << chunk_supply::queue_log2(chunks));
  const chunk_supply supply(&own, marks.data(), slots.data(), chunks, span);
  for (std::uint32_t run = 0; run < chunks; run += span) {
    machine().launch({1, 1}, [&] {
      supply.format(0, 1, 0, chunks);
      for (std::uint32_t i = 0; i < span; ++i) {
        EXPECT_EQ(supply.take_run(span, false), chunk_supply::none);
        supply.give(run + i, 1);
      }
      EXPECT_EQ(supply.take_run(span, false), run);
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
