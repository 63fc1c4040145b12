// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// TBuddy: a static binary tree over pages. A node of order h covers 2^h pages, its children are
/// 2i and 2i+1 of the order below. Each order has a bulk semaphore, which grows by splitting a node
/// of the order above: a batch of two.
///
/// The available nodes of an order are the elements of a bitmap tree (sync/bitmap_tree.hpp). In the
/// publication's words a node is available if its bit is set, and partial if bits below it are set
/// in trees of lower orders. A semaphore never has more units than its order has available nodes
/// beyond those that lanes with a unit are about to take: nodes come before units, and go after
/// them.
///
/// Pairs: the lane that makes the second buddy available merges the two, if it can get both units.
/// If those were promised to lanes that then take other nodes, the pair stays. Its parent is noted
/// in a second bitmap tree, where `merge_pairs` looks before memory counts as exhausted.
///
/// Orders: insertions into a bitmap tree release and removals acquire what was done with the pages;
/// units release and acquire the insertion of the node that they stand for.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/bulk_semaphore.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

/// The part of an order that lanes share; it has its own cache line.
struct alignas(128) buddy_order {
  std::uint64_t units;
  /// Words of the two bitmap trees. Constant once formatted.
  std::uint64_t* nodes;
  std::uint64_t* pairs;
};

class buddy_tree {
 public:
  static constexpr std::uint32_t none = bitmap_tree::none;
  /// Page numbers, and two more values, fit into 32 bits with room to spare: 4 TiB of 4 KiB pages.
  static constexpr std::uint32_t most_pages = 1u << 30;

  void lay_out(region_cursor& cursor, std::uint32_t pages) {
    pages_ = pages;
    orders_ = cursor.take<buddy_order>(static_cast<std::size_t>(top()) + 1);
    std::size_t words = 0;
    for (int order = 0; order <= top(); ++order) words += words_of(order);
    words_ = cursor.take<std::uint64_t>(words, 128);
  }

  WARPHEAP_HD std::uint32_t pages() const { return pages_; }
  /// The order of the largest node.
  WARPHEAP_HD int top() const { return floor_log2(pages_); }
  /// Nodes of an order that lie within the heap.
  WARPHEAP_HD std::uint32_t nodes_of(int order) const { return pages_ >> order; }

