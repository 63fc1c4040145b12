// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "warpheap/core/error.hpp"
#include "warpheap/host/extent.hpp"
#include "warpheap/host/stores/growing_array.hpp"

namespace warpheap::host {

/// The boundary tags of an ordinary allocator, kept beside the memory instead of in it: one record
/// for each block, free or handed out, with links to the blocks before and after it in the address
/// space, links for one list of free blocks, and a hash table from the address of every block
/// handed out to its record ("hash tables" of the host-based paper, section III-C).
///
/// Deviation from the paper: neighbours are linked by record number and not found by hashing an
/// address, so that only blocks handed out are in the hash table and a free costs one lookup, not
/// four.
///
/// The table grows by linear hashing (W. Litwin, VLDB 1980): each insertion splits at most two
/// chains, so that no operation ever rehashes the table.
///
/// Complexity: every function O(1) expected unless it says otherwise.
class block_table {
 public:
  using index = std::uint32_t;

  /// Names a block that was handed out without an entry in the hash table. Once the block has come
  /// back its handle is refused, also when its record is in use again.
  struct handle {
    index record = 0;
    std::uint32_t serial = 0;  ///< 0: not a block
    friend constexpr bool operator==(handle, handle) = default;
  };

  /// Record 0 stands for "no block". Its links may be written and are never read.
  static constexpr index none = 0;

  struct block {
    address base;
    std::size_t bytes;
    index left;   ///< the block that ends at `base`, or none at the start of a region
    index right;  ///< the block that starts at the end of this one, or none at the end of a region
    index list_prev;  ///< while free: links of the list that the policy keeps it in
    index list_next;
    index chain;  ///< while used: the next record of its chain of the hash table, or its serial
    std::uint16_t tag;  ///< the policy's own
    bool free;
    bool vacant;  ///< neither free nor handed out: addresses without memory

    address end() const { return base + bytes; }
    extent range() const { return {base, bytes}; }
  };

  /// At most `max_blocks` blocks, free and used ones together.
  explicit block_table(std::size_t max_blocks = default_max_blocks) : max_blocks_(max_blocks) {
    blocks_.extend(1);
    blocks_[none] = {};
    chains_.extend(initial_chains);
    std::fill_n(&chains_[0], initial_chains, none);
  }

  /// Makes room for one request, whatever it must split, or for `count` blocks: afterwards that
  /// many can be made without a failure. False if the table is nearly full or the process has no
  /// memory for it.
  bool make_room(std::size_t count = most_splits) {
    return blocks_.size() + count <= blocks_.capacity() || grow_blocks(count);
  }

  block& operator[](index which) { return blocks_[which]; }
  const block& operator[](index which) const { return blocks_[which]; }

  /// A new free block that has no neighbours: the whole of a region.
  index add_region(extent region) {
    const index made = make(region.base, region.bytes);
    block& b = blocks_[made];
    b.left = none;
    b.right = none;
    return made;
  }

  /// Cuts the block at `size`: it keeps its first `size` bytes, and the rest becomes a free block
  /// right of it, which is returned. \pre `0 < size < bytes`
  index split(index which, std::size_t size) {
    const index rest = make(blocks_[which].base + size, blocks_[which].bytes - size);
    block& front = blocks_[which];
    block& back = blocks_[rest];
    back.left = which;
    back.right = front.right;
    blocks_[front.right].left = rest;
    front.right = rest;
    front.bytes = size;
    return rest;
  }

  /// Cuts the first `size` bytes off the block: they become a free block left of it, which is
  /// returned, and the record goes on with the rest. \pre `0 < size < bytes`
  index cut_front(index which, std::size_t size) {
    const index made = make(blocks_[which].base, size);
    block& front = blocks_[made];
    block& rest = blocks_[which];
    front.left = rest.left;
    front.right = which;
    blocks_[rest.left].right = made;
    rest.left = made;
    rest.base += size;
    rest.bytes -= size;
    return made;
  }

  /// A new free block right of the last block of a region.
  index append(index last, std::size_t bytes) {
    const index made = make(blocks_[last].end(), bytes);
    blocks_[made].left = last;
    blocks_[made].right = none;
    blocks_[last].right = made;
    return made;
  }

  /// Joins the block's right neighbour to it and forgets that record. \pre the neighbour is in no
  /// list; an index that holds the block must be told of its new size
  void absorb_right(index which) {
    block& front = blocks_[which];
    const index gone = front.right;
    front.bytes += blocks_[gone].bytes;
    front.right = blocks_[gone].right;
    blocks_[front.right].left = which;
    forget(gone);
  }

  /// Joins the block's left neighbour to it and forgets that record. \pre as of `absorb_right`
  void absorb_left(index which) {
    block& rest = blocks_[which];
    const index gone = rest.left;
    rest.base = blocks_[gone].base;
    rest.bytes += blocks_[gone].bytes;
    rest.left = blocks_[gone].left;
    blocks_[rest.left].right = which;
    forget(gone);
  }

  /// Forgets a block without neighbours: a region that is given back.
  void forget(index which) {
    blocks_[which].chain = spare_;
    spare_ = which;
    --count_;
  }

  /// Marks a block as handed out: from now on `find` knows it.
  void hand_out(index which) {
    if (chains_.size() <= 2 * used_) grow_chains();
    block& b = blocks_[which];
    b.free = false;
    index& head = chains_[chain_of(b.base)];
    b.chain = head;
    head = which;
    ++used_;
  }

