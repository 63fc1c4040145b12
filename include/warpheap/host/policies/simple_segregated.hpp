// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/policies/rounding_policy.hpp"
#include "warpheap/host/stores/free_lists.hpp"

namespace warpheap::host {

/// Simple segregated storage (host-based paper, section II-B): a request is rounded up to a power
/// of two and served from the list of that size, else carved off the unused top of a region. Blocks
/// are never split or merged, and memory never moves from one size to another.
///
/// Deviation from the paper: once the last block comes back, every region becomes one whole again.
///
/// Invariants: T1-T5 (tiling), F1 (lists); S1: every free block is in the list of its size or is
/// the top of its region; S2: each block but a top is a power of two of granules long.
///
/// Complexity: allocate O(regions) when it carves, else O(1); deallocate O(1), amortised.
class simple_segregated : public rounding_policy {
 public:
  static constexpr std::size_t region_for(std::size_t bytes) { return std::bit_ceil(bytes); }

  explicit simple_segregated(policy_options options) : rounding_policy(options) {}

  void add_region(extent region) {
    const index top = tiles_.add(region);
    table()[top].tag = top_class;
    lists_.push(table(), top_class, top);
  }

  bool region_is_free(address base) const {
    bool is_free = true;
    for (index which = tiles_.first_of(base); which != block_table::none;
         which = tiles_.table[which].right) {
      is_free &= tiles_.table[which].free;
    }
    return is_free;
  }

  void remove_region(address base) {
    lists_.remove(table(), top_class, make_whole(base));
    tiles_.remove(base);
  }

  extent allocate(std::size_t bytes, std::size_t, effort) {
    if (!table().make_room()) return {};
    const std::size_t granules = std::bit_ceil(ceil_div(bytes, tiles_.granule()));
    const auto size_class = static_cast<std::uint16_t>(floor_log2(granules));
    index which = lists_.head(size_class);
    if (which != block_table::none) {
      lists_.remove(table(), size_class, which);
    } else {
      which = carve(granules * tiles_.granule());
      if (which == block_table::none) return {};
      table()[which].tag = size_class;
    }
    table().hand_out(which);
    return table()[which].range();
  }

  std::size_t deallocate(address base) {
    const index which = table().take_back(base);
    if (which == block_table::none) return 0;
    const std::size_t bytes = table()[which].bytes;
    lists_.push(table(), table()[which].tag, which);
    if (table().used() == 0) {
      tiles_.for_each_region([&](address region) { make_whole(region); });
    }
    return bytes;
  }

  std::optional<std::string> check() const {
    return check_lists(lists_, [&](std::size_t list, index which) -> std::optional<std::string> {
      const auto& block = tiles_.table[which];
      if (block.tag != list) {
        return "S1: the block at " + to_text(block.base) + " is in a wrong list";
      }
      if (list != top_class && block.bytes != tiles_.granule() << list) {
        return "S2: the block at " + to_text(block.base) + " is not of its class's size";
      }
      if (list == top_class && block.right != block_table::none) {
        return "S1: the top at " + to_text(block.base) + " is not the end of its region";
      }
      return std::nullopt;
    });
  }

 private:
  static constexpr std::uint16_t top_class = 63;

  index carve(std::size_t bytes) {
    const index top = lists_.first_that_fits(table(), top_class, bytes, tiles_.count_regions());
    if (top == block_table::none) return top;
    lists_.remove(table(), top_class, top);
    if (table()[top].bytes != bytes) {
      const index rest = table().split(top, bytes);
      table()[rest].tag = top_class;
      lists_.push(table(), top_class, rest);
    }
    return top;
  }

  // Joins the free blocks of a region to one top, and returns that.
  index make_whole(address base) {
    const index first = tiles_.first_of(base);
    for (index which = first; which != block_table::none; which = table()[which].right) {
      lists_.remove(table(), table()[which].tag, which);
    }
    while (table()[first].right != block_table::none) table().absorb_right(first);
    table()[first].tag = top_class;
    lists_.push(table(), top_class, first);
    return first;
  }

  free_lists<top_class + 1> lists_;
};

static_assert(placement_policy<simple_segregated>);

}  // namespace warpheap::host
