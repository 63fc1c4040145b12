// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The size classes of the manager `warpheap`, by arithmetic alone.
///
///     bytes                      slots
///     1 .. 512                   every multiple of 16
///     .. 4096                    32 to each doubling
///     .. chunk / 16              16 to each doubling
///     .. chunk / 2               a fifteenth, a fourteenth, ... a half of a chunk
///
/// The first three kinds end at chunk / 16, wherever that is. Slots of a power of two bytes lie at
/// multiples of their size, because chunks do.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

class warpheap_size_classes {
 public:
  static constexpr std::uint32_t granule = 16;

  /// \param chunk_shift log2 of a chunk's bytes, 8 at least
  WARPHEAP_HD constexpr explicit warpheap_size_classes(int chunk_shift)
      : chunk_shift_(chunk_shift), spaced_(spaced_class(spaced_limit()) + 1) {}

  WARPHEAP_HD constexpr int chunk_shift() const { return chunk_shift_; }
  WARPHEAP_HD constexpr std::uint32_t chunk_bytes() const { return 1u << chunk_shift_; }
  /// Classes are 0..count()-1, slots grow with the class.
  WARPHEAP_HD constexpr std::uint32_t count() const { return spaced_ + most_parts - 1; }
  /// The largest request that has a class.
  WARPHEAP_HD constexpr std::uint32_t largest() const { return chunk_bytes() / 2; }

  /// \pre `0 < bytes && bytes <= largest()`
  WARPHEAP_HD constexpr std::uint32_t class_of(std::uint32_t bytes) const {
    if (bytes <= spaced_limit()) return spaced_class(bytes);
    return class_of_part(chunk_bytes() / round_up(bytes, granule));
  }

  /// The class for blocks at multiples of `alignment`: one whose slots are a multiple of it.
  /// \pre `bytes` is a multiple of `alignment`, a power of two; `bytes <= largest()`
  WARPHEAP_HD constexpr std::uint32_t aligned_class_of(std::uint32_t bytes) const {
    // The steps between spaced classes are powers of two, so a class is as aligned as its step or,
    // where the step is smaller, as `bytes` is.
    if (bytes <= spaced_limit()) return spaced_class(bytes);
    return class_of_part(1u << (chunk_shift_ - ceil_log2(bytes)));
  }

  /// Bytes of the slots of a class.
  WARPHEAP_HD constexpr std::uint32_t slot_bytes(std::uint32_t of) const {
    if (of >= spaced_) {
      return chunk_bytes() / (most_parts - (of - spaced_)) / granule * granule;
    }
    if (of < fine_classes) return (of + 1) * granule;
    if (of < fine_classes + dense_classes) {
      return spaced_slot(of - fine_classes, fine_shift, dense_shift);
    }
    return spaced_slot(of - fine_classes - dense_classes, dense_end_shift, loose_shift);
  }

 private:
  /// A chunk has 15, 14, ... 2 slots in the last classes.
  static constexpr std::uint32_t most_parts = 15;
  static constexpr int fine_shift = 9;        // multiples of the granule up to 512
  static constexpr int dense_end_shift = 12;  // dense up to 4096
  static constexpr int dense_shift = 5;       // 32 to each doubling
  static constexpr int loose_shift = 4;       // 16 to each doubling
  static constexpr std::uint32_t fine_classes = (1u << fine_shift) / granule;
  static constexpr std::uint32_t dense_classes = (dense_end_shift - fine_shift) << dense_shift;

  WARPHEAP_HD constexpr std::uint32_t spaced_limit() const { return chunk_bytes() / 16; }

  WARPHEAP_HD constexpr std::uint32_t class_of_part(std::uint32_t parts) const {
    return spaced_ + (most_parts - (parts < most_parts ? parts : most_parts));
  }

  WARPHEAP_HD static constexpr std::uint32_t spaced_class(std::uint32_t bytes) {
    if (bytes <= 1u << fine_shift) return (bytes - 1) / granule;
    const int octave = floor_log2(bytes - 1);
    if (octave < dense_end_shift) {
      return fine_classes + step_of(bytes, octave, octave - fine_shift, dense_shift);
    }
    return fine_classes + dense_classes +
           step_of(bytes, octave, octave - dense_end_shift, loose_shift);
  }
  /// The number of the step that `bytes` falls into, `octaves` doublings behind the first of the
  /// kind, each of 2^shift steps.
  WARPHEAP_HD static constexpr std::uint32_t step_of(std::uint32_t bytes, int octave, int octaves,
                                                     int shift) {
    const std::uint32_t step = ((bytes - 1) >> (octave - shift)) - (1u << shift);
    return (static_cast<std::uint32_t>(octaves) << shift) + step;
  }
  WARPHEAP_HD static constexpr std::uint32_t spaced_slot(std::uint32_t number, int first_octave,
                                                         int shift) {
    const int octave = first_octave + static_cast<int>(number >> shift);
    const std::uint32_t step = number & low_bits<std::uint32_t>(shift);
    return ((1u << shift) + step + 1) << (octave - shift);
  }

  int chunk_shift_;
  std::uint32_t spaced_;
};

WARPHEAP_END_NAMESPACE
