// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/policies/rounding_policy.hpp"
#include "warpheap/host/stores/free_lists.hpp"

namespace warpheap::host {

namespace buddies {

inline constexpr int unsplit = -1;
inline constexpr int orders = 64;
/// Orders stop at 2^31 granules; larger regions get several roots.
inline constexpr int top = 31;

}  // namespace buddies

/// The buddy systems of the host-based paper (O. Bell, A. Kumar, C. Gill, "Host-Based Allocators
/// for Device Memory", arXiv:2405.07079, 2024, section II-C) over one skeleton. `System` gives the
/// sizes and how they split. Sizes are in granules. An order is a number below 64; a larger order
/// of the same family is a larger block.
///
/// - `granules(order)`: the size of a block of the order.
/// - `left(order)`, `right(order)`: the orders of the halves that it splits into, or `unsplit`.
/// - `parent(left)`: the order that splits into `left` and its buddy.
/// - `wanted(n)`: for each family the smallest order of at least n granules, least waste first;
///   `unsplit` where the family has none.
/// - `sources(order)`: the orders, as a set of bits, from which a block of `order` can be split.
/// - `root(remaining, done)`: the order of the next root when `remaining` granules of a region are
///   left and `done` have been given to roots.
///
/// A region is cut into roots that never merge with each other. A request is rounded up to an
/// order; the smallest free block that can be split into that order is split until it has it. A
/// freed block merges with its buddy while the buddy is free and whole.
///
/// The buddy of a left half is the block to the right of it, if that is as deep in the tree of
/// splits: a split buddy's parts are deeper. So the depth replaces the arithmetic on addresses that
/// only powers of two allow. Whether a block is a right half is a bit; a parent's bit survives in
/// its halves the way that Hirschberg's Fibonacci system keeps it: a left half remembers its
/// parent's own bit, a right half what its parent remembered.
///
/// Invariants: T1-T5 (tiling), F1 (lists); B1: a free block is in the list of its order, and the
/// order's bit is set if and only if its list has a block; B2: every block is as large as its
/// order; B3: no block and its buddy are both free.
///
/// Complexity: allocate and deallocate O(orders), that is O(log of a region's size).
template <class System>
class buddy_policy : public rounding_policy {
 public:
  /// Either half of such a region holds a power of two that is large enough, and the whole of it
  /// every smaller size.
  static constexpr std::size_t region_for(std::size_t bytes) { return 2 * std::bit_ceil(bytes); }

  explicit buddy_policy(policy_options options) : rounding_policy(options) {}

  void add_region(extent region) {
    const std::size_t granules = region.bytes / tiles_.granule();
    std::vector<int> roots;
    for (std::size_t done = 0; done != granules; done += System::granules(roots.back())) {
      roots.push_back(System::root(granules - done, done));
    }
    index root = tiles_.add(region, roots.size());
    for (std::size_t n = 0; n != roots.size(); ++n) {
      const int order = roots[n];
      const index rest = n + 1 == roots.size() ? block_table::none : cut(root, order);
      set(root, {.order = order, .depth = 0, .right = false, .memory = false});
      push(root);
      root = rest;
    }
  }

  bool region_is_free(address base) const {
    bool is_free = true;
    for_each_root(base, [&](index which) {
      is_free &= tiles_.table[which].free && tag_of(which).depth == 0;
    });
    return is_free;
  }

  void remove_region(address base) {
    for_each_root(base, [&](index which) { remove(which); });
    const index first = tiles_.first_of(base);
    while (table()[first].right != block_table::none) table().absorb_right(first);
    tiles_.remove(base);
  }

  extent allocate(std::size_t bytes, std::size_t, effort) {
    if (!table().make_room()) return {};
    for (const int wanted : System::wanted(ceil_div(bytes, tiles_.granule()))) {
      if (wanted == buddies::unsplit) continue;
      const std::uint64_t orders = nonempty_ & System::sources(wanted);
      if (orders == 0) continue;
      const index which = lists_.head(std::countr_zero(orders));
      remove(which);
      return hand_out(which, wanted);
    }
    return {};
  }