  /// The heap is covered by one node for each power of two in its number of pages.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    std::uint64_t* words = words_;
    for (int order = 0; order <= top(); ++order) {
      const std::uint32_t nodes = nodes_of(order);
      const std::uint32_t available = nodes & 1u;  // the last one, if it has no buddy
      std::uint64_t* const pairs = words + bitmap_tree::words_for(nodes);
      if (rank == 0) {
        buddy_order& shared = orders_[order];
        shared.units = sync::bulk_semaphore::initial(available);
        shared.nodes = words;
        shared.pairs = pairs;
      }
      const std::uint64_t last = nodes - 1;
      const auto single = [available, last](std::uint64_t first, std::uint64_t span) {
        const bool inside = available != 0 && last >= first && last - first < 64 * span;
        return inside ? std::uint64_t{1} << ((last - first) / span) : std::uint64_t{0};
      };
      bitmap_tree(words, nodes).format_words(single, rank, count);
      bitmap_tree(pairs, parents_of(order)).format(0, rank, count);
      words = pairs + bitmap_tree::words_for(parents_of(order));
    }
  }

  /// As needed: small blocks seldom take a node, and what follows from its tree's shape would keep
  /// registers in all of their requests.
  WARPHEAP_DEVICE bitmap_tree nodes(int order) const {
    const int at = simt::as_needed(order);
    return {orders_[at].nodes, simt::as_needed(pages_) >> at};
  }
  /// Parents of pairs of nodes of `order` that could not be merged. Some have been merged or taken
  /// since.
  WARPHEAP_DEVICE bitmap_tree pairs(int order) const {
    return {orders_[order].pairs, parents_of(order)};
  }
  /// Whether the words of an order are where `format` has put them; only while no lane allocates.
  WARPHEAP_DEVICE bool words_in_place(int order) const {
    std::size_t before = 0;
    for (int below = 0; below < order; ++below) before += words_of(below);
    return orders_[order].nodes == words_ + before &&
           orders_[order].pairs == words_ + before + bitmap_tree::words_for(nodes_of(order));
  }
  WARPHEAP_DEVICE sync::bulk_semaphore units(int order) const {
    return sync::bulk_semaphore(orders_[order].units);
  }

  /// Whether nodes of `order` or above are available or expected. Looks downwards and upwards: a
  /// node that is being split becomes units below it, merged ones become a unit above.
  WARPHEAP_DEVICE bool expects(int order) const {
    const int highest = floor_log2(simt::as_needed(pages_));
    for (int h = highest; h >= order; --h) {
      if (units(h).read().expected() > 0) return true;
    }
    for (int h = order; h <= highest; ++h) {
      if (units(h).read().expected() > 0) return true;
    }
    return false;
  }

  /// A node of `order`, or none. \pre `order <= top()`
  ///
  /// Ends: a lane that promises to split waits only for lanes that split at a higher order, so
  /// chains of waiting lanes end at the top; and futile attempts are counted.
  WARPHEAP_DEVICE std::uint32_t take(int order) const {
    int level = order;
    bool in_vain = false;
    for (int looks = 0;;) {
      const sync::bulk_semaphore here = units(level);
      const auto asked = here.ask(1, 2, in_vain);
      if (asked.granted != 0) break;
      const bool growing = level < top() && expects(level + 1);
      in_vain = false;
      if (growing && asked.batches != 0) {
        here.promise(asked, 2);
        ++level;
        continue;
      }
      bool again = true;
      if (growing || asked.covered) {
        if (here.await(asked) != 0) break;
        in_vain = true;
      } else {
        again = here.decline(asked);
      }
      if (!again || ++looks == patience) {
        while (level-- > order) units(level).deliver(1, 0);
        return none;
      }
    }
    std::uint32_t node = claim(level);
    while (level-- > order) {
      nodes(level).insert(2 * node);
      units(level).deliver(1, 1);
      node = 2 * node + 1;
    }
    return node;
  }

  /// Takes back a node. \return whether all pairs of buddies that it completed are merged
  WARPHEAP_DEVICE bool give(int order, std::uint32_t node) const {
    nodes(order).insert(node);
    units(order).signal(1);
    return merge(order, node);
  }

  /// Merges the pairs that `give` has left. A single pass over the notes, which ends even if lanes
  /// add some.
  /// \return false if some are still left
  WARPHEAP_DEVICE bool merge_pairs() const {
    bool all = true;
    for (int order = 0; order < top(); ++order) {
      const bitmap_tree noted = pairs(order);
      for (std::uint32_t parent = noted.successor(0); parent != none;
           parent = noted.successor(parent + 1)) {
        if (noted.remove(parent) && !merge(order, 2 * parent)) all = false;
      }
    }
    return all;
  }

 private:
  static constexpr int patience = 64;

  /// The words that both bitmap trees of `order` take.
  WARPHEAP_HD std::size_t words_of(int order) const {
    return std::size_t{bitmap_tree::words_for(nodes_of(order))} +
           bitmap_tree::words_for(parents_of(order));
  }
  /// How many parents the nodes of `order` have; 1 where there is none, as no bitmap tree is empty.
  WARPHEAP_HD std::uint32_t parents_of(int order) const {
    return order < top() ? nodes_of(order + 1) : 1u;
  }

  /// \pre the caller has a unit
  ///
  /// Ends: the unit stands for a node. A look that finds none was overtaken by a lane that took one
  /// while another was put back elsewhere.
  WARPHEAP_DEVICE std::uint32_t claim(int order) const {
    for (;;) {
      const auto start = static_cast<std::uint32_t>(simt::noise() >> 32);
      const std::uint32_t node = nodes(order).claim_hashed(start);
      if (node != none) return node;
      simt::backoff(64);
    }
  }

  /// Merges the node, which has become available, with its buddy if that is available, too, and so
  /// on. Of two lanes that insert buddies, the later one sees both, because they share a word. The
  /// units are borrowed: they stay expected until the parent is there.
  /// \return false if a pair is left and noted
  WARPHEAP_DEVICE bool merge(int order, std::uint32_t node) const {
    for (; order < top(); ++order, node /= 2) {
      const std::uint64_t both = std::uint64_t{3} << (node % 64 & ~1u);
      if ((nodes(order).load_word(node / 64) & both) != both) return true;
      const sync::bulk_semaphore here = units(order);
      if (!here.borrow_all(2)) {
        pairs(order).insert(node / 2);
        return false;
      }
      if (!nodes(order).remove_all_bits(node / 64, both)) {
        // A lane has taken one of them; the one that gives it back looks again.
        here.deliver(2, 2);
        return true;
      }
      nodes(order + 1).insert(node / 2);
      units(order + 1).signal(1);
      here.deliver(2, 0);
    }
    return true;
  }

  std::uint32_t pages_ = 0;
  buddy_order* orders_ = nullptr;
  std::uint64_t* words_ = nullptr;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
