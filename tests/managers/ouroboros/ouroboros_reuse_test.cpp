// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of memory that was freed, and what happens when there is none.
#include "variants.hpp"

#include <algorithm>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class ouroboros_any : public ouroboros_test<M> {};
TYPED_TEST_SUITE(ouroboros_any, all_variants, manager_names);

// More threads than pages, all at once: growth that fails is taken back, every page is
// allocated, and again once all are freed.
TYPED_TEST(ouroboros_any, more_threads_than_pages_of_each_size) {
  const auto map = this->heap_.ref().manager().map();
  const std::size_t chunks = map.chunk_count() - map.for_queues();
  for (std::uint64_t bytes = sanitized ? 512 : 64; bytes <= 32768; bytes *= 2) {
    this->heap_.reset();
    const std::size_t span = bytes > 8192 ? 4 : 1;
    const std::size_t per_chunk = 8192 * span / bytes;
    auto blocks = this->take_all(bytes);
    if (span == 1) {
      EXPECT_EQ(blocks.size(), chunks * per_chunk) << bytes;
    } else {
      // Runs are aligned, and queues take chunks from the same front.
      EXPECT_GE(blocks.size(), (chunks - 8) / 4 * per_chunk) << bytes;
      EXPECT_LE(blocks.size(), chunks / 4 * per_chunk) << bytes;
    }
    EXPECT_TRUE(this->take(bytes, 300).empty());
    this->give(blocks);
    EXPECT_EQ(this->heap_.stats().blocks_in_use, 0u);
    EXPECT_EQ(this->take_all(bytes).size(), blocks.size()) << bytes;
  }
}

TYPED_TEST(ouroboros_any, pages_are_aligned_to_their_size) {
  for (std::uint64_t bytes = 16; bytes <= 32768; bytes *= 2) {
    for (void* block : this->take(bytes, 40)) {
      ASSERT_EQ(reinterpret_cast<std::uint64_t>(block) % std::min<std::uint64_t>(bytes, 4096), 0u);
    }
  }
}

