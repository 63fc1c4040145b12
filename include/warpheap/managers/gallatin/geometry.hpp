// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Sizes and numbers of Gallatin's segments, blocks, slices and units
/// (managers/gallatin/gallatin.hpp explains them): plain arithmetic, the same on host and device.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/units.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct gallatin_config {
  /// The largest size of a segment: heaps with room for fewer than `least_segments` get smaller
  /// ones.
  std::size_t segment_bytes = 16_MiB;
  /// Bytes of the smallest and the largest slice, powers of two.
  std::uint32_t smallest_slice = 16;
  std::uint32_t largest_slice = 4096;
  /// The number of segments that a heap should have, so that several sizes find room in it.
  std::uint32_t least_segments = 32;
  /// The blocks that wait in the buffer of one size take at most the heap divided by this. More
  /// slots mean less contention and more memory that only this size can use.
  std::uint32_t buffer_share = 16;
};

/// The numbers with which `gallatin` computes. All are powers of two, except for the units of
/// several slices.
///
/// A tree is a size of slices: tree t has slices of `smallest_slice << t` bytes. A unit is what a
/// small allocation gets: units 0..trees-1 are single slices of those trees, unit trees + c - 2 is
/// c neighbouring slices of the last tree, c in 2..8. A block holds units of one kind.
template <gallatin_config Config>
class gallatin_geometry {
 public:
  static_assert(is_power_of_two(Config.smallest_slice) && Config.smallest_slice >= 16,
                "smallest_slice must be a power of two, at least 16");
  static_assert(is_power_of_two(Config.largest_slice) &&
                    Config.largest_slice >= Config.smallest_slice,
                "largest_slice must be a power of two, at least smallest_slice");
  static_assert(is_power_of_two(Config.segment_bytes) &&
                    Config.segment_bytes >= std::size_t{8} * Config.largest_slice &&
                    Config.segment_bytes <= (std::size_t{Config.largest_slice} << 16) &&
                    Config.segment_bytes <= (std::size_t{1} << 31),
                "segment_bytes must be a power of two, 8 to 65536 of the largest slices and at "
                "most 2 GiB");
  static_assert(Config.least_segments != 0 && Config.buffer_share != 0,
                "least_segments and buffer_share must not be 0");

  /// Slices of the last tree that one small allocation may take.
  static constexpr std::uint32_t most_slices = 8;
  static constexpr std::uint32_t trees =
      static_cast<std::uint32_t>(floor_log2(Config.largest_slice / Config.smallest_slice)) + 1;
  static constexpr std::uint32_t units = trees + most_slices - 1;
  static_assert(units <= 16, "largest_slice must be at most 256 times smallest_slice");
  /// Blocks of a segment in tree 0, as a power of two; one less with every tree.
  static constexpr int blocks_shift = static_cast<int>(trees) - 1;
  static constexpr std::size_t largest_unit = std::size_t{most_slices} * Config.largest_slice;

  /// Slices of a block that no heap goes below, unless the configured segment is that small.
  static constexpr std::uint32_t least_slices = 64;

  gallatin_geometry() = default;

  /// For a heap of `bytes`: the largest segments of which it has enough.
  WARPHEAP_HD constexpr gallatin_geometry(std::size_t bytes, std::uint32_t multiprocessors)
      : multiprocessors_(multiprocessors),
        slices_shift_(floor_log2(Config.segment_bytes / Config.largest_slice)) {
    while (bytes >> segment_shift() < Config.least_segments &&
           slices_shift_ > floor_log2(least_slices)) {
      --slices_shift_;
    }
  }

  /// `room`, but at least 1 and no more than can be numbered: blocks have 32-bit numbers, and two
  /// of these have another meaning.
  WARPHEAP_HD static constexpr std::uint32_t segments_among(std::size_t room) {
    constexpr std::size_t most = (std::size_t{1} << 31) >> blocks_shift;
    return room < 1 ? 1u : static_cast<std::uint32_t>(room < most ? room : most);
  }

