// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/stores/size_index.hpp"
#include "warpheap/host/stores/tiled_regions.hpp"

namespace warpheap::host {

/// Segregated fit and TLSF: O. Bell, A. Kumar, C. Gill, "Host-Based Allocators for Device Memory",
/// arXiv:2405.07079, 2024, sections V-A and V-B, with the corrections that the printed algorithms 4
/// and 5 need.
///
/// A request takes a block out of the index of free blocks, cuts off what it does not need, and
/// puts the rest back. A freed block absorbs its free neighbours at once, but no vacant part.
///
/// Our addition (`LowAddresses`): a block well below the average size takes, of the few holes
/// that the search meets, the one with the lowest address, as long as it is about twice as large at
/// most; the others take the first hole that fits. That keeps small blocks together and holes large
/// (docs/host.md has the measurements).
///
/// Invariants: T1-T5 (tiling), C1 (no two free neighbours), C2 (neighbours are told), I1-I2
/// (index), K1: a block handed out is tagged with its class, in which it will be if it does not
/// merge; K2: the bytes in use are those of the blocks handed out.
///
/// Progress: every operation is a bounded number of steps, whatever the number of live blocks; only
/// a request that would otherwise fail may look through one whole size class.
template <class Index, bool LowAddresses>
class segregated_policy {
 public:
  using table_type = typename Index::table_type;
  using index = block_table::index;

  static constexpr bool truncates = true;
  static constexpr bool aligns = true;
  // Sizes uniform in their logarithm need 10 percent with low addresses and 21 without.
  static constexpr std::size_t spare_percent = LowAddresses ? 10 : 40;

  static constexpr std::size_t region_for(std::size_t bytes) { return bytes; }

  explicit segregated_policy(policy_options options) : tiles_(options), free_(options) {}

  void add_region(extent region) { free_.insert(table(), tiles_.add(region)); }

  std::size_t free_at_end(address base) const { return tiles_.free_at_end(base); }
  void extend_region(address base, std::size_t bytes) {
    const index made = tiles_.extend(base, bytes);
    table()[made].tag = free_.class_of(bytes);
    merge_and_insert(made);
  }

  bool region_is_free(address base) const { return tiles_.is_unused(base); }

  void remove_region(address base) {
    for (index which = tiles_.first_of(base); which != block_table::none;) {
      if (!table()[which].vacant) {
        which = table()[which].right;
      } else {
        fill(table()[which].range());
        which = tiles_.first_of(base);
      }
    }
    free_.remove(table(), tiles_.first_of(base));
    tiles_.remove(base);
  }

  bool make_room() { return table().make_room(); }

  void vacate(extent part) {
    const index hole = tiles_.containing(part.base);
    free_.remove(table(), hole);
    const index which = tiles_.isolate(part, [&](index rest) { free_.insert(table(), rest); });
    table()[which].free = false;
    table()[which].vacant = true;
    table().tell_neighbours(which, false);
  }

  void fill(extent part) {
    const index which = tiles_.isolate(part, [](index) {});
    table()[which].free = true;
    table()[which].vacant = false;
    table()[which].tag = free_.class_of(part.bytes);
    merge_and_insert(which);
  }

  template <class Visitor>
  void for_each_unused(Visitor&& visit) const {
    tiles_.for_each_tile([&](const auto& b) {
      if (b.free || b.vacant) visit(b.range(), b.vacant);
    });
  }

  extent allocate(std::size_t bytes, std::size_t alignment, effort how) {
    const index which = place(bytes, alignment, how);
    if (which == block_table::none) return {};
    table().hand_out(which);
    return table()[which].range();
  }

  std::size_t deallocate(address base) { return release(table().take_back(base)); }

  /// A block and its handle: the block is freed by that and not by its address, which saves the
  /// hash table. An empty extent when out of memory.
  struct handed_out {
    extent range;
    block_table::handle handle;
  };
  handed_out allocate_by_handle(std::size_t bytes, std::size_t alignment, effort how) {
    const index which = place(bytes, alignment, how);
    return which != block_table::none ? by_handle(which, table()[which].bytes) : handed_out{};
  }