// A block in the middle of a chunk of several base chunks finds its way home.
TYPED_TEST(ouroboros_any, blocks_of_both_instances_are_freed_into_their_own) {
  block_list blocks;
  for (const std::uint64_t bytes : {16384, 32768, 8192, 16, 16384, 1000}) {
    const auto more = this->take(bytes, 5);
    ASSERT_EQ(more.size(), 5u);
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  std::reverse(blocks.begin(), blocks.end());
  this->give(blocks);
  EXPECT_EQ(this->heap_.stats().blocks_in_use, 0u);
  EXPECT_EQ(this->heap_.stats().bytes_in_use, 0u);
  block_list again = this->take(16384, 10);
  EXPECT_EQ(again.size(), 10u);
  std::sort(again.begin(), again.end());
  EXPECT_EQ(std::adjacent_find(again.begin(), again.end()), again.end());
}

TYPED_TEST(ouroboros_any, impossible_sizes_and_null_change_nothing) {
  EXPECT_TRUE(this->take(0, 40).empty());
  EXPECT_TRUE(this->take(32769, 40).empty());
  EXPECT_TRUE(this->take(std::uint64_t{1} << 31, 40).empty());
  EXPECT_TRUE(this->take((std::uint64_t{1} << 32) + 16, 40).empty());
  EXPECT_TRUE(this->take(~std::uint64_t{0}, 40).empty());
  this->give(block_list(40, nullptr));
  EXPECT_EQ(this->heap_.stats().blocks_in_use, 0u);
}

template <class M>
class ouroboros_pages : public ouroboros_test<M> {};
TYPED_TEST_SUITE(ouroboros_pages, page_variants, manager_names);

// As published: the survey's numbers for mixed sizes follow from it.
TYPED_TEST(ouroboros_pages, pages_keep_their_size) {
  const auto small = this->take_all(256);
  this->give(small);
  EXPECT_TRUE(this->take(512, 100).empty());
  EXPECT_EQ(this->take_all(200).size(), small.size());
}

// The queues of a heap of 4 MiB hold a fraction of its 16-byte pages.
TYPED_TEST(ouroboros_pages, a_free_that_finds_its_queue_full_loses_nothing) {
  auto all = this->take_all(16);
  const auto map = this->heap_.ref().manager().map();
  ASSERT_GT(all.size(), 2 * map.all_amounts().room());
  for (int round = 0; round < (race_checked ? 1 : 2); ++round) {
    this->give(all);
    EXPECT_TRUE(map.parked(0).any());
    const std::size_t before = all.size();
    all = this->take_all(16);
    EXPECT_EQ(all.size(), before);
    EXPECT_FALSE(map.parked(0).any());
  }
}

template <class M>
class ouroboros_chunks : public ouroboros_test<M> {
 protected:
  std::uint32_t count(ouroboros_parts::chunk_kind kind) {
    const auto map = this->heap_.ref().manager().map();
    std::uint32_t found = 0;
    for (std::uint32_t c = 0; c < map.chunk_count(); ++c) {
      found += map.table().get(c).kind() == kind ? 1 : 0;
    }
    return found;
  }
};
TYPED_TEST_SUITE(ouroboros_chunks, chunk_variants, manager_names);

TYPED_TEST(ouroboros_chunks, chunks_that_were_freed_serve_every_other_size) {
  const std::size_t of_512 = this->take_all(512).size();
  this->heap_.reset();
  for (const std::uint64_t bytes : {256, 32, 4096, 16, 8192}) {
    if (sanitized && bytes < 256) continue;
    // Single frees from many warps: chunks fill up page by page, and become wholly free in a queue.
    auto blocks = this->take_all(bytes);
    block_list mixed;
    for (std::size_t start = 0; start < 7; ++start) {
      for (std::size_t i = start; i < blocks.size(); i += 7) mixed.push_back(blocks[i]);
    }
    this->give(mixed);
    const auto other = this->take_all(512);
    EXPECT_EQ(other.size(), of_512) << "after blocks of " << bytes;
    this->give(other);
  }
}

TYPED_TEST(ouroboros_chunks, base_chunks_become_runs_again) {
  constexpr std::uint64_t bytes = sanitized ? 128 : 16;
  auto small = this->take_all(bytes);
  EXPECT_TRUE(this->take(32768, 1).empty());
  this->give(small);
  const auto large = this->take_all(32768);
  const auto map = this->heap_.ref().manager().map();
  EXPECT_GE(large.size(), (map.chunk_count() - map.for_queues() - 8) / 4);
  this->give(large);
  EXPECT_EQ(this->take_all(bytes).size(), small.size());
}

// Every second page stays in use: all chunks are in the queue, none can be taken away.
TYPED_TEST(ouroboros_chunks, chunks_with_a_page_in_use_stay) {
  const auto all = this->take_all(64);
  block_list sorted = all;
  std::sort(sorted.begin(), sorted.end());
  block_list odd;
  for (std::size_t i = 1; i < sorted.size(); i += 2) odd.push_back(sorted[i]);
  this->give(odd);
  EXPECT_TRUE(this->take(128, 100).empty());
  EXPECT_EQ(this->take_all(64).size(), odd.size());
}

// A warp takes all pages of a chunk that was wholly free.
TYPED_TEST(ouroboros_chunks, a_free_chunk_that_is_taken_at_once_counts_no_longer) {
  const auto one_chunk = this->take(256, 32);
  for (std::byte* const page : one_chunk) this->give({page});
  EXPECT_EQ(this->take(256, 32).size(), 32u);
  expect_valid(this->heap_);
}

// More chunks in the queue than attempts to take one away.
TYPED_TEST(ouroboros_chunks, a_free_chunk_behind_many_in_use_serves_another_size) {
  auto all = this->take_all(4096);
  std::sort(all.begin(), all.end());
  block_list first;
  for (std::size_t i = 0; i + 2 < all.size(); i += 2) first.push_back(all[i]);
  ASSERT_GT(first.size(), 64u);
  this->give(first);
  EXPECT_TRUE(this->take(8192, 1).empty());
  this->give({all[all.size() - 2]});
  this->give({all[all.size() - 1]});
  EXPECT_EQ(this->take(8192, 1).size(), 1u);
}

// Tiny chunks, so that entries fill queue chunks: eight entries each.
template <queue_kind Queue, item_kind Item>
using tiny =
    ouroboros<ouroboros_config{.queue = Queue, .item = Item, .smallest_page = 16, .queues = 3}>;

template <class M>
class ouroboros_queue_chunks : public ouroboros_chunks<M> {};
using tiny_virtual = ::testing::Types<tiny<queue_kind::virtual_array, item_kind::chunks>,
                                      tiny<queue_kind::virtual_list, item_kind::chunks>,
                                      tiny<queue_kind::virtual_array, item_kind::pages>,
                                      tiny<queue_kind::virtual_list, item_kind::pages>>;
TYPED_TEST_SUITE(ouroboros_queue_chunks, tiny_virtual);

// Any chunk may hold data now and entries of a queue then: those hold what users wrote, until they
// are cleared.
TYPED_TEST(ouroboros_queue_chunks, queues_grow_on_used_chunks_and_give_them_back) {
  using ouroboros_parts::chunk_kind;
  const std::uint32_t at_first = this->count(chunk_kind::queue);
  constexpr std::size_t count = sanitized ? 2000 : 8000;
  auto blocks = this->take(16, count);
  ASSERT_EQ(blocks.size(), count);
  for (void* block : blocks) std::fill_n(static_cast<std::uint64_t*>(block), 2, 0x0101010101010101);
  for (int round = 0; round < 3; ++round) {
    // Free half of each chunk, and a third of the chunks wholly.
    std::sort(blocks.begin(), blocks.end());
    block_list freed;
    block_list kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      (i % 2 == 0 || i % 12 < 4 ? freed : kept).push_back(blocks[i]);
    }
    this->give(freed);
    EXPECT_GT(this->count(chunk_kind::queue), at_first + 8) << "queues have not grown";
    const auto again = this->take(16, freed.size());
    ASSERT_EQ(again.size(), freed.size());
    for (void* block : again) {
      std::fill_n(static_cast<std::uint64_t*>(block), 2, 0x0101010101010101);
    }
    EXPECT_LE(this->count(chunk_kind::queue), at_first + 4) << "queue chunks were not given back";
    blocks = kept;
    blocks.insert(blocks.end(), again.begin(), again.end());
  }
  this->give(blocks);
  EXPECT_EQ(this->heap_.stats().blocks_in_use, 0u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
