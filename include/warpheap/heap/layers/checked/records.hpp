// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/hash.hpp"
#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked/guards.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

/// What is known of the block whose footprint begins in a granule. Lies apart from the blocks, and
/// is sealed: nothing in it is believed unless the seal fits its place.
///
/// A block of three granules or more has a second record, in the last granule but one, where no
/// other block can begin: its extent is a link, which says in how many granules before this one the
/// block begins. A look from above finds a large block by it. A link may outlive its block,
/// so it counts only if the block that it names is still there and has its link here.
struct block_record {
  /// { bytes: 44 | seal: 14 | flags: 4 | where in the granule, in 16 B: 2 }; of a link { 1: 1 |
  /// granules: 43 | seal: 14 | 0: 6 }. 0: no block has begun here yet.
  std::uint64_t extent;
  std::uint64_t allocated;
  /// `caller::nobody` as long as the block lives.
  std::uint64_t freed;
};

/// A block as its record has it.
struct known_block {
  block_record* record = nullptr;
  std::byte* block = nullptr;
  std::size_t bytes = 0;
  std::uint64_t extent = 0;

  WARPHEAP_DEVICE explicit operator bool() const { return block != nullptr; }
  WARPHEAP_DEVICE std::byte* front() const { return block - front_bytes; }
  WARPHEAP_DEVICE std::byte* end() const { return front() + footprint(bytes); }
  WARPHEAP_DEVICE caller allocated() const {
    return {simt::atomic_ref(record->allocated).load(simt::order::relaxed)};
  }
  WARPHEAP_DEVICE caller freed() const {
    return {simt::atomic_ref(record->freed).load(simt::order::relaxed)};
  }
};

WARPHEAP_DEVICE inline std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// An incident that may concern a block.
WARPHEAP_DEVICE inline incident about_block(incident::kind what, const known_block& of,
                                            const void* where, caller by) {
  incident found{what, address(where)};
  found.noticed = by;
  if (of) {
    found.block = address(of.block);
    found.bytes = of.bytes;
    found.allocated = of.allocated();
  }
  return found;
}

/// The records of all blocks in a range of memory: one for each 64 bytes.
class block_table {
 public:
  static constexpr std::size_t granule = 64;
  static_assert(footprint(1) >= granule, "two blocks could begin in one granule");

  // Flags of an extent. A gap, or a write after the free, is reported once.
  static constexpr std::uint64_t behind_reported = 4;
  static constexpr std::uint64_t before_reported = 8;
  static constexpr std::uint64_t late_write_reported = 16;
  /// The manager has the memory again.
  static constexpr std::uint64_t retired = 32;
  static constexpr std::uint64_t flags =
      behind_reported | before_reported | late_write_reported | retired;

  block_table() = default;
  block_table(block_record* records, std::byte* base, std::size_t bytes)
      : records_(records), base_(base), granules_(bytes / granule) {}

