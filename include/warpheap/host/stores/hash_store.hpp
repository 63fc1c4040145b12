// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/host/stores/tiled_regions.hpp"

namespace warpheap::host {

/// Free and used blocks as records in a block table, with the free ones of each region in a list in
/// address order ("hash tables" of the host-based paper, section III-C).
///
/// Invariants: T1-T5 (tiling), C1 (no two free neighbours); H1: a region's list holds its free
/// blocks in address order.
///
/// Complexity: take and a step of the search O(1); give back walks left from a block without a free
/// neighbour to the nearest free block, all other cases O(1).
class hash_store {
 public:
  using index = block_table::index;

  struct cursor {
    std::size_t region = 0;
    index which = block_table::none;
    explicit operator bool() const { return which != block_table::none; }
  };

  explicit hash_store(policy_options options) : tiles_(options) {}

  void add_region(extent region) {
    heads_.make_room();
    const index whole = tiles_.add(region);
    link_first(heads_.add(region, block_table::none), whole);
  }
  void remove_region(address base) {
    tiles_.remove(base);
    heads_.remove(base);
  }
  std::size_t free_at_end(address base) const { return tiles_.free_at_end(base); }
  void extend_region(address base, std::size_t bytes) {
    heads_.extend(base, bytes);
    make_free(tiles_.extend(base, bytes));
  }
  bool region_is_free(address base) const { return tiles_.is_unused(base); }

  /// Whether there is room for one more block.
  bool make_room() { return table().make_room(); }

  cursor first() const { return head_from(0); }
  cursor after(cursor where) const {
    const index next = tiles_.table[where.which].list_next;
    return next != block_table::none ? cursor{where.region, next} : head_from(where.region + 1);
  }
  /// The first free block that ends above `where`. O(free blocks of one region)
  cursor from(address where) const {
    for (std::size_t region = 0; region < heads_.size(); ++region) {
      if (heads_[region].range.end() <= where) continue;
      cursor found{region, heads_[region].data};
      if (!found) found = head_from(region + 1);
      while (found && tiles_.table[found.which].end() <= where) found = after(found);
      return found;
    }
    return {};
  }
  extent at(cursor where) const { return tiles_.table[where.which].range(); }

  void take(cursor where, extent piece) {
    index which = where.which;
    if (piece.base != table()[which].base) {
      const index rest = table().split(which, piece.base - table()[which].base);
      link_after(which, rest);
      which = rest;
    }
    if (piece.bytes != table()[which].bytes) {
      link_after(which, table().split(which, piece.bytes));
    }
    unlink(which);
    table().hand_out(which);
  }

  std::size_t give_back(address base) {
    const index which = table().take_back(base);
    if (which == block_table::none) return 0;
    const std::size_t bytes = table()[which].bytes;
    make_free(which);
    return bytes;
  }

  void truncate(extent block, std::size_t keep) {
    make_free(table().split(table().find(block.base), keep));
  }

  extent block_at(address base) const { return tiles_.block_at(base); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    tiles_.for_each_block(visit);
  }

  std::optional<std::string> check() const {
    if (auto wrong = tiles_.check()) return wrong;
    if (auto wrong = tiles_.check_merged()) return wrong;
    cursor where = first();
    std::optional<std::string> wrong;
    tiles_.for_each_block([&](extent block, bool used) {
      if (used) return;
      if (!where || at(where) != block) wrong = "H1: the list misses " + to_text(block.base);
      if (where) where = after(where);
    });
    if (!wrong && where) wrong = "H1: the list holds a block that is not free";
    return wrong;
  }

 private:
  block_table& table() { return tiles_.table; }

  cursor head_from(std::size_t region) const {
    for (; region < heads_.size(); ++region) {
      if (heads_[region].data != block_table::none) return {region, heads_[region].data};
    }
    return {};
  }

  index& head_of(index which) { return heads_.find(table()[which].base)->data; }

  void link_first(index& head, index which) {
    table()[which].list_prev = block_table::none;
    table()[which].list_next = head;
    table()[head].list_prev = which;
    head = which;
  }

  void link_after(index before, index which) {
    const index next = table()[before].list_next;
    table()[which].list_prev = before;
    table()[which].list_next = next;
    table()[next].list_prev = which;
    table()[before].list_next = which;
  }

  void unlink(index which) {
    const index prev = table()[which].list_prev;
    const index next = table()[which].list_next;
    table()[next].list_prev = prev;
    (prev == block_table::none ? head_of(which) : table()[prev].list_next) = next;
  }

  // Inserts a block that is in no list into the list, merged with its free neighbours.
  void make_free(index which) {
    if (const index right = table()[which].right; table()[right].free) {
      unlink(right);
      table().absorb_right(which);
    }
    index left = table()[which].left;
    if (table()[left].free) {
      table().absorb_right(left);
      return;
    }
    while (left != block_table::none && !table()[left].free) left = table()[left].left;
    if (left == block_table::none) {
      link_first(head_of(which), which);
    } else {
      link_after(left, which);
    }
  }

  tiled_regions tiles_;
  region_map<index> heads_;
};

}  // namespace warpheap::host