  /// As many segments as there was room for.
  WARPHEAP_HD constexpr void set_segments(std::uint32_t count) { segments_ = count; }

  WARPHEAP_HD constexpr std::uint32_t segments() const { return segments_; }
  WARPHEAP_HD constexpr std::uint32_t multiprocessors() const { return multiprocessors_; }
  WARPHEAP_HD constexpr int segment_shift() const {
    return slices_shift_ + floor_log2(Config.largest_slice);
  }
  WARPHEAP_HD constexpr std::size_t segment_bytes() const {
    return std::size_t{1} << segment_shift();
  }
  /// Slices of a block, in every tree.
  WARPHEAP_HD constexpr std::uint32_t slices() const { return std::uint32_t{1} << slices_shift_; }

  /// The unit that `bytes` bytes need. \pre `0 < bytes <= largest_unit`
  WARPHEAP_HD static constexpr std::uint32_t unit_for(std::size_t bytes) {
    const auto size = static_cast<std::uint32_t>(bytes);
    if (size <= Config.smallest_slice) return 0;
    if (size <= Config.largest_slice) {
      return static_cast<std::uint32_t>(ceil_log2(size) - floor_log2(Config.smallest_slice));
    }
    return trees + (size - 1) / Config.largest_slice - 1;
  }
  WARPHEAP_HD static constexpr std::uint32_t tree_of(std::uint32_t unit) {
    return unit < trees ? unit : trees - 1;
  }
  WARPHEAP_HD static constexpr std::uint32_t slices_of(std::uint32_t unit) {
    return unit < trees ? 1 : unit - trees + 2;
  }
  WARPHEAP_HD static constexpr std::uint32_t unit_bytes(std::uint32_t unit) {
    return unit < trees ? Config.smallest_slice << unit : slices_of(unit) * Config.largest_slice;
  }
  /// Units of a block.
  WARPHEAP_HD constexpr std::uint32_t capacity(std::uint32_t unit) const {
    return unit < trees ? slices() : slices() / slices_of(unit);
  }

  WARPHEAP_HD constexpr int block_shift(std::uint32_t tree) const {
    return slices_shift_ + floor_log2(Config.smallest_slice) + static_cast<int>(tree);
  }
  /// Blocks of a segment, as a power of two.
  WARPHEAP_HD static constexpr int blocks_shift_of(std::uint32_t tree) {
    return blocks_shift - static_cast<int>(tree);
  }
  /// The tree whose whole blocks serve `bytes`. \pre `bytes <= segment_bytes()`
  WARPHEAP_HD constexpr std::uint32_t tree_for_block(std::size_t bytes) const {
    const int shift = ceil_log2(bytes) - block_shift(0);
    return shift < 0 ? 0 : static_cast<std::uint32_t>(shift);
  }
  /// A number for a block that no two blocks in use share, whatever their trees: counters of
  /// blocks lie at it.
  WARPHEAP_HD static constexpr std::uint32_t counter_of(std::uint32_t tree, std::uint32_t block) {
    const int shift = blocks_shift_of(tree);
    return (block >> shift << blocks_shift) | (block & low_bits<std::uint32_t>(shift));
  }

  /// Slots of a unit's buffer: one for each multiprocessor, fewer if they would pin too much.
  WARPHEAP_HD constexpr std::uint32_t slots(std::uint32_t unit) const {
    const std::uint32_t blocks = segments_ << blocks_shift_of(tree_of(unit));
    const std::uint32_t share = blocks / Config.buffer_share;
    if (share == 0) return 1;
    return share < multiprocessors_ ? share : multiprocessors_;
  }

 private:
  std::uint32_t segments_ = 0;
  std::uint32_t multiprocessors_ = 1;
  int slices_shift_ = 0;
};

WARPHEAP_END_NAMESPACE
