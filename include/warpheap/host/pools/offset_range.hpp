// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/c/range.h"
#include "warpheap/host/policies/tlsf.hpp"

namespace warpheap::host {

/// Blocks in a range of offsets whose memory belongs to the caller: a buffer of a graphics API, a
/// file, an address range of another process. Needs neither an upstream nor addresses; a block is
/// freed by its handle. For one thread at a time.
///
/// Complexity: allocate and deallocate O(1).
class offset_range {
  using policy = tlsf_of_granules;

 public:
  /// A block: its offset, real size (0: no block) and handle.
  using block = warpheap_range_block;

  static constexpr std::size_t default_granule = 256;
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;

  /// Offsets from 0 up to, but not including, `bytes`. The sizes and offsets of blocks are
  /// multiples of `granule_bytes`, a power of two from 1 up. If a range would have 2^32 granules or
  /// more, they are multiples of more, but at most of a 2^31th of the range. A range has at least
  /// one granule and at most 2^46 bytes. \throws invalid_argument for a size out of range,
  /// out_of_memory for the bookkeeping
  explicit offset_range(std::uint64_t bytes, std::size_t granule_bytes = default_granule)
      : policy_(policy_options{}),
        shift_(floor_log2(checked(bytes, granule_bytes))),
        granules_(bytes >> shift_) {
    policy_.add_region({0, granules_});
  }

  offset_range(const offset_range&) = delete;
  offset_range& operator=(const offset_range&) = delete;

  /// A block of at least `bytes` bytes at a multiple of `alignment`; a block of 0 bytes if no hole
  /// is large enough, and for a request of 0 bytes. \pre `alignment` is a power of two
  [[gnu::flatten]] block allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    if (bytes - 1 >= most_bytes || alignment > most_bytes) return {};
    const auto made =
        policy_.allocate_by_handle(granules_of(bytes), alignment >> shift_, effort::bounded);
    if (!made.range) return allocate_thoroughly(bytes, alignment);
    return as_block(made);
  }

  /// The steps of `allocate` for a function that is called and not inlined, and must not save the
  /// registers of a step that it seldom takes: whether a request is of a size that a range can have
  /// and needs no more alignment than its granule, what it needs, a block that fits that exactly,
  /// any other.
  using needs = policy::needs;
  bool is_plain(std::uint64_t bytes, std::uint64_t alignment) const {
    const std::uint64_t past = alignment - 1;
    // One branch: it is hardly ever taken.
    static_assert(std::has_single_bit(most_bytes));
    return ((bytes - 1) / most_bytes | (alignment & past) | past >> shift_) == 0;
  }
  needs needs_of(std::uint64_t bytes) const { return policy_.needs_of(granules_of(bytes)); }
  /// The size of the block that serves it.
  std::uint64_t bytes_of(needs wanted) const { return bytes_of(wanted.bytes); }
  block allocate_exact(needs wanted) { return as_block(policy_.allocate_exact(wanted)); }
  block allocate_other(needs wanted) {
    return as_block(policy_.allocate_other(wanted, effort::bounded));
  }

  /// Takes back a block and returns its size; 0, with nothing changed, if the handle does not
  /// belong to a live block of this range, such as in a double free. Ranges number their blocks
  /// alike: the handle of a block of another range may be that of a block of this one.
  [[gnu::flatten]] std::uint64_t deallocate(std::uint64_t handle) {
    const block_names::handle of{static_cast<std::uint32_t>(handle),
                                 static_cast<std::uint32_t>(handle >> 32)};
    return bytes_of(policy_.deallocate(of));
  }

  /// The steps of `deallocate`, likewise: the record of the block that is taken back, or none; and
  /// how it becomes a hole, which takes most registers if it lies between two.
  using index = policy::index;
  static constexpr index none = block_table::none;
  index take_back(std::uint64_t handle) {
    return policy_.take_back(
        {static_cast<std::uint32_t>(handle), static_cast<std::uint32_t>(handle >> 32)});
  }
  bool lies_between_holes(index which) const { return policy_.lies_between_holes(which); }
  void put_back(index which) { policy_.put_back(which); }
  void put_between_holes(index which) { policy_.put_between_holes(which); }

  /// The size of the range in bytes, whole granules.
  std::uint64_t bytes() const { return granules_ << shift_; }

  std::size_t granule() const { return std::size_t{1} << shift_; }

  /// What is in use, and the holes. O(blocks).
  warpheap_range_stats stats() const {
    warpheap_range_stats all{};
    policy_.for_each_block([&](extent part, bool used) {
      if (used) {
        all.bytes_in_use += part.bytes << shift_;
        ++all.blocks;
      } else {
        all.largest_hole_bytes =
            std::max<std::uint64_t>(all.largest_hole_bytes, part.bytes << shift_);
        ++all.holes;
      }
    });
    return all;
  }

  /// Verifies every invariant; returns a description of the first violation, with offsets in
  /// granules. O(blocks)
  std::optional<std::string> check() const { return policy_.check(); }

 private:
  // The granule of a range, such that it has less than 2^32 of them. What a block is larger than
  // its request is never more than a 2^31th of the range.
  static std::size_t checked(std::uint64_t bytes, std::size_t granule) {
    if (!is_power_of_two(granule)) {
      throw invalid_argument("a granule of " + std::to_string(granule) +
                             " bytes: it must be a power of two");
    }
    if (bytes < granule || bytes > most_bytes) {
      throw invalid_argument("a range of " + std::to_string(bytes) + " bytes: it must have from " +
                             std::to_string(granule) + ", its granule, to " +
                             std::to_string(most_bytes));
    }
    return std::max(granule, std::bit_floor(bytes >> 31));
  }

  /// \pre not 0
  std::uint64_t granules_of(std::uint64_t bytes) const { return ((bytes - 1) >> shift_) + 1; }

  std::uint64_t bytes_of(std::uint64_t granules) const {
    const std::uint64_t bytes = granules << shift_;
    // A hint for the compiler, which then tests for 0 before the shift, where the answer is known.
    if ((bytes == 0) != (granules == 0)) __builtin_unreachable();
    return bytes;
  }

  block as_block(const policy::handed_out& made) const {
    return {made.range.base << shift_, bytes_of(made.range.bytes),
            std::uint64_t{made.handle.serial} << 32 | made.handle.record};
  }

  [[gnu::noinline]] block allocate_thoroughly(std::uint64_t bytes, std::uint64_t alignment) {
    const auto made =
        policy_.allocate_by_handle(granules_of(bytes), alignment >> shift_, effort::thorough);
    return made.range ? as_block(made) : block{};
  }

  policy policy_;
  int shift_;  ///< of a granule
  std::uint64_t granules_;
};

}  // namespace warpheap::host