  std::size_t deallocate(address base) {
    index which = table().take_back(base);
    if (which == block_table::none) return 0;
    const std::size_t bytes = table()[which].bytes;
    for (index buddy = buddy_of(which); table()[buddy].free; buddy = buddy_of(which)) {
      remove(buddy);
      const index left = tag_of(which).right ? buddy : which;
      const tag first = tag_of(left);
      const tag second = tag_of(table()[left].right);
      table().absorb_right(left);
      set(left, {.order = System::parent(first.order),
                 .depth = first.depth - 1,
                 .right = first.memory,
                 .memory = second.memory});
      which = left;
    }
    push(which);
    return bytes;
  }

  std::optional<std::string> check() const {
    for (int order = 0; order < buddies::orders; ++order) {
      if ((nonempty_ >> order & 1) == lists_.empty(order)) {
        return "B1: the bit of order " + std::to_string(order) + " is wrong";
      }
    }
    return check_lists(lists_, [&](std::size_t list, index which) -> std::optional<std::string> {
      const auto& block = tiles_.table[which];
      const int order = static_cast<int>(list);
      if (tag_of(which).order != order) {
        return "B1: the block at " + to_text(block.base) + " is in a wrong list";
      }
      if (block.bytes != System::granules(order) * tiles_.granule()) {
        return "B2: the block at " + to_text(block.base) + " is not as large as its order";
      }
      if (tiles_.table[buddy_of(which)].free) {
        return "B3: the block at " + to_text(block.base) + " was not merged with its buddy";
      }
      return std::nullopt;
    });
  }

 private:
  struct tag {
    int order;
    int depth;    ///< splits above this block; 0 is a root
    bool right;   ///< it is the right half of its parent
    bool memory;  ///< see the comment of the class
  };

  tag tag_of(index which) const {
    const unsigned word = tiles_.table[which].tag;
    return {static_cast<int>(word & 63), static_cast<int>(word >> 6 & 63), (word >> 12 & 1) != 0,
            (word >> 13 & 1) != 0};
  }

  void set(index which, tag value) {
    table()[which].tag = static_cast<std::uint16_t>(value.order | value.depth << 6 |
                                                    value.right << 12 | value.memory << 13);
  }

  // The whole buddy of a block, free or not; none if it is split or the block is a root.
  index buddy_of(index which) const {
    const tag own = tag_of(which);
    if (own.depth == 0) return block_table::none;
    const auto& block = tiles_.table[which];
    const index other = own.right ? block.left : block.right;
    return tag_of(other).depth == own.depth ? other : block_table::none;
  }

  index cut(index which, int order) {
    return table().split(which, System::granules(order) * tiles_.granule());
  }

  extent hand_out(index which, int wanted) {
    for (tag own = tag_of(which); own.order > wanted; own = tag_of(which)) {
      const int left_order = System::left(own.order);
      const int right_order = System::right(own.order);
      const index right = cut(which, left_order);
      set(which, {left_order, own.depth + 1, false, own.right});
      set(right, {right_order, own.depth + 1, true, own.memory});
      // Continues with the smaller half that is large enough; of two equal halves, with the left
      // one.
      const bool go_right = right_order < left_order && right_order >= wanted;
      push(go_right ? which : right);
      which = go_right ? right : which;
    }
    table().hand_out(which);
    return table()[which].range();
  }

  void push(index which) {
    const int order = tag_of(which).order;
    lists_.push(table(), order, which);
    nonempty_ |= std::uint64_t{1} << order;
  }

  void remove(index which) {
    const int order = tag_of(which).order;
    lists_.remove(table(), order, which);
    if (lists_.empty(order)) nonempty_ &= ~(std::uint64_t{1} << order);
  }

  template <class Visitor>
  void for_each_root(address region_base, Visitor&& visit) const {
    for (index which = tiles_.first_of(region_base); which != block_table::none;
         which = tiles_.table[which].right) {
      visit(which);
    }
  }

  std::uint64_t nonempty_ = 0;
  free_lists<buddies::orders> lists_;
};

}  // namespace warpheap::host
