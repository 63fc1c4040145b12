// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the host asks of the group-by's kernels (kernels.hpp): plain structures, the same for host
/// code of any compiler and for lanes of either model, so none of them is in a model's namespace.
/// All arrays are in device memory.

#include <cstdint>

namespace warpheap::group_by_data {

/// A row of the input.
struct alignas(8) keyed_row {
  std::uint32_t key;
  std::uint32_t value;
};

/// The aggregates of the rows with one key. 0 everywhere except in `key`: of no row.
struct row_group {
  std::uint32_t key;
  std::uint32_t max;
  /// The complement of the minimum, so that an atomic maximum is all that the machine needs.
  std::uint32_t min_complement;
  std::uint32_t unused;
  std::uint64_t count;
  std::uint64_t sum;

  std::uint32_t min() const { return ~min_complement; }
};

/// Rows of one chain in a page of the heap. A lane loads this structure at once.
struct alignas(16) row_page {
  /// Its address; 0: there was no memory for it.
  std::uint64_t page;
  std::uint32_t chain;
  std::uint32_t rows;
};

/// A page that was taken; these are in the order in which pages were taken.
struct taken_page {
  row_page page;
  /// Its place among the pages of its chain.
  std::uint64_t place;
};

/// Chains of pages of rows, which a pass fills (page_split.hpp).
struct row_chains {
  std::uint64_t count = 0;
  /// The number of rows of each chain.
  std::uint32_t* row_counts = nullptr;
  /// The number of pages of each chain, and one more place: their prefix sums say where each
  /// chain's pages are listed.
  std::uint64_t* page_counts = nullptr;
  taken_page* taken = nullptr;
  std::uint64_t* taken_count = nullptr;
  std::uint32_t page_bytes = 0;
};

/// The same chains after the pass: the pages of chain c are `pages[starts[c]]` to
/// `pages[starts[c + 1] - 1]`.
struct listed_chains {
  std::uint64_t count = 0;
  const std::uint32_t* row_counts = nullptr;
  const std::uint64_t* starts = nullptr;
  row_page* pages = nullptr;
};

/// Pages of one chain that a block distributes over the children of that chain.
struct row_segment {
  /// A page holds rows of one child only, so a segment may leave as many pages partly empty as it
  /// has children. With 1024 pages, that is at most a quarter; and 10 million rows in pages of 256
  /// bytes are 306 segments, two for each multiprocessor of a large GPU.
  static constexpr std::uint32_t most_pages = 1024;

  std::uint64_t first_page;
  std::uint32_t pages;
  std::uint32_t parent;
};

/// Groups that are done, in no particular order.
struct group_list {
  row_group* groups = nullptr;
  std::uint32_t* count = nullptr;
};

/// Rows that found no room, in no particular order.
struct row_list {
  std::uint32_t* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::uint64_t* count = nullptr;
};

/// Distributes the rows of every segment over the children of its chain, which eight bits of the
/// key select; one block per segment. In the first pass, the rows are columns and form one chain;
/// later, they are the pages of chains that continue.
struct row_distribution {
  static constexpr std::uint32_t children = 256;
  static constexpr std::uint32_t threads_per_block = 512;
  /// Memory of a block's split (page_split.hpp): an address for each page.
  static constexpr std::uint32_t shared_bytes =
      sizeof(std::uint64_t) * (2 * children + 2 + row_segment::most_pages);

  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  const row_page* pages = nullptr;
  const row_segment* segments = nullptr;
  std::uint32_t shift = 0;
  row_chains into;
  row_list lost;
};

/// Puts the pages in the order of their chains, one lane per page.
struct page_listing {
  const taken_page* taken = nullptr;
  std::uint64_t taken_count = 0;
  listed_chains into;
};

/// Sorts the chains out, one lane per chain: short ones will be grouped directly, the others
/// continue in segments.
struct chain_sorting {
  struct counts {
    std::uint32_t short_chains;
    std::uint32_t parents;
    std::uint64_t segments;
  };

  listed_chains of;
  std::uint32_t most_short_rows = 0;
  std::uint32_t* short_chains = nullptr;
  row_segment* segments = nullptr;
  counts* found = nullptr;
};

/// Groups the rows of the short chains, one block of one warp each, with `shared_bytes` bytes.
struct short_grouping {
  /// Twice the rows of the longest short chain: half of the places stay empty.
  static constexpr std::uint32_t places = 512;
  static constexpr std::uint32_t shared_bytes =
      places * (sizeof(std::uint64_t) + sizeof(row_group));

  listed_chains of;
  const std::uint32_t* short_chains = nullptr;
  group_list done;
};

/// After the last pass, a chain is a group: gives each its number and key, one lane per chain.
struct group_naming {
  listed_chains of;
  std::uint32_t* numbers = nullptr;
  group_list done;
};

/// Adds the rows of each page to its chain's group, one warp per page.
struct page_grouping {
  const row_page* pages = nullptr;
  std::uint64_t count = 0;
  const std::uint32_t* numbers = nullptr;
  group_list done;
};

/// Frees pages, one lane per page.
struct page_freeing {
  const taken_page* taken = nullptr;
  std::uint64_t count = 0;
};

}  // namespace warpheap::group_by_data
