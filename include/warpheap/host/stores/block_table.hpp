// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "warpheap/core/error.hpp"
#include "warpheap/host/extent.hpp"
#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/address_hash.hpp"
#include "warpheap/host/stores/block_names.hpp"
#include "warpheap/host/stores/growing_array.hpp"

namespace warpheap::host {

/// The boundary tags of an ordinary allocator, kept beside the memory instead of in it: one record
/// per block, free or handed out, with links to the blocks before and after it in the address
/// space, links for one list of free blocks, and a hash table from the address of each block handed
/// out to its record ("hash tables" of the host-based paper, section III-C).
///
/// Deviation from the paper: neighbours are linked by record number and not found by hashing an
/// address, so only blocks handed out are in the hash table, and a free costs one lookup, not four.
///
/// The table grows by linear hashing (W. Litwin, VLDB 1980): an insertion splits at most 16 chains,
/// so that no operation ever rehashes the table.
///
/// `Word` holds an address and a size. A table with words of 32 bits counts both in granules: its
/// records have 32 bytes instead of 40, and none lies across two cache lines.
///
/// Complexity: every function O(1) expected unless it says otherwise.
template <class Word>
class block_table_of : public block_names {
 public:
  /// Whether addresses and sizes are in granules and not in bytes.
  static constexpr bool in_granules = sizeof(Word) < sizeof(address);

  struct block {
    // Ordered so that fields which calls use together are neighbours: a record of 40 bytes may lie
    // across two cache lines, and a block freed by its handle needs its base only if it merges.
    index list_prev;  ///< while free: links of the list that the policy keeps it in
    index list_next;
    Word bytes;
    neighbour left;   ///< the block that ends at `base`, or none at the start of a region
    neighbour right;  ///< the block that starts where this one ends, or none at a region's end
    index chain;  ///< while used: the next record of its chain of the hash table, or its serial; 0
                  ///< in a record that no handle names
    std::uint16_t tag;  ///< the policy's own
    bool free;
    bool vacant;  ///< neither free nor handed out: addresses without memory
    Word base;

    address end() const { return address{base} + bytes; }
    extent range() const { return {base, bytes}; }
  };

  /// At most `max_blocks` blocks, free and used ones together.
  explicit block_table_of(policy_options options = {}, std::size_t max_blocks = most_blocks)
      : max_blocks_(std::min(max_blocks, most_blocks)), hash_(options.granule_bytes) {
    blocks_.extend(1);
    (*this)[none] = {};
    chains_.extend(initial_chains);
    std::fill_n(&chains_[0], initial_chains, none);
  }

  /// Ensures room for one request, whatever it must split, or for `count` blocks: that many can
  /// then be created without failing. False if the table is nearly full or the process is out of
  /// memory.
  bool make_room(std::size_t count = most_splits) {
    return blocks_.size() + count <= blocks_.capacity() || grow_blocks(count);
  }

  block& operator[](index which) { return blocks_.at_byte(word_bytes * which); }
  const block& operator[](index which) const { return blocks_.at_byte(word_bytes * which); }

  /// The record's number: 0 for none, and from 1 without gaps.
  static constexpr std::uint32_t number_of(index which) {
    // An exact division: a shift, and a product with the inverse modulo 2^32.
    constexpr int shift = std::countr_zero(words);
    constexpr std::uint32_t inverse = words >> shift == 1 ? 1 : 0xcccccccd;
    static_assert((words >> shift) * inverse == 1);
    return (which >> shift) * inverse;
  }

  /// A new free block that has no neighbours: the whole of a region.
  index add_region(extent region) {
    const index made = make(region.base, region.bytes);
    block& b = (*this)[made];
    b.left = none;
    b.right = none;
    return made;
  }

  /// Cuts the block at `size`: it keeps its first `size` bytes, and the rest becomes a free block
  /// right of it, which is returned. \pre `0 < size < bytes`
  index split(index which, std::size_t size) {
    const index rest = make((*this)[which].base + size, (*this)[which].bytes - size);
    block& front = (*this)[which];
    block& back = (*this)[rest];
    back.left = {which, front.free};
    back.right = front.right;
    (*this)[front.right].left = {rest, true};
    front.right = {rest, true};
    front.bytes = static_cast<Word>(size);
    return rest;
  }

  /// Cuts the first `size` bytes off a free block: they become a block left of it with this tag,
  /// which is returned and about to be handed out, so neighbours take it for used already. The
  /// record keeps the rest. \pre `0 < size < bytes`
  index cut_front(index which, std::size_t size, std::uint16_t tag = 0) {
    const index made = make((*this)[which].base, size, tag);
    block& front = (*this)[made];
    block& rest = (*this)[which];
    front.left = rest.left;
    front.right = {which, true};
    (*this)[rest.left].right = made;
    rest.left = made;
    rest.base += static_cast<Word>(size);
    rest.bytes -= static_cast<Word>(size);
    return made;
  }