  WARPHEAP_HD std::uint64_t size() const { return granules_; }
  WARPHEAP_HD const block_record* records() const { return records_; }
  WARPHEAP_HD const std::byte* base() const { return base_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < granules_; i += count) {
      records_[i] = {0, caller::nobody, caller::nobody};
    }
  }

  /// A block now lives. \pre its footprint is the caller's
  WARPHEAP_DEVICE void add(const std::byte* block, std::size_t bytes, caller by) const {
    const auto offset = static_cast<std::uint64_t>(block - front_bytes - base_);
    const std::uint64_t index = offset / granule;
    block_record& mine = records_[index];
    simt::atomic_ref(mine.allocated).store(by.word, simt::order::relaxed);
    simt::atomic_ref(mine.freed).store(caller::nobody, simt::order::relaxed);
    // Release pairs with the acquire in `look`: a lane that frees sees who has allocated.
    simt::atomic_ref(mine.extent)
        .store(extent_of(index, offset % granule / 16, bytes), simt::order::release);
    const std::uint64_t link = link_of(offset, bytes);
    if (link <= index) return;
    // Release pairs with the acquire in `follow`: a lane that sees the link sees the block.
    simt::atomic_ref(records_[link].extent)
        .store(extent_of(link, 0, is_link | (link - index)), simt::order::release);
  }

  /// The block that starts at `pointer`, live or freed; none if no block was ever there.
  /// \param damaged set if there is a record, and it cannot be believed
  WARPHEAP_DEVICE known_block at(const std::byte* pointer, bool& damaged) const {
    if (pointer < base_ + front_bytes || pointer >= base_ + granules_ * granule) return {};
    const std::uint64_t index = index_of(pointer - front_bytes);
    const known_block found = look(index, damaged);
    return found.block == pointer ? found : known_block{};
  }

  /// Claims the freeing of a block. Returns true if it was live; otherwise `first` is set to the
  /// caller that freed it.
  WARPHEAP_DEVICE static bool claim(const known_block& of, caller by, caller& first) {
    // Acquire: what the owner of the record's last life did is over.
    return simt::atomic_ref(of.record->freed)
        .compare_exchange(first.word = caller::nobody, by.word, simt::order::acq_rel);
  }

  WARPHEAP_DEVICE static bool is_live(const known_block& of) { return !of.freed().known(); }

  /// The block's memory goes back to the manager.
  WARPHEAP_DEVICE static void retire(const known_block& of) {
    // Release pairs with the acquire in `look`: a lane that sees this sees what was examined.
    simt::atomic_ref(of.record->extent).fetch_or(retired, simt::order::release);
  }

  /// Sets a flag. Returns the extent as it was before.
  WARPHEAP_DEVICE static std::uint64_t set(const known_block& of, std::uint64_t flag) {
    // Relaxed: it says only that there is an incident.
    return simt::atomic_ref(of.record->extent).fetch_or(flag, simt::order::relaxed);
  }

  /// The same block with its flags of now. \pre it is present
  WARPHEAP_DEVICE known_block again(const known_block& of) const {
    known_block same = of;
    same.extent = simt::atomic_ref(of.record->extent).load(simt::order::acquire);
    return same;
  }

  /// Whether a block is still the one that was found, with its guards in place. A
  /// read-modify-write: a load might return the extent of a block whose place another one has taken
  /// since.
  WARPHEAP_DEVICE static bool is_present(const known_block& of) {
    const std::uint64_t now = simt::atomic_ref(of.record->extent).fetch_or(0, simt::order::acq_rel);
    return ((now ^ of.extent) & ~(flags & ~retired)) == 0;
  }

  /// The last block that is not retired and whose footprint begins before `place`, or at it, in the
  /// `most` granules before that one. O(most).
  WARPHEAP_DEVICE known_block at_or_before(const std::byte* place,
                                           std::uint64_t most = SIZE_MAX) const {
    bool damaged = false;
    const std::uint64_t last = index_of(place);
    for (std::uint64_t back = 0; back <= last && back <= most; ++back) {
      const known_block found = look(last - back, damaged);
      if (found && found.front() <= place && (found.extent & retired) == 0) return found;
      if (const known_block linked = follow(last - back)) return linked;
    }
    return {};
  }

  /// The first such block whose footprint begins at `place` or in the 4 KiB behind it.
  WARPHEAP_DEVICE known_block from(const std::byte* place) const {
    bool damaged = false;
    const std::uint64_t first = index_of(place);
    for (std::uint64_t i = first; i < granules_ && i <= first + 64; ++i) {
      const known_block found = look(i, damaged);
      if (found && found.front() >= place && (found.extent & retired) == 0) return found;
    }
    return {};
  }

  /// The block of a granule, if one begins there.
  WARPHEAP_DEVICE known_block look(std::uint64_t index, bool& damaged) const {
    if (index >= granules_) return {};
    block_record& record = records_[index];
    const std::uint64_t extent = simt::atomic_ref(record.extent).load(simt::order::acquire);
    if (extent == 0) return {};
    if (!is_sealed(index, extent)) {
      damaged |= link_distance(index, extent) == 0;
      return {};
    }
    return {&record, base_ + block_offset(index, extent), bytes_of(extent), extent};
  }

  /// Whether a record that cannot be believed has not been looked at before. \pre no lane allocates
  WARPHEAP_DEVICE bool is_news(std::uint64_t index) const {
    if (records_[index].extent == known_damage) return false;
    records_[index].extent = known_damage;
    return true;
  }

  // For the host, too, which reads copies of records.

  WARPHEAP_HD static std::size_t bytes_of(std::uint64_t extent) { return extent >> 20; }
  WARPHEAP_HD static std::uint64_t block_offset(std::uint64_t index, std::uint64_t extent) {
    return index * granule + (extent & 3) * 16 + front_bytes;
  }
  /// Whether an extent is one that `add` has written in this place, and lies within the range.
  WARPHEAP_HD bool is_sealed(std::uint64_t index, std::uint64_t extent) const {
    const std::size_t bytes = bytes_of(extent);
    return bytes != 0 && (extent & ~flags) == extent_of(index, extent & 3, bytes) &&
           block_offset(index, extent) - front_bytes + footprint(bytes) <= granules_ * granule;
  }

 private:
  WARPHEAP_HD static std::uint64_t extent_of(std::uint64_t index, std::uint64_t place,
                                             std::size_t bytes) {
    const std::uint64_t seal = mix64(mix64(index * 4 + place + 1) ^ bytes) >> 50;
    return std::uint64_t{bytes} << 20 | seal << 6 | place;
  }
  /// The granule of the link of a block whose footprint begins at `offset`, if it lies behind the
  /// one in which the block begins.
  WARPHEAP_HD static std::uint64_t link_of(std::uint64_t offset, std::size_t bytes) {
    return (offset + footprint(bytes) - 1) / granule - 1;
  }
  /// In how many granules before this one its link says that a block begins; 0 if it is not one.
  WARPHEAP_HD static std::uint64_t link_distance(std::uint64_t index, std::uint64_t extent) {
    const std::uint64_t word = bytes_of(extent);
    const std::uint64_t distance = word & ~is_link;
    const bool valid = (word & is_link) != 0 && distance <= index;
    return valid && extent == extent_of(index, 0, word) ? distance : 0;
  }
  /// The block whose link a granule has, if it is not retired.
  WARPHEAP_DEVICE known_block follow(std::uint64_t index) const {
    // Acquire pairs with the release in `add`, of the link.
    const std::uint64_t distance =
        link_distance(index, simt::atomic_ref(records_[index].extent).load(simt::order::acquire));
    if (distance == 0) return {};
    bool damaged = false;
    const known_block found = look(index - distance, damaged);
    const bool is_here =
        found && (found.extent & retired) == 0 &&
        link_of(static_cast<std::uint64_t>(found.front() - base_), found.bytes) == index;
    return is_here ? found : known_block{};
  }
  WARPHEAP_DEVICE std::uint64_t index_of(const std::byte* place) const {
    return static_cast<std::uint64_t>(place - base_) / granule;
  }

  /// In the place of a number of bytes, which is never that large.
  static constexpr std::uint64_t is_link = std::uint64_t{1} << 43;
  /// No block is this large, so it is never sealed.
  static constexpr std::uint64_t known_damage = ~std::uint64_t{0};

  block_record* records_ = nullptr;
  std::byte* base_ = nullptr;
  std::uint64_t granules_ = 0;
};

}  // namespace checking
WARPHEAP_END_NAMESPACE
