// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The memory table of Gallatin: what each segment is used for.

#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// An entry of the memory table: the number of the tree whose blocks the segment has, or one of
/// these.
struct gallatin_segment {
  static constexpr std::uint32_t free = 0xffffffffu;
  /// Within a run of segments, behind its first.
  static constexpr std::uint32_t inside = 0xfffffffeu;
  static constexpr std::uint32_t run_flag = 0x80000000u;

  /// The first segment of a run of `length`.
  WARPHEAP_HD static constexpr std::uint32_t run(std::uint32_t length) { return run_flag | length; }
  WARPHEAP_HD static constexpr bool is_run(std::uint32_t kind) {
    return (kind & run_flag) != 0 && kind < inside;
  }
  WARPHEAP_HD static constexpr std::uint32_t length(std::uint32_t kind) { return kind & ~run_flag; }
};

/// Gallatin's memory table: what each segment is used for.
///
/// Memory order: only the owner of a segment writes its entry, before any lane gets memory of the
/// segment, and the entry is handed over with that memory; therefore relaxed accesses suffice.
class gallatin_memory_table {
 public:
  gallatin_memory_table() = default;
  gallatin_memory_table(region_cursor& cursor, std::uint32_t segments)
      : kinds_(cursor.take<std::uint32_t>(segments, 128)) {}

  WARPHEAP_DEVICE void format(std::uint32_t segments, std::uint64_t rank,
                              std::uint64_t count) const {
    for (std::uint64_t i = rank; i < segments; i += count) kinds_[i] = gallatin_segment::free;
  }

  WARPHEAP_DEVICE std::uint32_t kind(std::uint32_t segment) const {
    return simt::atomic_ref(kinds_[segment]).load(simt::order::relaxed);
  }
  /// \pre the caller owns the segment
  WARPHEAP_DEVICE void set(std::uint32_t segment, std::uint32_t kind) const {
    simt::atomic_ref(kinds_[segment]).store(kind, simt::order::relaxed);
  }

 private:
  std::uint32_t* kinds_ = nullptr;
};

WARPHEAP_END_NAMESPACE
