// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// R. Spliet, L. Howes, B. R. Gaster, A. L. Varbanescu: "KMA: A Dynamic Memory Manager for OpenCL",
/// GPGPU-7 (2014), DOI 10.1145/2588768.2576781. The lower of its two layers.
///
/// Algorithm:
/// - The heap is an array of superblocks of 4 KiB. Each is empty, or of a class: cut into blocks of
///   one power of two from 16 B to 4 KiB. Empty ones are in lock-free queues.
/// - malloc finds the superblock of its class by hash. A compare-exchange of that superblock's
///   state word reserves slots for all lanes of a warp that request the class together; each lane
///   then searches the bitmap for a free block.
/// - A lane that finds no superblock with a free slot there poisons the bucket and attaches one: a
///   partly used one of the class, or else an empty one. If another lane is already doing
///   so, or if no slot would be left for others, it takes slots of such a superblock without a
///   bucket.
/// - free clears the block's bit, then counts the slot in the state word. A superblock whose last
///   block is freed goes back into a queue, and one that was full becomes partly used.
///
/// Memory layout (s superblocks; 9 classes; k buckets per class; q queues):
///
///     [ moves ][ occupied queues: u64 ][ { head | tail } x q ][ links: u64 x s ]
///     [ { state: u64 {epoch:32 | mode:8 | class:8 | free slots:16}, bitmap: 8 x u32 } x s ]
///     [ partly used: 9 bitmap trees over s ]
///     [ buckets: u64 {epoch:32 | superblock + 1:32} x 16 x k ]
///     [ superblock 0 | superblock 1 | ... ]        4 KiB each, at multiples of that
///     superblock of class c:  [ block 0 | ... | block (256 >> c) - 1 ]
///
/// Invariants, while no lane allocates:
/// I1 the words of all bitmap trees fit (place: the word)
/// I2 the queues have the empty superblocks and no others, and those with more than the one that
///    they keep are marked as occupied; walked by one lane for 2^16 nodes at most (place: the
///    superblock)
/// I3 as many bits are set as slots are not free, none beyond the slots of the class (place: the
///    superblock)
/// I4 a superblock is full exactly if it has no free slot, empty if it has all; one that is partly
///    used is in the set of its class (place: the superblock)
/// I5 an attached superblock is in exactly one bucket, of its class and in its epoch; no bucket is
///    poisoned (place: the superblock, or the bucket)
/// I6 no superblock is on its way (place: 0)
///
/// Progress: lock-free, except for lanes that wait while others attach a superblock or move one;
/// see buckets.hpp. A lane that has lost to others a few times at a queue looks again from the
/// start, in place of repeating a step that it shares with thousands.
///
/// Steady load: each queue serves one lane at a time, by a compare-exchange that all lanes contend
/// for, so there are several. Near exhaustion few of them have superblocks, so all lanes meet
/// there: each look tries two of them, a few times. Every move of a superblock is announced in one
/// word, which every request that finds nothing reads. Requests that look again and again are most
/// of the load, so there is a bound of looks that lose (see buckets.hpp for those that are free),
/// and lanes that would take slots without a bucket announce nothing if they see none.
///
/// Null: at a moment of the call, no slot of the class was free and no superblock was empty, except
/// for those that the queues keep; superblocks.hpp explains why that is certain. Or, while others
/// keep freeing and allocating, a bounded number of looks was in vain: others took what the call
/// saw, it was out of date, or superblocks were on their way. It may then return null although
/// memory was free. Looks that lose do not count while half of the queues may have superblocks.
///
/// Deviations from the publication, as far as its abstract, the survey and its release tell:
/// - State words and bitmaps lie apart from the superblocks. Blocks are powers of two and aligned
///   to their size; in the release headers shorten them, and 128 bytes take 252.
/// - State and bucket carry an epoch, the state its class. A lane that is late can neither reserve
///   in a superblock's next life nor detach another one.
/// - A superblock that was full is attached again once a block of it is free. In the release one
///   live block keeps all of it from use.
/// - Lanes that find what is in a bucket used up replace it, in place of waiting for the one that
///   took the last slot to remove it.
/// - A bucket for each class and up to 32 multiprocessors, in place of one that all lanes of a
///   class meet at.
/// - Up to 64 queues, each of which keeps one superblock. A lane that would wait for its bucket
///   takes slots without one.
/// - A request looks a bounded number of times.
/// - Links of 32-bit index and tag; in the release the index wraps at 256 MiB.
/// - free writes nothing into the block, which may be its next owner's already.
/// - The upper layer, of arrays, lists and trees, is not part of this.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/kma/buckets.hpp"
#include "warpheap/managers/kma/geometry.hpp"
#include "warpheap/managers/kma/inspection.hpp"
#include "warpheap/managers/kma/publication.hpp"
#include "warpheap/managers/kma/state_words.hpp"
#include "warpheap/managers/kma/superblocks.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <kma_config Config = kma_config{}>
class kma {
 public:
  using options = no_options;
  using sizes = kma_sizes<Config>;