  /// A new free block right of the last block of a region.
  index append(index last, std::size_t bytes) {
    const index made = make((*this)[last].end(), bytes);
    (*this)[made].left = {last, (*this)[last].free};
    (*this)[made].right = none;
    (*this)[last].right = {made, true};
    return made;
  }

  /// Merges the block's right neighbour into it and releases that record. \pre the neighbour is in
  /// no list; an index that holds the block must be told its new size
  void absorb_right(index which) { absorb_right(which, (*this)[which].right); }
  /// The same for a caller that knows the neighbour: no access to it waits for the block's record.
  void absorb_right(index which, index gone) {
    block& front = (*this)[which];
    front.bytes += (*this)[gone].bytes;
    front.right = (*this)[gone].right;
    (*this)[front.right].left = {which, true};
    forget(gone);
  }

  /// Merges the block's left neighbour into it and releases that record. \pre as for `absorb_right`
  void absorb_left(index which) { absorb_left(which, (*this)[which].left); }
  void absorb_left(index which, index gone) {
    block& rest = (*this)[which];
    rest.base = (*this)[gone].base;
    rest.bytes += (*this)[gone].bytes;
    rest.left = (*this)[gone].left;
    (*this)[rest.left].right = {which, true};
    forget(gone);
  }

  /// Releases the record of a block without neighbours: a region that is given back.
  void forget(index which) {
    (*this)[which].list_next = spare_;
    spare_ = which;
    --count_;
  }

  /// Tells both neighbours whether the block is free.
  void tell_neighbours(index which, bool is_free) {
    // Read before anything is written, so what a caller knows of them holds for both.
    const neighbour left = (*this)[which].left;
    const neighbour right = (*this)[which].right;
    (*this)[left].right = {which, is_free};
    (*this)[right].left = {which, is_free};
  }

  /// Marks a block as handed out: from now on, `find` finds it.
  void hand_out(index which) {
    if (used_ >= grow_at_) grow_chains();
    block& b = (*this)[which];
    b.free = false;
    index& head = chains_[chain_of(b.base)];
    b.chain = head;
    head = which;
    ++used_;
  }

