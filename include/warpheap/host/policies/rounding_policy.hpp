// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/free_lists.hpp"
#include "warpheap/host/stores/tiled_regions.hpp"

namespace warpheap::host {

/// The common part of the policies that round a request up to a size of their own: their blocks can
/// be neither cut nor aligned.
///
/// Invariants: T1-T5 (tiling); F1: the blocks in the lists are the free ones.
class rounding_policy {
 public:
  using index = block_table::index;

  static constexpr bool truncates = false;
  static constexpr bool aligns = false;

  std::size_t truncate(address, std::size_t) { return 0; }

  extent block_at(address base) const { return tiles_.block_at(base); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    tiles_.for_each_block(visit);
  }

 protected:
  explicit rounding_policy(policy_options options) : tiles_(options) {}

  block_table& table() { return tiles_.table; }

  /// Checks T1 to T5 and F1. `judge(list, which)` says what is wrong with a block being in a list,
  /// if anything. O(blocks)
  template <std::size_t Count, class Judge>
  std::optional<std::string> check_lists(const free_lists<Count>& lists, Judge&& judge) const {
    if (auto wrong = tiles_.check()) return wrong;
    std::size_t listed = 0;
    for (std::size_t list = 0; list < Count; ++list) {
      for (index which = lists.head(list); which != block_table::none;
           which = tiles_.table[which].list_next, ++listed) {
        const auto& block = tiles_.table[which];
        if (!block.free) return "F1: the block at " + to_text(block.base) + " is not free";
        if (std::optional<std::string> wrong = judge(list, which)) return wrong;
      }
    }
    if (listed != tiles_.count_free()) return "F1: a free block is in no list";
    return std::nullopt;
  }

  tiled_regions tiles_;
};

}  // namespace warpheap::host