  static constexpr capabilities about{
      .name = "kma",
      .description = "superblocks found by hash, slots reserved in their state words",
      .folder = "kma",
      .published = kma_publication,
      .deviations =
          {"State words and bitmaps are apart from the blocks, which are powers of two.",
           "State words and buckets carry an epoch.",
           "A superblock that was full is used again once a block of it is free.",
           "Lanes replace a used-up superblock, or take slots without a bucket, and seldom wait.",
           "Multiprocessors have buckets of their own, up to 32; there are up to 64 queues.",
           "Links have 32-bit indices and tags.", "Freed blocks are not written to.",
           "The layer of data structures is not part of it."},
      .largest_block = Config.superblock_bytes,
  };

  kma(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    using store = kma_superblocks<Config>;
    const std::size_t most =
        std::clamp<std::size_t>(memory.bytes / Config.superblock_bytes, store::least, store::most);
    lay_out_most(memory, about.name, store::least, static_cast<std::uint32_t>(most),
                 [&](region_cursor& cursor, std::uint32_t count) {
                   superblocks_ =
                       store(cursor, count, store::queues_for(count, machine.multiprocessors));
                   buckets_ = kma_buckets<Config>(
                       cursor, kma_buckets<Config>::shards_for(count, machine.multiprocessors));
                   data_ = cursor.take<std::byte>(std::size_t{count} * Config.superblock_bytes,
                                                  std::min(Config.superblock_bytes, page_bytes));
                 });
  }

  WARPHEAP_HD std::uint32_t superblocks() const { return superblocks_.count(); }
  WARPHEAP_HD std::uint32_t shards() const { return buckets_.shards(); }
  WARPHEAP_HD std::size_t largest_block() const { return Config.superblock_bytes; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    superblocks_.format(rank, count);
    buckets_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint32_t c = sizes::class_for(bytes);
    for (;;) {
      // The group is formed again each time: lanes that got a slot have left.
      // No sync: a member's free has announced its superblock before, and the leader's last look is
      // a read-modify-write of that word, so it does not miss the announcement.
      const simt::group same = simt::coalesced(data_).match(c);
      std::uint64_t word = kma_grant{}.word();
      if (same.is_leader()) {
        word = buckets_
                   .reserve(superblocks_, c, static_cast<std::uint32_t>(same.size()), simt::sm_id())
                   .word();
      }
      same.sync();  // what the leader has acquired is the members' as well
      const kma_grant got = kma_grant::of(same.broadcast(word));
      if (!got) return nullptr;
      const auto rank = static_cast<std::uint32_t>(same.rank());
      if (rank >= got.count) continue;
      const std::uint32_t slot = superblocks_.locate(got.superblock, c, got.hint + rank);
      return block_at(got.superblock, slot * sizes::block_bytes(c));
    }
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const std::uint64_t offset = offset_of(block);
    if (is_outside(offset)) return;
    const auto superblock = static_cast<std::uint32_t>(offset / Config.superblock_bytes);
    const auto inside = static_cast<std::uint32_t>(offset % Config.superblock_bytes);
    const simt::group same = simt::coalesced(data_).match(superblock);
    const bool was_taken = superblocks_.clear(
        superblock, inside / sizes::block_bytes(superblocks_.class_of(superblock)));
    // A block that was free already is not counted again.
    const auto count = static_cast<std::uint32_t>(same.ballot(was_taken).count());
    same.sync();  // the members' bits are cleared before the leader counts them
    if (same.is_leader() && count != 0) superblocks_.count_free(superblock, count);
    // No lane searches for a block before the one that it freed can be found.
    same.sync();
  }

  /// 0 for a pointer outside the heap.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    const std::uint64_t offset = offset_of(block);
    if (is_outside(offset)) return 0;
    return sizes::block_bytes(
        superblocks_.class_of(static_cast<std::uint32_t>(offset / Config.superblock_bytes)));
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    kma_inspector<Config>(superblocks_, buckets_, findings).run(rank, count);
  }

 private:
  /// The least alignment of regions.
  static constexpr std::uint32_t page_bytes = 4096;

  WARPHEAP_DEVICE std::byte* block_at(std::uint32_t superblock, std::uint32_t inside) const {
    return data_ + std::size_t{superblock} * Config.superblock_bytes + inside;
  }
  WARPHEAP_DEVICE std::uint64_t offset_of(void* block) const {
    return static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_);
  }
  WARPHEAP_DEVICE bool is_outside(std::uint64_t offset) const {
    return offset >= std::uint64_t{superblocks_.count()} * Config.superblock_bytes;
  }

  kma_superblocks<Config> superblocks_;
  kma_buckets<Config> buckets_;
  std::byte* data_ = nullptr;
};

WARPHEAP_END_NAMESPACE
