// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/block_table.hpp"
#include "warpheap/host/stores/region_map.hpp"

namespace warpheap::host {

/// A block table and the regions whose blocks it holds: the base of every policy that keeps a
/// record for each block.
///
/// To the left of a region's first block is the record of its *edge*, which has no bytes and is
/// never free. Thus every block has a left neighbour, and any record may be the first of a region.
template <class Table>
class tiled_regions_of {
 public:
  using index = block_table::index;

  explicit tiled_regions_of(policy_options options)
      : table(options), granule_(options.granule_bytes) {}

  /// The region as one free block that is in no list, with room for records of `parts` blocks that
  /// the caller may split it into. \throws out_of_memory or std::bad_alloc, and nothing has changed
  index add(extent region, std::size_t parts = 1) {
    if (!table.make_room(parts + 1)) {
      throw out_of_memory("the process has no memory for the records of a region of " +
                          std::to_string(region.bytes) + " bytes");
    }
    index& edge = regions_.add(region, block_table::none);
    edge = table.add_region({region.base, 0});
    table[edge].free = false;
    return table.append(edge, region.bytes);
  }

  /// Removes a region. \pre it consists of one free block that is in no list
  void remove(address base) {
    table.forget(first_of(base));
    table.forget(regions_.find(base)->data);
    regions_.remove(base);
  }

  std::size_t count_regions() const { return regions_.size(); }

  /// Calls `visit(base)` for each region.
  template <class Visitor>
  void for_each_region(Visitor&& visit) const {
    for (const auto& region : regions_) visit(region.range.base);
  }

  index first_of(address region_base) const {
    return table[regions_.find(region_base)->data].right;
  }

  /// The last block of a region. O(blocks)
  index last_of(address region_base) const {
    index which = first_of(region_base);
    while (table[which].right != block_table::none) which = table[which].right;
    return which;
  }

  std::size_t free_at_end(address region_base) const {
    const auto& last = table[last_of(region_base)];
    return last.free ? last.bytes : 0;
  }

  /// Extends a region: returns the new memory as a free block that is in no list. O(blocks)
  index extend(address region_base, std::size_t bytes) {
    const index made = table.append(last_of(region_base), bytes);
    regions_.extend(region_base, bytes);
    return made;
  }

  /// Whether no block of the region is handed out. O(1 + vacant parts)
  bool is_unused(address region_base) const {
    index which = first_of(region_base);
    while (which != block_table::none && (table[which].free || table[which].vacant)) {
      which = table[which].right;
    }
    return which == block_table::none;
  }

  /// The block, of any state, that contains this address of a region. O(blocks)
  index containing(address where) const {
    index which = table[regions_.find(where)->data].right;
    while (!table[which].range().contains(where)) which = table[which].right;
    return which;
  }

  /// Cuts a free or vacant block so that `part` of it is a block of its own, and returns that;
  /// calls `other(which)` for what is left of the block before it and behind it. \pre one block, in
  /// no list, contains `part`. O(blocks)
  template <class Other>
  index isolate(extent part, Other&& other) {
    index which = containing(part.base);
    const auto split = [&](std::size_t size) {
      const index rest = table.split(which, size);
      table[rest].free = table[which].free;
      table[rest].vacant = table[which].vacant;
      table.tell_neighbours(rest, table[rest].free);
      return rest;
    };
    if (table[which].base != part.base) {
      const index rest = split(part.base - table[which].base);
      other(which);
      which = rest;
    }
    if (table[which].bytes != part.bytes) other(split(part.bytes));
    return which;
  }

  extent block_at(address base) const { return table[table.find(base)].range(); }

  std::size_t round(std::size_t bytes) const { return align_up(bytes, granule()); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    for_each_tile([&](const auto& b) {
      if (!b.vacant) visit(b.range(), !b.free);
    });
  }

  /// The same including vacant parts, as records.
  template <class Visitor>
  void for_each_tile(Visitor&& visit) const {
    for (const auto& region : regions_) {
      for (index which = table[region.data].right; which != block_table::none;
           which = table[which].right) {
        visit(table[which]);
      }
    }
  }

  /// The number of free blocks. O(blocks)
  std::size_t count_free() const {
    std::size_t count = 0;
    for_each_block([&](extent, bool used) { count += !used; });
    return count;
  }

  /// T1 to T3 of the block table for every region; T4: every record belongs to a region; T5: a
  /// region's edge has no bytes, is never free and starts the region. O(blocks)
  std::optional<std::string> check() const {
    std::size_t count = 0;
    for (const auto& region : regions_) {
      const auto& edge = table[region.data];
      if (edge.base != region.range.base || edge.bytes != 0 || edge.free || edge.left != 0) {
        return "T5: the edge of the region at " + to_text(region.range.base) + " is wrong";
      }
      if (auto wrong = table.check_region(edge.right, region.range, region.data)) return wrong;
      ++count;
    }
    for_each_tile([&](const auto&) { ++count; });
    if (count != table.size())
      return "T4: of " + std::to_string(table.size()) + " records, the regions have " +
             std::to_string(count);
    return std::nullopt;
  }

  /// C1: no two neighbours are both free. Only for policies that always merge. O(blocks)
  std::optional<std::string> check_merged() const {
    std::optional<std::string> wrong;
    extent last;
    for_each_block([&](extent block, bool used) {
      if (used) {
        last = {};
        return;
      }
      const bool same_region = last && table_region(last.base) == table_region(block.base);
      if (same_region && last.end() == block.base) {
        wrong = "C1: the free blocks at " + to_text(last.base) + " and " + to_text(block.base) +
                " were not merged";
      }
      last = block;
    });
    return wrong;
  }

  /// C2: both neighbours of a block are told whether it is free. Only for policies that tell them.
  /// O(blocks)
  std::optional<std::string> check_told() const {
    std::optional<std::string> wrong;
    for_each_tile([&](const auto& b) {
      if (b.left.is_free() != table[b.left].free || b.right.is_free() != table[b.right].free) {
        wrong =
            "C2: the block at " + to_text(b.base) + " is wrong about whether a neighbour is free";
      }
    });
    return wrong;
  }

  /// What all sizes and addresses are multiples of.
  std::size_t granule() const { return Table::in_granules ? 1 : granule_; }

  Table table;

 private:
  const void* table_region(address where) const { return regions_.find(where); }

  std::size_t granule_;
  region_map<index> regions_;
};

using tiled_regions = tiled_regions_of<block_table>;

}  // namespace warpheap::host
