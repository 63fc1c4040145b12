// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "any_schedule.hpp"

#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/shortages.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace halloc_parts;

// A claim of two chunks fails, because another lane has one of them. A search that saw both in use
// meanwhile must not have the last word about the one that is put back.
TEST(halloc_chunk_map, a_claim_that_is_undone_ends_what_a_search_learned_from_it) {
  constexpr std::uint32_t chunks = 2;
  int undone = 0;
  simt::explorer lanes({3, 1});
  for (std::uint64_t seed = 1; seed <= (WARPHEAP_TEST_SANITIZED ? 500 : 4000); ++seed) {
    std::uint32_t bits = 0;
    std::uint32_t lengths = 0;
    shortages::of_kind kinds[shortages::kinds];
    for (auto& kind : kinds) kind.all.format();
    const shortages known(kinds);
    const chunk_map map(&bits, &lengths, known);
    const auto outcome = lanes.run(any_schedule(seed), [&] {
      if (simt::block_rank() == 0) {
        map.try_claim(0, 2);
      } else if (simt::block_rank() == 1) {
        map.try_claim(1, 1);
      } else {
        exhaustion& memory = known.searches(0).known().memory();
        const exhaustion::token search = memory.announce();
        if (chunk_map::places_in(0, map.examine(0), chunks, 1) == 0) memory.confirm(search, 1);
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    if (bits == 3) continue;
    ++undone;
    bool is_out = false;
    machine().launch({1, 1}, [&] { is_out = known.is_out(0, 1); });
    ASSERT_FALSE(is_out) << seed;
  }
  EXPECT_GT(undone, 100);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
