// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// The chunks of an empty heap: one or more trees, shaped like a binary heap, and the rest. Level d
/// of a tree has 2^d chunks, which together are as large as its root, so that requests of every
/// size find chunks at once and do not compete for one.
///
///     [ root | 1/2 1/2 | 1/4 1/4 1/4 1/4 | ... | smallest ones ][ next tree ... ][ the rest ]
///
/// Everything is counted in granules. As many levels as fit, so that something is left.
class presplit {
 public:
  presplit() = default;

  /// \param granules of the heap; from 1 to 2^31
  /// \param smallest chunk; 0: no trees
  /// \param trees 1 at least
  constexpr presplit(std::uint32_t granules, std::uint32_t smallest, std::uint32_t trees)
      : end_(granules), trees_(trees) {
    if (smallest == 0) return;
    const auto granules_in = [&](std::uint32_t levels) {
      return std::uint64_t{trees} * levels * smallest << (levels - 1);
    };
    while (granules_in(levels_ + 1) < granules) ++levels_;
    if (levels_ != 0) root_ = smallest << (levels_ - 1);
  }

  WARPHEAP_HD constexpr std::uint32_t end() const { return end_; }
  WARPHEAP_HD constexpr std::uint32_t levels() const { return levels_; }
  WARPHEAP_HD constexpr std::uint32_t root() const { return root_; }
  /// The granule at which tree number `tree` starts, or the rest after the last one.
  WARPHEAP_HD constexpr std::uint32_t tree_start(std::uint32_t tree) const {
    return tree * levels_ * root_;
  }
  WARPHEAP_HD constexpr std::uint64_t chunks() const {
    return ((std::uint64_t{1} << levels_) - 1) * trees_ + 1;
  }

  /// The first chunk that starts at granule `from` or later; `end()` if there is none.
  WARPHEAP_HD constexpr std::uint32_t next_start(std::uint64_t from) const {
    const std::uint32_t rest = tree_start(trees_);
    if (from >= rest) return from == rest ? rest : end_;
    const auto at = static_cast<std::uint32_t>(from);
    const std::uint32_t level_start = at / root_ * root_;
    const std::uint32_t chunk = root_ >> (at / root_ % levels_);
    return level_start + round_up(at - level_start, chunk);
  }

 private:
  std::uint32_t end_ = 0;
  std::uint32_t trees_ = 0;
  std::uint32_t levels_ = 0;
  std::uint32_t root_ = 0;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