  /// The same in steps, for a caller that wants the first ones without the registers of the last:
  /// what a request needs that is aligned to the granule, a block that fits it exactly, any other.
  struct needs {
    std::size_t bytes;
    std::uint16_t size_class;
  };
  std::size_t granule() const { return tiles_.granule(); }
  needs needs_of(std::size_t bytes) const {
    const std::size_t size = tiles_.round(bytes);
    return {size, free_.class_of(size)};
  }
  handed_out allocate_exact(needs wanted) {
    // A hint for the compiler, which then takes only "no block" for 0 bytes.
    if (wanted.bytes == 0) __builtin_unreachable();
    const index which = free_.take_exact(table(), wanted.bytes, wanted.size_class);
    if (which == block_table::none) return {};
    expect_merged(which);
    table().tell_neighbours(which, false);
    bytes_in_use_ += wanted.bytes;
    return by_handle(which, wanted.bytes);
  }
  handed_out allocate_other(needs wanted, effort how) {
    if (!table().make_room()) return {};
    const index hole = free_.find_other(table(), wanted.bytes, wanted.size_class, how,
                                        [&] { return is_small(wanted.bytes); });
    if (hole == block_table::none) return {};
    expect_merged(hole);
    return by_handle(take_front(hole, wanted.bytes, wanted.size_class), wanted.bytes);
  }

  /// Returns the block's size; 0, with nothing changed, if the handle is not of a live block.
  std::size_t deallocate(block_table::handle handle) { return release(table().take_back(handle)); }

  /// The same in steps, for a caller that wants the usual ones without the registers of the rarest:
  /// takes the block back (none: the handle is not of a live block) and puts it among the free
  /// ones.
  index take_back(block_table::handle handle) {
    const index which = table().take_back(handle);
    if (which != block_table::none) bytes_in_use_ -= table()[which].bytes;
    return which;
  }
  bool lies_between_holes(index which) const {
    return tiles_.table[which].left.is_free() && tiles_.table[which].right.is_free();
  }
  void put_back(index which) { merge_and_insert(which); }
  /// \pre the block lies between holes
  void put_between_holes(index which) { join(which, table()[which].left, table()[which].right); }

  std::size_t truncate(address base, std::size_t bytes) {
    const index which = table().find(base);
    const std::size_t keep = tiles_.round(bytes);
    if (keep >= table()[which].bytes) return 0;
    const std::size_t taken = table()[which].bytes - keep;
    bytes_in_use_ -= taken;
    const index tail = table().split(which, keep);
    table()[which].tag = free_.class_of(keep);
    table()[tail].tag = free_.class_of(taken);
    merge_and_insert(tail);
    return taken;
  }

  extent block_at(address base) const { return tiles_.block_at(base); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    tiles_.for_each_block(visit);
  }

  std::optional<std::string> check() const {
    if (auto wrong = tiles_.check()) return wrong;
    if (auto wrong = tiles_.check_merged()) return wrong;
    if (auto wrong = tiles_.check_told()) return wrong;
    std::optional<std::string> wrong = free_.check(tiles_.table, tiles_.count_free());
    std::size_t in_use = 0;
    tiles_.for_each_tile([&](const auto& b) {
      if (b.free || b.vacant) return;
      in_use += b.bytes;
      if (b.tag != free_.class_of(b.bytes)) {
        wrong = "K1: the tag of the block at " + to_text(b.base) + " is not its class";
      }
    });
    if (in_use != bytes_in_use_) {
      wrong = "K2: " + std::to_string(in_use) + " bytes are in use, and " +
              std::to_string(bytes_in_use_) + " are counted";
    }
    return wrong;
  }

 private:
  table_type& table() { return tiles_.table; }

  // Whether a block of this size takes a larger hole for the sake of a low address; for the others,
  // the first hole that fits will do.
  bool is_small(std::size_t size) const {
    return LowAddresses && 4 * size * tiles_.table.used() < 3 * bytes_in_use_;
  }

