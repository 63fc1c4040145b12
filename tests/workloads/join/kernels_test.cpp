// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels before and behind the join itself.
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"
#include "warpheap/workloads/join/kernels.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(join_kernels, keys_are_mixed_and_nothing_behind_them_is_touched) {
  constexpr std::size_t rows = 5;
  const std::vector<std::uint32_t> keys{1, 2, 3, 4, 5, 6};
  std::vector<std::uint32_t> mixed(rows + 1, 99);
  machine().launch({1, 32}, join::mix_keys{{rows, keys.data(), mixed.data()}});
  for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(mixed[i], join::mix_key(keys[i]));
  EXPECT_EQ(mixed[rows], 99u);
}

TEST(join_kernels, partitions_begin_where_those_before_end_and_the_last_one_ends_with_the_rows) {
  const std::vector<std::uint32_t> keys{0, 0x40000000, 0x40000001, 0xc0000000};
  std::vector<std::uint64_t> offsets(6, 99);
  machine().launch({1, 32}, join::find_partitions{{keys.size(), keys.data(), 2, offsets.data()}});
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 1, 3, 3, 4, 99}));
}

TEST(join_kernels, as_many_chains_are_prepared_as_there_are) {
  std::vector<join::match_chain> chains(4);
  const auto prepare = [&](std::uint64_t count, std::uint32_t page_bytes) {
    machine().launch({1, 32}, join::prepare_chains{{{chains.data(), count, page_bytes}}});
  };
  prepare(3, 64);
  prepare(2, 128);
  EXPECT_EQ(chains[0].page_bytes(), 128u);
  EXPECT_EQ(chains[1].page_bytes(), 128u);
  EXPECT_EQ(chains[2].page_bytes(), 64u) << "behind those that were to be prepared";
}

TEST(join_kernels, matches_are_gathered_chain_by_chain_and_nothing_behind_them_is_touched) {
  constexpr std::uint32_t page_bytes = 64;  // four matches
  const heap<rw_malloc<>> memory(machine(), 1_MiB);
  // One more than are asked for, and more warps than those.
  std::vector<join::match_chain> chains(3, join::match_chain(page_bytes));
  const join_data::match_chains all{chains.data(), 2, page_bytes};
  constexpr std::uint32_t count = 6;
  machine().launch({1, 1}, [&, ref = memory.ref()] {
    for (std::uint32_t i = 0; i < 3 * count; ++i) {
      EXPECT_TRUE(chains[i / count].push(ref, join_data::match{i, i, i}));
    }
  });
  const std::vector<std::uint64_t> offsets{0, count + 1, 2 * (count + 1)};
  std::vector<join_data::match> matches(3 * (count + 1), {99, 99, 99});
  machine().launch({1, 96}, join::gather_matches{{all, offsets.data(), matches.data()}});
  for (std::uint32_t chain = 0; chain < 2; ++chain) {
    for (std::uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(matches[offsets[chain] + i].key, chain * count + i);
    }
    EXPECT_EQ(matches[offsets[chain] + count].key, 99u);
  }
  EXPECT_EQ(matches[offsets[2]].key, 99u);
  std::vector<std::uint64_t> counts(3, 99);
  machine().launch({1, 32}, join::count_chains{{all, counts.data()}});
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{count, count, 99}));
  machine().launch({1, 32}, [&, ref = memory.ref()] { join::free_chains{{all}}(ref); });
  EXPECT_NE(chains[2].first(), nullptr);
  machine().launch({1, 1}, [&, ref = memory.ref()] { chains[2].clear(ref); });
  EXPECT_EQ(memory.stats().blocks_in_use, 0u);
}

/// A heap that counts how often it is asked, in vain.
struct empty_heap {
  std::uint32_t* asked;
  void* malloc(std::size_t /*bytes*/) const {
    ++*asked;
    return nullptr;
  }
  void free(void* /*block*/) const {}
};

TEST(join_kernels, a_warp_that_gets_no_page_asks_for_no_other) {
  std::uint32_t asked = 0;
  std::vector<std::uint32_t> lost(3, 0);
  machine().launch({1, 1}, [&] {
    const empty_heap heap{&asked};
    join::match_chain chain(64);
    join::paged_matches sink(heap, chain, lost.data());
    for (std::uint32_t row = 0; row < 3; ++row) sink(simt::warp(), true, row, {row, row, row});
  });
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(lost, (std::vector<std::uint32_t>{1, 1, 1}));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
