// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

/// What a request for up to 32 nodes of an order has obtained: units of that order, and units of a
/// higher one, whose nodes it will split. On its way up from order to order, it asked each of them
/// for as many units as the order below needs nodes to split: at most half of what is missing
/// there, rounded up. So five orders above and higher, that is always one.
///
/// Nodes have numbers: those of the higher order from 0 on, and number k is split into 2k, its
/// right child, and 2k + 1, its left one. At each order, the split makes as many as were missing,
/// or one more, which was promised to others: the left child of the last node.
///
/// One word, a byte for each number: [ direct | nodes | height | asked 4, 3, 2, 1, 0 orders above
/// ].
class climb {
 public:
  /// For `wanted` nodes, from 1 to 32.
  WARPHEAP_HD static constexpr climb of(std::uint32_t wanted) { return climb(wanted); }
  WARPHEAP_HD static constexpr climb decode(std::uint64_t word) { return climb(word); }
  WARPHEAP_HD constexpr std::uint64_t encode() const { return word_; }

  /// Units that were asked for at so many orders above the one of the request.
  WARPHEAP_HD constexpr std::uint32_t asked(int height) const {
    return height < kept ? byte(height) : 1u;
  }
  /// How many orders above that of the request the climb has come.
  WARPHEAP_HD constexpr int height() const { return static_cast<int>(byte(at_height)); }
  /// Units that were granted there.
  WARPHEAP_HD constexpr std::uint32_t nodes() const { return byte(at_nodes); }
  /// Units that were granted at the order of the request before the climb went on.
  WARPHEAP_HD constexpr std::uint32_t direct() const { return byte(at_direct); }

  /// Goes on to the next order, for `batches` nodes to split.
  WARPHEAP_HD constexpr void go_up(std::uint32_t batches) {
    word_ += std::uint64_t{1} << 8 * at_height;
    if (height() < kept) word_ |= std::uint64_t{batches} << 8 * height();
  }
  WARPHEAP_HD constexpr void grant_directly(std::uint32_t units) {
    word_ |= std::uint64_t{units} << 8 * at_direct;
  }
  /// Ends the climb.
  WARPHEAP_HD constexpr climb granted(std::uint32_t units) const {
    return climb(word_ | std::uint64_t{units} << 8 * at_nodes);
  }
  /// Ends it without units of a higher order.
  WARPHEAP_HD constexpr climb failed() const { return of(asked(0)).granted(direct()); }

  /// Nodes that were missing at a height below that of the climb.
  WARPHEAP_HD constexpr std::uint32_t missing(int height) const {
    return asked(height) - (height == 0 ? direct() : 0);
  }
  /// Nodes that were promised to others there: 0 or 1.
  WARPHEAP_HD constexpr std::uint32_t promised(int height) const {
    const std::uint32_t made = 2 * asked(height + 1);
    return made > missing(height) ? made - missing(height) : 0;
  }

 private:
  static constexpr int kept = 5;
  static constexpr int at_height = 5;
  static constexpr int at_nodes = 6;
  static constexpr int at_direct = 7;

  WARPHEAP_HD constexpr explicit climb(std::uint64_t word) : word_(word) {}
  WARPHEAP_HD constexpr std::uint32_t byte(int place) const {
    return static_cast<std::uint32_t>(word_ >> 8 * place) & 0xffu;
  }

  std::uint64_t word_;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