  /// Takes the block handed out at exactly `base` back: marks it free and returns its record, or
  /// none if no block handed out starts there. Its tag and links are untouched.
  index take_back(address base) {
    index* link = &chains_[chain_of(base)];
    for (index which = *link; which != none; which = *link) {
      block& b = blocks_[which];
      if (b.base == base) {
        *link = b.chain;
        b.free = true;
        --used_;
        return which;
      }
      link = &b.chain;
    }
    return none;
  }

  /// The same without an entry in the hash table: only the handle knows the block.
  handle hand_out_by_handle(index which) {
    block& b = blocks_[which];
    b.free = false;
    // Never 0, which an edge has.
    serial_ += 1 + (serial_ == ~std::uint32_t{0});
    b.chain = serial_;
    ++used_;
    ++by_handle_;
    return {which, serial_};
  }

  /// Takes the block of a handle back; none if it is not handed out.
  index take_back(handle of) {
    if (of.record >= blocks_.size() || of.serial == 0) return none;
    block& b = blocks_[of.record];
    if (b.chain != of.serial || b.free) return none;
    b.free = true;
    b.chain = 0;
    --used_;
    --by_handle_;
    return of.record;
  }

  /// The block handed out at exactly `base`, or none.
  index find(address base) const {
    index which = chains_[chain_of(base)];
    while (which != none && blocks_[which].base != base) which = blocks_[which].chain;
    return which;
  }

  std::size_t used() const { return used_; }
  std::size_t size() const { return count_; }

  /// Checks the links around the blocks from `first` to the end of its region:
  /// T1 they tile the region, T2 links agree in both directions, T3 each used one is found by its
  /// address unless blocks are known by handles, and a vacant one is not found. Returns the first
  /// violation. O(blocks)
  std::optional<std::string> check_region(index first, extent region, index left = none) const {
    address expected = region.base;
    for (index which = first; which != none; which = blocks_[which].right) {
      const block& b = blocks_[which];
      if (b.base != expected || b.bytes == 0) return "T1: a gap or overlap at " + to_text(b.base);
      if (b.left != left) return "T2: the left link at " + to_text(b.base) + " is wrong";
      const bool hashed = find(b.base) == which;
      if (!b.free && hashed == b.vacant && (b.vacant || by_handle_ == 0)) {
        return "T3: the block at " + to_text(b.base) + " is found though vacant, or used and not";
      }
      expected = b.end();
      left = which;
    }
    if (expected != region.end()) return "T1: the blocks end at " + to_text(expected);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t default_max_blocks = std::size_t{1} << 31;
  static constexpr std::size_t initial_chains = 64;
  static constexpr std::size_t most_splits = 64;

  // Spare records make the table larger than the count of blocks; they are used before others.
  [[gnu::noinline]] bool grow_blocks(std::size_t count) {
    if (count_ + count > max_blocks_) return false;
    return spares() >= count || blocks_.reserve(blocks_.size() + count);
  }

  std::size_t spares() const { return blocks_.size() - 1 - count_; }

  index make(address base, std::size_t bytes) {
    index made = spare_;
    if (made != none) {
      spare_ = blocks_[made].chain;
    } else {
      made = static_cast<index>(blocks_.size());
      blocks_.extend();
    }
    block& b = blocks_[made];
    b.base = base;
    b.bytes = bytes;
    b.chain = 0;
    b.tag = 0;
    b.free = true;
    b.vacant = false;
    ++count_;
    return made;
  }

  // The middle of a product: each of its bits depends on every lower bit of the address.
  static std::size_t hash(address base) {
    return static_cast<std::size_t>((base * 0x9e3779b97f4a7c15ull) >> 32);
  }

  std::size_t chain_of(address base) const {
    const std::size_t word = hash(base);
    const bool is_split = (word & mask_) < chains_.size();
    // No branch: half of the chains are split on average, and no processor predicts which.
    return word & (mask_ >> !is_split);
  }

  // Keeps at least two chains for each used block, unless the process has no memory for them. One
  // more chain takes over about half of the blocks of the chain that it is split from.
  [[gnu::noinline]] void grow_chains() {
    for (int step = 0; step < 2; ++step) {
      if (chains_.size() == chains_.capacity() && !chains_.reserve(chains_.size() + 1)) return;
      const std::size_t made = chains_.size();
      if (made > mask_) mask_ = 2 * mask_ + 1;
      chains_.extend() = none;
      index* link = &chains_[made & (mask_ >> 1)];
      for (index which = *link; which != none;) {
        const index next = blocks_[which].chain;
        if ((hash(blocks_[which].base) & mask_) == made) {
          *link = next;
          blocks_[which].chain = chains_[made];
          chains_[made] = which;
        } else {
          link = &blocks_[which].chain;
        }
        which = next;
      }
    }
  }

  std::size_t max_blocks_;
  growing_array<block> blocks_;
  growing_array<index> chains_;
  std::size_t mask_ = initial_chains - 1;
  std::size_t used_ = 0;
  std::size_t count_ = 0;
  std::size_t by_handle_ = 0;
  std::uint32_t serial_ = 0;
  index spare_ = none;
};

}  // namespace warpheap::host