  /// Takes back the block handed out at exactly `base`: marks it free and returns its record, or
  /// none if no block handed out starts there. Does not change its tag and links.
  index take_back(address base) {
    index* link = &chains_[chain_of(base)];
    for (index which = *link; which != none; which = *link) {
      block& b = (*this)[which];
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

  /// The same without an entry in the hash table: only the handle leads to the block.
  handle hand_out_by_handle(index which) {
    block& b = (*this)[which];
    b.free = false;
    const auto serial = static_cast<std::uint32_t>(next_serial_);
    b.chain = serial;
    next_serial_ += 2;
    ++used_;
    return {number_of(which), serial};
  }

  /// Takes back the block of a handle; returns none if it is not handed out.
  index take_back(handle of) {
    if (of.record >= blocks_.size() || of.serial == 0) return none;
    const index which = of.record * words;
    block& b = (*this)[which];
    if (b.chain != of.serial) return none;
    // A hint for the compiler: record 0 has no serial.
    if (which == none) __builtin_unreachable();
    b.free = true;
    b.chain = 0;
    --used_;
    return which;
  }

  /// The block handed out at exactly `base`, or none.
  index find(address base) const {
    index which = chains_[chain_of(base)];
    while (which != none && (*this)[which].base != base) which = (*this)[which].chain;
    return which;
  }

  std::size_t used() const { return used_; }
  std::size_t size() const { return count_; }

  /// Checks the links around the blocks from `first` to the end of its region:
  /// T1 they tile the region, T2 links agree in both directions, T3 each used one is found by its
  /// address unless blocks are known by handles, a vacant one is not found, and no handle names a
  /// free one. Returns the first violation. O(blocks)
  std::optional<std::string> check_region(index first, extent region, index left = none) const {
    address expected = region.base;
    for (index which = first; which != none; which = (*this)[which].right) {
      const block& b = (*this)[which];
      if (b.base != expected || b.bytes == 0) return "T1: a gap or overlap at " + to_text(b.base);
      if (b.left != left) return "T2: the left link at " + to_text(b.base) + " is wrong";
      const bool hashed = find(b.base) == which;
      const bool has_handles = next_serial_ != first_serial;
      if (!b.free && hashed == b.vacant && (b.vacant || !has_handles)) {
        return "T3: the block at " + to_text(b.base) + " is found though vacant, or used and not";
      }
      if (b.free && b.chain != 0 && has_handles) {
        return "T3: the free block at " + to_text(b.base) + " has a handle";
      }
      expected = b.end();
      left = which;
    }
    if (expected != region.end()) return "T1: the blocks end at " + to_text(expected);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t word_bytes = 8;
  static constexpr index words = sizeof(block) / word_bytes;
  static_assert(sizeof(block) % word_bytes == 0);
  // The largest number of records that an index can address.
  static constexpr std::size_t most_blocks = (~index{0} >> 1) / words;
  // Odd, so all later ones are odd too, and none is 0, which stands for a free block.
  static constexpr std::uint64_t first_serial = 1;
  static constexpr std::size_t initial_chains = 64;
  // Chains that are split together: those in a cache line.
  static constexpr std::size_t split_chains = 16;
  static_assert(initial_chains % split_chains == 0);
  static constexpr std::size_t most_splits = 64;

  // Spare records make the table larger than the count of blocks; they are used before others. No
  // caller asks here while the array has room, so it never has more than the maximum and record 0.
  [[gnu::noinline]] bool grow_blocks(std::size_t count) {
    if (count_ + count > max_blocks_) return false;
    return spares() >= count || blocks_.reserve(count_ + count + 1, max_blocks_ + 1);
  }

  std::size_t spares() const { return blocks_.size() - 1 - count_; }

  index make(address base, std::size_t bytes, std::uint16_t tag = 0) {
    index made = spare_;
    if (made != none) {
      spare_ = (*this)[made].list_next;
    } else {
      made = static_cast<index>(blocks_.size()) * words;
      blocks_.extend();
    }
    block& b = (*this)[made];
    b.base = static_cast<Word>(base);
    b.bytes = static_cast<Word>(bytes);
    b.chain = 0;
    b.tag = tag;
    b.free = true;
    b.vacant = false;
    ++count_;
    return made;
  }

  std::size_t chain_of(address base) const {
    const std::size_t chain = hash_(base) & mask_;
    if (chains_.size() > mask_) [[likely]]
      return chain;
    // No branch: half of the chains are split on average, and processors cannot predict which.
    const std::size_t all_if_split = -static_cast<std::size_t>(chain < chains_.size());
    return chain & (all_if_split | mask_ >> 1);
  }

  // A table of this many chains doubles once more blocks than this are handed out.
  static constexpr std::size_t most_used(std::size_t chains) { return chains / 4 * 3; }

  // Keeps 4/3 to 8/3 chains per used block, unless the process is out of memory. A table that has
  // begun to double continues with every block that is handed out, so it is seldom half split;
  // otherwise, no address needs a check of which half it is in. A new chain takes over about half
  // of the blocks of the chain that it is split from.
  [[gnu::noinline]] void grow_chains() {
    const std::size_t first = chains_.size();
    if (first + split_chains > chains_.capacity() && !chains_.reserve(first + split_chains)) return;
    if (first > mask_) mask_ = 2 * mask_ + 1;
    chains_.extend(split_chains);
    const std::size_t half = mask_ - (mask_ >> 1);
    index* const heads = &chains_[first - half];
    for (std::size_t n = 0; n != split_chains; ++n) __builtin_prefetch(&(*this)[heads[n]]);
    std::fill_n(heads + half, split_chains, none);
    for (std::size_t n = 0; n != split_chains; ++n) {
      for (index which = std::exchange(heads[n], none); which != none;) {
        block& b = (*this)[which];
        const index next = b.chain;
        // No branch: which half of the table a block is in is beyond what a processor predicts.
        index& head = heads[n + (hash_(b.base) & half)];
        b.chain = head;
        head = which;
        which = next;
      }
    }
    grow_at_ = chains_.size() > mask_ ? most_used(chains_.size()) : 0;
  }

  std::size_t max_blocks_;
  address_hash hash_;
  growing_array<block> blocks_;
  growing_array<index> chains_;
  std::size_t mask_ = initial_chains - 1;
  std::size_t grow_at_ = most_used(initial_chains);
  std::size_t used_ = 0;
  std::size_t count_ = 0;
  std::uint64_t next_serial_ = first_serial;
  index spare_ = none;
};

/// For addresses and bytes, as pools need it.
using block_table = block_table_of<std::size_t>;
/// For granules, less than 2^32 of them: for blocks that are known by offsets in one range.
using granule_table = block_table_of<std::uint32_t>;

static_assert(sizeof(granule_table::block) == 32 && sizeof(block_table::block) == 40);

}  // namespace warpheap::host