  handed_out by_handle(index which, std::size_t size) {
    const block_table::handle handle = table().hand_out_by_handle(which);
    return {{table()[which].base, size}, handle};
  }

  // A hint for the compiler: the links of a hole name no free neighbour (C1), so they are just
  // their numbers.
  void expect_merged(index hole) {
    const auto& b = table()[hole];
    if (b.left.is_free() || b.right.is_free()) __builtin_unreachable();
  }

  // A block of this size that is in no list and still marked as free, or none.
  index place(std::size_t bytes, std::size_t alignment, effort how) {
    if (!table().make_room()) return block_table::none;
    const std::size_t size = tiles_.round(bytes);
    if (alignment > tiles_.granule()) return place_aligned(size, alignment, how);
    const std::uint16_t own = free_.class_of(size);
    const index exact = free_.take_exact(table(), size, own);
    if (exact != block_table::none) {
      expect_merged(exact);
      table().tell_neighbours(exact, false);
      bytes_in_use_ += size;
      return exact;
    }
    const index hole = free_.find_other(table(), size, own, how, [&] { return is_small(size); });
    if (hole == block_table::none) return hole;
    expect_merged(hole);
    return take_front(hole, size, own);
  }

  // Apart: few requests need it, and the others have fewer instructions without it.
  [[gnu::noinline]] index place_aligned(std::size_t size, std::size_t alignment, effort how) {
    // Any block of `slack` bytes more has room for an aligned one, wherever it starts.
    const std::size_t slack = alignment - tiles_.granule();
    const index hole = free_.find(table(), size + slack, how, [&] { return is_small(size); });
    if (hole == block_table::none) return hole;
    return take_front(align(hole, alignment), size, free_.class_of(size));
  }

  // The first `size` bytes of a hole, as a block that is in no list.
  index take_front(index hole, std::size_t size, std::uint16_t own) {
    bytes_in_use_ += size;
    if (table()[hole].bytes == size) {
      free_.remove(table(), hole);
      table().tell_neighbours(hole, false);
      table()[hole].tag = own;
      return hole;
    }
    const index which = table().cut_front(hole, size, own);
    free_.resized(table(), hole);
    return which;
  }

  // Puts a block that was taken back among the free ones; returns its size, 0 for none.
  std::size_t release(index which) {
    if (which == block_table::none) return 0;
    const std::size_t bytes = table()[which].bytes;
    // A hint for the compiler: no block is empty.
    if (bytes == 0) __builtin_unreachable();
    bytes_in_use_ -= bytes;
    merge_and_insert(which);
    return bytes;
  }

  // Cuts a hole at its first aligned address and returns the part from there on.
  index align(index which, std::size_t alignment) {
    const address base = table()[which].base;
    const std::size_t front = align_up(base, alignment) - base;
    if (front == 0) return which;
    const index rest = table().split(which, front);
    free_.resized(table(), which);
    free_.insert(table(), rest);
    return rest;
  }

  // Puts a free block that is in no list into the index, merged with its free neighbours: a
  // neighbour's record takes the block over where it is, and often stays in its list.
  void merge_and_insert(index which) {
    const block_table::neighbour left = table()[which].left;
    const block_table::neighbour right = table()[which].right;
    if (left.is_free()) {
      if (right.is_free()) return merge_both(which, left, right);
      table().absorb_right(left, which);
      free_.resized(table(), left);
    } else if (right.is_free()) {
      table().absorb_left(right, which);
      free_.resized(table(), right);
    } else {
      table().tell_neighbours(which, true);
      free_.insert_tagged(table(), which);
    }
  }

  // Apart: it needs the most registers and is the rarest.
  [[gnu::noinline]] void merge_both(index which, index left, index right) {
    join(which, left, right);
  }

  // The three are neighbours, and the two others are free.
  void join(index which, index left, index right) {
    free_.freed_between(table()[which].base);
    free_.remove(table(), right);
    table().absorb_right(which, right);
    table().absorb_right(left, which);
    free_.resized(table(), left);
  }

  tiled_regions_of<table_type> tiles_;
  Index free_;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace warpheap::host
