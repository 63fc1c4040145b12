// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/call_time.hpp"

#include <cstdint>

namespace warpheap::bench {

/// A row of the input.
struct keyed_row {
  std::uint32_t key;
  std::uint32_t value;
};

/// What is known of the rows with one key. 0 everywhere but in `key`: of no row.
struct row_group {
  std::uint32_t key;
  std::uint32_t max;
  /// The complement of the minimum, so that the machine needs an atomic maximum only.
  std::uint32_t min_complement;
  std::uint32_t unused;
  std::uint64_t count;
  std::uint64_t sum;

  std::uint32_t min() const { return ~min_complement; }
};

/// A page that was put into a chain.
struct page_entry {
  std::uint64_t page;
  std::uint64_t chain;
};

/// Chains of pages of rows that all lanes append to at the same time (group_by/shared_chains.hpp).
struct row_chains {
  /// Where each chain ends.
  std::uint64_t* tails = nullptr;
  std::uint64_t count = 0;
  /// All pages in the order in which they were taken, with room for as many as there can be.
  page_entry* pages = nullptr;
  std::uint64_t* page_count = nullptr;
  std::uint32_t page_bytes = 0;
};

/// What becomes of a chain after its pass.
struct chain_fates {
  static constexpr std::uint32_t none = UINT32_MAX;
  /// For each chain its number among those that go on, or among the groups in the last pass; or
  /// none.
  std::uint32_t* numbers = nullptr;
  std::uint32_t* going_on = nullptr;
  /// The chains that are short enough to be grouped at once.
  std::uint32_t* short_chains = nullptr;
  std::uint32_t* short_count = nullptr;
};

/// Groups that are done, in no particular order.
struct group_list {
  row_group* groups = nullptr;
  std::uint32_t* count = nullptr;
};

/// Makes the chains empty.
struct tail_preparing {
  row_chains of;
};

/// Rows that found no room, in no particular order.
struct row_list {
  std::uint32_t* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::uint64_t* count = nullptr;
};

/// Appends each row to the child of its chain that eight bits of its key name. In the first pass
/// the rows are columns, later the pages of the chains that go on.
struct row_distribution {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  row_chains from;
  std::uint64_t from_pages = 0;
  const std::uint32_t* numbers = nullptr;
  std::uint32_t shift = 0;
  row_chains into;
  row_list lost;
  call_time* time = nullptr;
};

/// Adds up the rows of each chain, a lane a page.
struct chain_sizing {
  row_chains of;
  std::uint64_t pages = 0;
  std::uint32_t* sizes = nullptr;
};

/// Decides what becomes of each chain, a lane a chain.
struct chain_sorting {
  row_chains of;
  const std::uint32_t* sizes = nullptr;
  std::uint32_t most_short_rows = 0;
  /// After the last pass a chain is a group.
  bool last_pass = false;
  chain_fates fates;
  group_list done;
};

/// Groups the rows of the short chains, a block of one warp each, with `shared_bytes` bytes.
struct short_grouping {
  /// Twice the rows of the longest short chain: half of the places stay empty.
  static constexpr std::uint32_t places = 512;
  static constexpr std::uint32_t shared_bytes =
      places * (sizeof(std::uint64_t) + sizeof(row_group));

  row_chains of;
  const std::uint32_t* short_chains = nullptr;
  group_list done;
};

/// After the last pass, adds up the rows of each page into its chain's group, a warp a page.
struct page_grouping {
  row_chains of;
  std::uint64_t pages = 0;
  const std::uint32_t* numbers = nullptr;
  group_list done;
};

/// Frees pages, a lane a page.
struct page_freeing {
  const page_entry* pages = nullptr;
  std::uint64_t count = 0;
};

/// For the way without pages: tells of each of the ordered rows whether it is the first of its key.
struct run_marking {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  std::uint64_t* marks = nullptr;
};

/// Adds the ordered rows up, some a lane. `runs` is what the marks before each row add up to.
struct run_grouping {
  static constexpr std::uint64_t rows_a_lane = 16;
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  const std::uint64_t* runs = nullptr;
  row_group* groups = nullptr;
};

/// Adds up a hash of each group, so that the same groups in any order give the same sum.
struct group_digest {
  const row_group* groups = nullptr;
  std::uint64_t count = 0;
  std::uint64_t* sum = nullptr;
};

}  // namespace warpheap::bench
