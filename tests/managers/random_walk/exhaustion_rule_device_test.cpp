// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a search gives up: at once and for certain by the exact rule, after a number of looks by the
// paper's statistical one.
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"

#include "device_array.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using random_walk::bitmap_config;
using random_walk::bitmap_pages;
using random_walk::exhaustion_rule;
using random_walk::search_kind;

template <exhaustion_rule Rule>
using subjects_of = testing::Types<
    rw<rw_config{.exhaustion = Rule}>,
    bitmap_pages<bitmap_config{.search = search_kind::independent, .exhaustion = Rule}>,
    bitmap_pages<bitmap_config{.search = search_kind::collaborative, .exhaustion = Rule}>,
    bitmap_pages<bitmap_config{
        .search = search_kind::clustered, .word_bits = 64, .lock_map = true, .exhaustion = Rule}>,
    rw_malloc<rw_malloc_config{.exhaustion = Rule}>>;

constexpr std::size_t block_bytes = 256;
constexpr std::size_t pages = sanitized ? 1024 : 4096;
constexpr std::size_t heap_bytes = pages * (block_bytes + 8);

template <block_manager M>
struct take_lanes {
  handle<M> heap;
  std::uint64_t* blocks;
  WARPHEAP_DEVICE void operator()() const {
    blocks[simt::thread_rank()] = reinterpret_cast<std::uint64_t>(heap.malloc(block_bytes));
  }
};

template <block_manager M>
struct give_lanes {
  handle<M> heap;
  const std::uint64_t* blocks;
  WARPHEAP_DEVICE void operator()() const {
    heap.free(reinterpret_cast<void*>(blocks[simt::thread_rank()]));
  }
};

/// Blocks that `lanes` lanes get, one each.
template <block_manager M>
std::vector<std::uint64_t> take(const heap<M>& from, std::size_t lanes) {
  const device_array<std::uint64_t> blocks(lanes);
  machine().launch(simt::grid{1, static_cast<unsigned>(lanes)},
                   take_lanes<M>{from.ref(), blocks.get()});
  std::vector<std::uint64_t> got = blocks.read();
  std::erase(got, 0u);
  return got;
}

template <block_manager M>
void give(const heap<M>& to, const std::vector<std::uint64_t>& blocks) {
  const device_array<std::uint64_t> given(blocks);
  for (std::size_t first = 0; first < blocks.size(); ++first) {
    machine().launch(simt::grid{1, 1}, give_lanes<M>{to.ref(), given.get() + first});
  }
  machine().synchronize();
}

/// Everything, by calls of one lane that end after this many nulls in a row.
template <block_manager M>
std::vector<std::uint64_t> take_all(const heap<M>& from, int nulls) {
  std::vector<std::uint64_t> all;
  for (int in_vain = 0; in_vain < nulls;) {
    const auto got = take(from, 1);
    in_vain = got.empty() ? in_vain + 1 : 0;
    all.insert(all.end(), got.begin(), got.end());
  }
  return all;
}

namespace {

/// How often one lane gets the only free block of a full heap at once, another one in each trial.
template <block_manager M>
int finds_of_the_only_block(const heap<M>& full, const std::vector<std::uint64_t>& all,
                            int trials) {
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    const std::uint64_t only = all[static_cast<std::size_t>(i) * 61 % all.size()];
    give(full, {only});
    auto got = take(full, 1);
    found += got == std::vector{only};
    while (got.empty()) got = take(full, 1);
    EXPECT_EQ(got, std::vector{only});
  }
  return found;
}

template <class M>
struct statistical_rule : testing::Test {};
TYPED_TEST_SUITE(statistical_rule, subjects_of<exhaustion_rule::statistical>);

TYPED_TEST(statistical_rule, returns_null_near_the_end_and_loses_nothing) {
  const heap<TypeParam> subject(machine(), heap_bytes, {});
  for (int round = 0; round < 2; ++round) {
    auto all = take_all(subject, 1);
    EXPECT_GT(all.size(), pages * 9 / 10) << "the first null came with many pages left";
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    EXPECT_EQ(subject.stats().blocks_in_use, all.size());
    EXPECT_TRUE(subject.validate().ok()) << subject.validate().describe();
    give(subject, all);
    EXPECT_EQ(subject.stats().blocks_in_use, 0u);
    EXPECT_TRUE(subject.validate().ok()) << subject.validate().describe();
  }
}

TYPED_TEST(statistical_rule, does_not_look_everywhere) {
  const heap<TypeParam> subject(machine(), heap_bytes, {});
  const auto all = take_all(subject, 200);
  // One of all pages is far below the low-water mark of 0.5 %.
  EXPECT_LT(finds_of_the_only_block(subject, all, 50), 50);
}

template <class M>
struct exact_rule : testing::Test {};
TYPED_TEST_SUITE(exact_rule, subjects_of<exhaustion_rule::exact>);

TYPED_TEST(exact_rule, finds_the_only_free_block) {
  const heap<TypeParam> subject(machine(), heap_bytes, {});
  const auto all = take_all(subject, 1);
  EXPECT_EQ(finds_of_the_only_block(subject, all, 50), 50);
}

TEST(page_options, pages_that_no_heap_can_have_are_refused_with_the_limit) {
  for (const std::size_t page : {std::size_t{1} << 61, SIZE_MAX - 15}) {
    try {
      const heap<rw<>> subject(machine(), 1 << 20, {.page_bytes = page});
      FAIL() << "pages of " << page << " bytes";
    } catch (const invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(std::to_string(page)), std::string::npos);
      EXPECT_NE(std::string(refusal.what()).find("68719476736"), std::string::npos)
          << refusal.what();
    }
  }
}

TEST(page_options, pages_larger_than_the_heap_are_refused_with_both_sizes) {
  // A heap for one page of 1 GiB exists; one for a page as large as the largest heap does not.
  for (const auto& [page, said] : {std::pair{std::size_t{1} << 30, "which needs at least 1073742"},
                                   std::pair{std::size_t{1} << 36, "with these options"}}) {
    try {
      const heap<corw<>> subject(machine(), 1 << 20, {.page_bytes = page});
      FAIL() << "pages of " << page << " bytes";
    } catch (const region_too_small& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("a heap of 1048576 bytes"), std::string::npos);
      EXPECT_NE(std::string(refusal.what()).find(said), std::string::npos) << refusal.what();
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
