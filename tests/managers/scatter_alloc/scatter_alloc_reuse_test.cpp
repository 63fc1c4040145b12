// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages change their use, and what is between the sizes.
#include "take_and_give.hpp"
#include "untouched_memory.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = scatter_alloc<>;

class scatter_alloc_reuse : public heap_test<manager> {
 protected:
  scatter_alloc_reuse() : heap_test(std::size_t{1} << 20) {}

  std::uint32_t pages() { return heap_.ref().manager().parts().table().pages(); }
  std::uint64_t page_of(const void* block) {
    return heap_.ref().manager().parts().table().offset_of(block) / 4096;
  }
};

TEST_F(scatter_alloc_reuse, every_chunk_of_every_page_is_handed_out) {
  for (const std::uint64_t bytes : {16, 64, 112, 128, 1360, 2048}) {
    heap_.reset();
    const std::uint32_t capacity =
        manager::sizes::capacity(manager::sizes::units_for(static_cast<std::size_t>(bytes)));
    const auto all = take_all(bytes);
    EXPECT_EQ(all.size(), std::size_t{capacity} * pages()) << bytes;
    EXPECT_EQ(heap_.stats().blocks_in_use, all.size());
    EXPECT_EQ(heap_.stats().bytes_in_use, all.size() * round_up<std::size_t>(bytes, 16));
    give(all);
    EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  }
}

// Lanes that come together take one run for all, or else each its own.
TEST_F(scatter_alloc_reuse, runs_that_lie_apart_serve_lanes_that_come_together) {
  auto all = take_all(4096);
  std::sort(all.begin(), all.end());
  std::size_t runs = 0;
  for (std::size_t i = 0; i + 3 <= all.size(); i += 3, ++runs) give({all[i], all[i + 1]});
  EXPECT_EQ(take(8192, runs).size(), runs);
}

// Where a search for a run begins depends on the heap's size; whatever comes before must be found,
// too.
TEST(scatter_alloc_runs, the_only_free_one_is_found_wherever_it_is) {
  for (std::size_t pages = 66; pages <= 200; pages += sanitized ? 16 : 1) {
    const untouched_memory memory(pages * 4200);
    const manager of(memory.all(), small_machine(1), {});
    of.format(0, 1);
    std::set<void*> all;
    in_a_lane([&] {
      while (void* const page = of.malloc(4096)) all.insert(page);
      for (auto first = all.begin(); std::next(first) != all.end(); ++first) {
        of.free(*first);
        of.free(*std::next(first));
        void* const run = of.malloc(8192);
        ASSERT_EQ(run, *first) << all.size() << " pages";
        of.free(run);
        for (int i = 0; i < 2; ++i) ASSERT_TRUE(all.contains(of.malloc(4096)));
      }
    });
  }
}

// Masks of small chunks lie where users of other sizes have written.
TEST_F(scatter_alloc_reuse, a_page_serves_every_size_once_it_is_empty) {
  for (const std::uint64_t bytes : {16, 2048, 64, 4096, 32, 9000, 112, 3000, 16}) {
    if (race_checked && bytes < 64) continue;
    const auto all = take_all(bytes);
    const std::uint64_t room =
        bytes > 4096   ? 1
        : bytes > 2048 ? pages()
                       : std::uint64_t{manager::sizes::capacity(
                             manager::sizes::units_for(static_cast<std::size_t>(bytes)))} *
                             pages();
    EXPECT_GE(all.size(), room) << bytes;
    for (void* block : all) std::fill_n(static_cast<std::uint8_t*>(block), bytes, 0xffu);
    give(all);
  }
  EXPECT_EQ(take(std::uint64_t{pages()} * 4096, 1).size(), 1u) << "a run of all pages";
}

TEST_F(scatter_alloc_reuse, sizes_that_a_page_does_not_suit_go_elsewhere) {
  const auto of_64 = take(64, 1);
  const auto of_32 = take(32, 1);
  const auto of_48 = take(48, 1);
  for (const std::uint64_t bytes : {16, 80, 2049, 4096, 4097}) {
    const auto other = take(bytes, 40);
    EXPECT_EQ(other.size(), 40u);
    for (void* block : other) EXPECT_NE(page_of(block), page_of(of_64.front())) << bytes;
  }
  EXPECT_EQ(of_32.size() + of_48.size(), 2u);
}

TEST_F(scatter_alloc_reuse, an_exhausted_heap_says_so_until_something_is_freed) {
  auto all = take_all(2048);
  EXPECT_TRUE(take(2048, 100).empty());
  EXPECT_TRUE(take(1024, 100).empty());
  EXPECT_TRUE(take(4000, 100).empty());
  EXPECT_TRUE(take(16, 100).empty());
  // A page of 2048 does not suit 16 before both of its chunks are free.
  give({all[0]});
  EXPECT_TRUE(take(16, 100).empty());
  EXPECT_TRUE(take(4000, 1).empty());
  give({all[1]});
  EXPECT_EQ(page_of(all[0]), page_of(all[1]));
  EXPECT_EQ(take(16, 300).size(), 254u);
}

TEST_F(scatter_alloc_reuse, chunks_come_from_the_front_and_runs_from_the_back) {
  const auto blocks = heap_.ref().manager().parts().blocks();
  ASSERT_GE(blocks.count(), 3u);
  std::set<std::uint64_t> of_chunks;
  for (void* block : take(100, 200)) {
    EXPECT_EQ(blocks.block_of(static_cast<std::uint32_t>(page_of(block))), 0u);
    of_chunks.insert(page_of(block));
  }
  for (void* block : take(5000, 8)) {
    EXPECT_EQ(blocks.block_of(static_cast<std::uint32_t>(page_of(block))), blocks.count() - 1);
  }
  // Where both kinds meet, neither is refused what there is.
  EXPECT_EQ(take(4096, pages()).size(), pages() - 16u - of_chunks.size());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
