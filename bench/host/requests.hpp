// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the cases ask of a machine, and what it answers: plain structures that host code of any
/// compiler and lanes of both models share.

#include <cstdint>

namespace warpheap::bench {

/// How sizes are spread over size_min..size_max, both ends included.
enum class distribution : std::uint32_t {
  uniform,  ///< every size is as likely as any other
  powers,   ///< every power of two is as likely as any other
};

/// Lanes of a warp in both models.
inline constexpr std::uint64_t lanes_per_warp = 32;

/// The requests of one launch. Request i of the batch is number `first + i` of the case, and its
/// size and the contents of its block depend on that number and the seed alone.
struct request_batch {
  /// Lanes of the launch.
  std::uint64_t threads = 0;
  /// Requests: one per lane, or with `one_per_warp` one by lane 0 of each warp.
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t size_min = 0;
  std::uint64_t size_max = 0;
  std::uint64_t seed = 0;
  /// In device memory: request i asks for the adjacency of vertex i, `offsets[i + 1] - offsets[i]`
  /// neighbours of four bytes. Null: sizes are drawn.
  const std::uint64_t* offsets = nullptr;
  distribution sizes = distribution::uniform;
  bool one_per_warp = false;
};

/// Which blocks of a table are meant.
struct selection {
  enum class kind : std::uint32_t { all, every_second, random };
  kind which = kind::all;
  /// With `random`: exactly this many of the table's places.
  std::uint64_t chosen = 0;
  std::uint64_t seed = 0;
};

/// What a look at all blocks of a table finds.
struct block_report {
  std::uint64_t served = 0;
  std::uint64_t nulls = 0;
  /// Blocks whose contents are not what was written.
  std::uint64_t corrupted = 0;
  /// Blocks at an address that is not a multiple of the manager's alignment.
  std::uint64_t misaligned = 0;
  /// Bytes that the served requests asked for.
  std::uint64_t bytes = 0;
  /// The lowest address, complemented (so that the machine needs an atomic maximum only).
  std::uint64_t lowest_complement = 0;
  /// One past the highest byte.
  std::uint64_t highest = 0;

  /// Bytes from the first block's start to the last block's end.
  std::uint64_t range() const { return served == 0 ? 0 : highest - ~lowest_complement; }
};

/// The request of the kernel that serves a batch over a heap: the blocks' addresses, or 0.
struct allocation {
  request_batch batch;
  std::uint64_t* addresses = nullptr;
};

/// The request of the kernel that frees the selected blocks of `count`. With a partial selection,
/// it sets their addresses to 0.
struct freeing {
  std::uint64_t count = 0;
  selection which;
  std::uint64_t* addresses = nullptr;
};

/// The request of the kernel that writes a pattern that no other block has into every block: small
/// ones whole, large ones at both ends.
struct block_writing {
  request_batch batch;
  const std::uint64_t* addresses = nullptr;
};

/// The request of the kernel that looks at every block, with `contents` also at what is written in
/// it.
struct block_examination {
  request_batch batch;
  const std::uint64_t* addresses = nullptr;
  std::uint64_t alignment = 0;
  bool contents = true;
  block_report* report = nullptr;
};

}  // namespace warpheap::bench
