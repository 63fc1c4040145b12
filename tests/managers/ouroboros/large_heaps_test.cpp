// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"
#include "variants.hpp"

#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class chunks_of_large_heaps : public ::testing::Test {};
TYPED_TEST_SUITE(chunks_of_large_heaps, all_variants, manager_names);

TYPED_TEST(chunks_of_large_heaps, the_last_chunks_hold_pages_and_runs) {
  using map_type = std::remove_cvref_t<decltype(std::declval<TypeParam>().map())>;
  using ouroboros_parts::chunk_supply;
  constexpr std::size_t most = map_type::pages ? 1024 : 511;  // of numbered chunks
  for (const std::size_t gib : {std::size_t{5}, std::size_t{70}, most}) {
    in_region_of(gib << 30, [&](const region& all) {
      const TypeParam manager(all, small_machine(), {});
      // Formatting writes zero, which is there, but for what comes first everywhere.
      for (std::uint64_t rank = 0; rank < 4096; ++rank) {
        manager.format(rank, std::uint64_t{1} << 40);
      }
      // As if all chunks but the last had been dealt out.
      constexpr std::uint32_t last = 64;
      const auto& map = manager.map();
      auto* const supply = reinterpret_cast<chunk_supply::words*>(
          all.base + map_type::sizes::classes * sizeof(ouroboros_parts::class_words));
      ASSERT_EQ(supply->left, map.supply().left().initial(map.chunk_count() - map.for_queues()));
      supply->fresh = map.chunk_count() - last;
      supply->left = map.supply().left().initial(last - 8);
      // Less than two chunks are left over: no question to the manager, which may be wrong.
      const std::byte* const end = all.base + all.bytes;
      const std::byte* const first = end - (last + 2) * map_type::sizes::chunk_bytes;
      for (int round = 0; round < 3; ++round) {
        std::vector<std::pair<std::byte*, std::size_t>> blocks;
        in_a_lane([&] {
          for (const std::size_t bytes : {16, 100, 8192, 32768}) {
            const int count = bytes < 1000 ? 100 : 3;
            for (int i = 0; i < count; ++i) {
              blocks.emplace_back(static_cast<std::byte*>(manager.malloc(bytes)), bytes);
            }
          }
        });
        std::sort(blocks.begin(), blocks.end());
        EXPECT_GE(blocks.front().first, first) << gib;
        EXPECT_LE(blocks.back().first + blocks.back().second, end) << gib;
        for (std::size_t i = 1; i < blocks.size(); ++i) {
          ASSERT_GE(blocks[i].first, blocks[i - 1].first + blocks[i - 1].second) << gib;
        }
        in_a_lane([&] {
          for (const auto& [block, bytes] : blocks) manager.free(block);
        });
      }
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
