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
/// Groups: lanes of a warp that call together for nodes of one order ask each semaphore once for
/// all of them (climb.hpp), and split for all of them; those that give nodes back signal their
/// units as one, and borrow those of all pairs that they merge as one.
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
#include "warpheap/managers/bulk_allocator/climb.hpp"
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

/// The calling lane as a group.
WARPHEAP_DEVICE inline simt::group alone() {
  return simt::group(simt::lane_mask::of(simt::lane_id()));
}

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

  /// Nodes of `order` for members of a group, the first ones of which get one each: a collective.
  /// \pre `order <= top()`
  /// \param node receives the caller's, if it gets one
  /// \return how many get one
  WARPHEAP_DEVICE std::uint32_t take(const simt::group& members, int order,
                                     std::uint32_t& node) const {
    std::uint64_t word = 0;
    if (members.is_leader()) {
      word = reach(order, static_cast<std::uint32_t>(members.size())).encode();
    }
    members.sync();  // what the leader has acquired comes before what the members do
    const climb got = climb::decode(members.broadcast(word));
    const std::uint32_t units = got.direct() + got.nodes();
    if (units == 0) return 0;
    const auto rank = static_cast<std::uint32_t>(members.rank());
    const int height = got.height();
    std::uint32_t mine = none;
    if (rank < units) mine = claim(rank < got.direct() ? order : order + height);
    if (height == 0) {
      node = mine;
      return units;
    }
    const std::uint32_t last =
        members.shuffle(mine, members.mask().nth(static_cast<int>(units) - 1));
    members.sync();  // all nodes have been acquired before parts of them are handed on
    std::uint32_t made = 0;
    if (members.is_leader()) made = split(order, got, last);
    made = members.broadcast(made);
    const std::uint32_t number = rank - got.direct();  // below 0: a node of its own
    const std::uint32_t from = rank < got.direct() ? rank : got.direct() + (number >> height);
    const std::uint32_t whole =
        members.shuffle(mine, members.mask().nth(static_cast<int>(from < units ? from : 0)));
    const std::uint32_t parts = (1u << height) - 1;
    node = rank < got.direct() ? mine : (whole << height) + (parts - (number & parts));
    return got.direct() + made;
  }

  /// A node of `order` for a lone lane, or none. Not as a group of one: with what the collectives
  /// need, a kernel with a malloc has 65 registers instead of 59, one more than a thread of a block
  /// of 1024 can have. \pre `order <= top()`
  WARPHEAP_DEVICE std::uint32_t take(int order) const {
    const climb got = reach(order, 1);
    if (got.nodes() == 0) return none;
    const int height = got.height();
    const std::uint32_t node = claim(order + height);
    split(order, got, node);
    return (node << height) + ((1u << height) - 1);
  }

  /// Takes back nodes of `order`, one of each member of a group: a collective.
  /// \return whether all pairs of buddies that the caller completed are merged
  WARPHEAP_DEVICE bool give(const simt::group& members, int order, std::uint32_t node) const {
    nodes(order).insert(node);
    members.sync();  // nodes come before their units
    if (members.is_leader()) units(order).signal(static_cast<std::uint32_t>(members.size()));
    return merge(members, order, node);
  }
  WARPHEAP_DEVICE bool give(int order, std::uint32_t node) const {
    return give(alone(), order, node);
  }

  /// Merges the pairs that `give` has left. Every lane of `count` calls it and looks at some of the
  /// orders, or at a part of one. A single pass over the notes, which ends even if lanes add some.
  /// \return false if some are still left
  WARPHEAP_DEVICE bool merge_pairs(std::uint32_t rank = 0, std::uint32_t count = 1) const {
    const auto orders = static_cast<std::uint32_t>(top());
    if (orders == 0) return true;
    const std::uint32_t parts = ceil_div(count, orders);
    bool all = true;
    for (std::uint32_t share = rank; share < orders * parts; share += count) {
      const int order = static_cast<int>(share % orders);
      const std::uint32_t each = ceil_div(parents_of(order), parts);
      const std::uint32_t from = share / orders * each;
      const bitmap_tree noted = pairs(order);
      for (std::uint32_t parent = noted.successor(from); parent < from + each;
           parent = noted.successor(parent + 1)) {
        if (noted.remove(parent) && !merge(alone(), order, 2 * parent)) all = false;
      }
    }
    return all;
  }

 private:
  static constexpr int patience = 16;
  /// How often units of pairs are asked for. Mostly others have them who are about to take a node,
  /// and then the pair is there no longer: a note would make lanes reclaim in vain.
  static constexpr int few_looks = 4;
  static constexpr std::uint32_t pause = 500;  // nanoseconds, about the time of taking a node

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

  /// Units for up to `wanted` nodes of `order`: see `climb`. None if there is no hope.
  ///
  /// Ends: a lane that promises to split waits only for lanes that split at a higher order, so
  /// chains of waiting lanes end at the top; and futile attempts are counted.
  WARPHEAP_DEVICE climb reach(int order, std::uint32_t wanted) const {
    climb made = climb::of(wanted);
    bool in_vain = false;
    for (int looks = 0; looks < patience;) {
      const int level = order + made.height();
      const sync::bulk_semaphore here = units(level);
      const auto asked = here.ask(wanted, 2, in_vain);
      in_vain = false;
      if (asked.missing == 0) return made.granted(asked.granted);
      const bool growing = level < top() && expects(level + 1);
      if (growing && asked.batches != 0 && (asked.granted == 0 || level == order)) {
        if (asked.granted != 0) made.grant_directly(asked.granted);
        here.promise(asked, 2);
        wanted = asked.batches;
        made.go_up(wanted);
        continue;
      }
      if (asked.granted != 0) {
        here.decline(asked);
        return made.granted(asked.granted);
      }
      ++looks;
      if (growing || asked.covered) {
        const std::uint32_t granted = here.await(asked);
        if (granted != 0) return made.granted(granted);
        in_vain = true;
      } else if (!here.decline(asked)) {
        break;
      }
    }
    for (int height = made.height(); height-- > 0;) {
      units(order + height).deliver(made.promised(height), 0);
    }
    return made.failed();
  }

  /// Splits what a climb has reached, down to `order`. \param node the last of its nodes
  /// \return how many nodes of `order` are the caller's
  WARPHEAP_DEVICE std::uint32_t split(int order, const climb& of, std::uint32_t node) const {
    std::uint32_t made = of.nodes();
    for (int height = of.height(); height-- > 0;) {
      const bool one_more = 2 * made > of.missing(height);
      if (one_more) nodes(order + height).insert(2 * node);
      if (of.promised(height) != 0) {
        units(order + height).deliver(of.promised(height), one_more ? 1 : 0);
      }
      made = 2 * made - (one_more ? 1 : 0);
      node = 2 * node + (one_more ? 1 : 0);
    }
    return made;
  }

  /// Merges nodes of members of a group, which have become available, with their buddies if those
  /// are available, too, and so on: a collective. Of two lanes that insert buddies, the later one
  /// sees both, because they share a word. The units are borrowed: they stay expected until the
  /// parents are there.
  /// \return false if a pair of the caller's is left and noted
  WARPHEAP_DEVICE bool merge(simt::group members, int order, std::uint32_t node) const {
    for (; order < top(); ++order, node /= 2) {
      members.sync();  // of two members with buddies, the first one sees both
      const std::uint64_t both = std::uint64_t{3} << (node % 64 & ~1u);
      const auto complete = [&] { return (nodes(order).load_word(node / 64) & both) == both; };
      if (!members.any(complete())) return true;
      const bool is_first = members.match(node / 2).is_leader();
      bool whole = false;
      simt::lane_mask with_pairs;
      std::uint32_t lent = 0;
      // Ends after `few_looks`: those who have the units may be lanes of this warp, and do not wait
      // for its members.
      for (int looks = 1;; ++looks) {
        whole = is_first && complete();
        with_pairs = members.ballot(whole);
        if (with_pairs.empty()) return true;
        if (members.is_leader()) lent = borrow_pairs(order, with_pairs.count());
        lent = members.broadcast(lent);
        if (lent != 0 || looks == few_looks) break;
        simt::backoff(pause);
      }
      bool merged = false;
      bool left = false;
      if (whole) {
        left = static_cast<std::uint32_t>(with_pairs.below(simt::lane_id()).count()) >= lent;
        // If it fails, a lane has taken one of them; the one that gives it back looks again.
        merged = !left && nodes(order).remove_all_bits(node / 64, both);
        if (left) pairs(order).insert(node / 2);
        if (merged) nodes(order + 1).insert(node / 2);
      }
      const simt::lane_mask those = members.ballot(merged);
      members.sync();  // the parents come before their units
      if (members.is_leader() && lent != 0) {
        const auto parents = static_cast<std::uint32_t>(those.count());
        if (parents != 0) units(order + 1).signal(parents);
        units(order).deliver(std::uint64_t{2} * lent, std::uint64_t{2} * (lent - parents));
      }
      members.sync();
      if (!merged) return !left;
      members = simt::group(those);
    }
    return true;
  }

  /// Borrows the units of up to `most` pairs. Returns of how many.
  WARPHEAP_DEVICE std::uint32_t borrow_pairs(int order, int most) const {
    const std::uint32_t lent = units(order).borrow_up_to(2 * static_cast<std::uint32_t>(most));
    if (lent % 2 != 0) units(order).deliver(1, 1);
    return lent / 2;
  }

  std::uint32_t pages_ = 0;
  buddy_order* orders_ = nullptr;
  std::uint64_t* words_ = nullptr;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
