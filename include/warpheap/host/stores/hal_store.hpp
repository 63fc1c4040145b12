// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/hybrid_array_list.hpp"
#include "warpheap/host/stores/region_map.hpp"

namespace warpheap::host {

/// Free and used blocks in two hybrid array lists (host-based paper, section III-A, algorithms 1
/// and 2 with their corrections).
///
/// Invariants: L1-L2 of both lists; A1: free and used blocks tile every region; A2: no two free
/// neighbours of one region.
///
/// Complexity: take and give back O(blocks / Capacity + Capacity), a step of the search O(1).
template <std::size_t Capacity = 254>
class hal_store {
 public:
  using cursor = typename hybrid_array_list<Capacity>::position;

  explicit hal_store(policy_options) {}

  void add_region(extent region) {
    regions_.make_room();
    free_.insert_after(free_.search(region.base), region);
    regions_.add(region, {});
  }
  void remove_region(address base) {
    free_.erase(free_.search(base));
    regions_.remove(base);
  }
  std::size_t free_at_end(address base) const {
    const address end = regions_.find(base)->range.end();
    const cursor last = free_.search(end - 1);
    return last && last->end() == end ? last->bytes : 0;
  }
  void extend_region(address base, std::size_t bytes) {
    const address end = regions_.find(base)->range.end();
    regions_.extend(base, bytes);
    make_free({end, bytes});
  }
  bool region_is_free(address base) const {
    const cursor block = free_.search(base);
    return block && *block == regions_.find(base)->range;
  }

  bool make_room() { return true; }

  cursor first() const { return free_.front(); }
  cursor after(cursor where) const { return free_.next(where); }
  /// The first free block that ends above `where`.
  cursor from(address where) const {
    const cursor below = free_.search(where);
    if (!below) return free_.front();
    return below->end() > where ? below : free_.next(below);
  }
  extent at(cursor where) const { return *where; }

  void take(cursor where, extent piece) {
    const extent whole = *where;
    const extent front{whole.base, piece.base - whole.base};
    const extent back{piece.end(), whole.end() - piece.end()};
    if (front) {
      *where = front;
      if (back) free_.insert_after(where, back);
    } else if (back) {
      *where = back;
    } else {
      free_.erase(where);
    }
    used_.insert_after(used_.search(piece.base), piece);
  }

  std::size_t give_back(address base) {
    const cursor block = used_.search(base);
    if (!block || block->base != base) return 0;
    const extent whole = *block;
    used_.erase(block);
    make_free(whole);
    return whole.bytes;
  }

  void truncate(extent block, std::size_t keep) {
    used_.search(block.base)->bytes = keep;
    make_free({block.base + keep, block.bytes - keep});
  }

  extent block_at(address base) const {
    const cursor block = used_.search(base);
    return block && block->base == base ? *block : extent{};
  }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    cursor free = free_.front();
    cursor used = used_.front();
    while (free || used) {
      const bool next_is_used = !free || (used && used->base < free->base);
      cursor& next = next_is_used ? used : free;
      visit(*next, next_is_used);
      next = next_is_used ? used_.next(used) : free_.next(free);
    }
  }

  std::optional<std::string> check() const {
    if (auto wrong = free_.check()) return wrong;
    if (auto wrong = used_.check()) return wrong;
    std::optional<std::string> wrong;
    std::size_t region = 0;
    address expected = regions_.size() != 0 ? regions_[0].range.base : 0;
    bool last_free = false;
    for_each_block([&](extent block, bool used) {
      if (block.base != expected) wrong = "A1: a gap or overlap at " + to_text(block.base);
      if (!used && last_free) wrong = "A2: not merged at " + to_text(block.base);
      last_free = !used;
      expected = block.end();
      if (region < regions_.size() && expected == regions_[region].range.end()) {
        last_free = false;
        if (++region < regions_.size()) expected = regions_[region].range.base;
      }
    });
    if (!wrong && region != regions_.size()) wrong = "A1: a region is not filled";
    return wrong;
  }

 private:
  struct nothing {};

  // Merges only within a region: two regions may happen to be adjacent and must stay separate.
  void make_free(extent block) {
    const auto* region = regions_.find(block.base);
    const cursor left = free_.search(block.base);
    const cursor right = left ? free_.next(left) : free_.front();
    const bool joins_left = left && left->end() == block.base && block.base != region->range.base;
    const bool joins_right =
        right && right->base == block.end() && block.end() != region->range.end();
    if (joins_left) {
      left->bytes += block.bytes;
      if (joins_right) {
        left->bytes += right->bytes;
        free_.erase(right);
      }
    } else if (joins_right) {
      right->base = block.base;
      right->bytes += block.bytes;
    } else {
      free_.insert_after(left, block);
    }
  }

  hybrid_array_list<Capacity> free_;
  hybrid_array_list<Capacity> used_;
  region_map<nothing> regions_;
};

}  // namespace warpheap::host
