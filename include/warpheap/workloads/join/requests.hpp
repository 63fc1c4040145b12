// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the host asks of the join's kernels (kernels.hpp): plain structures, the same for host code
/// of any compiler and for lanes of either model, so none of them is in a model's namespace. All
/// arrays are in device memory.

#include <cstdint>

namespace warpheap::join_data {

/// A row of the result: both sides had the key.
struct match {
  std::uint32_t key;
  std::uint32_t build;
  std::uint32_t probe;
};

/// One side of a join in device memory, its keys mixed (keys.hpp) and its rows ordered by
/// partition: those of partition p are rows `offsets[p]` to `offsets[p + 1] - 1`.
struct join_side {
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  const std::uint64_t* offsets = nullptr;
};

struct join_input {
  join_side build;
  join_side probe;
  std::uint32_t partition_bits = 0;
  /// Rows of the build side that a block holds in shared memory at once, a power of two.
  std::uint32_t chunk_rows = 0;
  /// Rows of the probe side that a block joins at once.
  std::uint32_t slice_rows = 0;
};

/// Bytes of block-shared memory that joining takes.
constexpr std::uint32_t shared_bytes_of(std::uint32_t chunk_rows) { return 20 * chunk_rows; }

/// Mixes keys, one per lane.
struct key_mixing {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  std::uint32_t* mixed = nullptr;
};

/// Finds where each partition of ordered keys begins, and where the last one ends.
struct partition_search {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  std::uint32_t partition_bits = 0;
  std::uint64_t* offsets = nullptr;
};

/// A chain of pages of matches for each warp; `chains` is an array of `join::match_chain`
/// (match_pages.hpp), of which the host knows only the size.
struct match_chains {
  static constexpr std::uint64_t bytes_each = 32;

  void* chains = nullptr;
  std::uint64_t count = 0;
  std::uint32_t page_bytes = 0;
};

/// Makes the chains empty.
struct chain_preparing {
  match_chains into;
};

/// Every warp appends the matches that it finds to its chain.
struct match_paging {
  join_input input;
  match_chains into;
  /// For each row of the probe side, how many of its matches found no room.
  std::uint32_t* lost = nullptr;
};

/// Returns how many matches each chain holds.
struct chain_counting {
  match_chains of;
  std::uint64_t* counts = nullptr;
};

/// Copies the matches of chain i to `matches[offsets[i]]` and following. One warp per chain.
struct match_gathering {
  match_chains from;
  const std::uint64_t* offsets = nullptr;
  match* matches = nullptr;
};

/// Frees all pages, one lane per chain.
struct chain_freeing {
  match_chains of;
};

}  // namespace warpheap::join_data
