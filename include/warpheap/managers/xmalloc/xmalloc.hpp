// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// XMalloc: X. Huang, C. I. Rodrigues, S. Jones, I. Buck, W. Hwu, "XMalloc: A Scalable Lock-free
/// Dynamic Memory Allocator for Many-core Machines", IEEE CIT 2010, 10.1109/CIT.2010.206.
///
/// Algorithm: the lanes of a warp that want small blocks ask for one, their parent, and share it.
/// Requests are rounded up to the size of a Basicblock, of one of five classes, and served from
/// FIFOs of free ones (the first level). If those of the class are empty, a Superblock with free
/// Basicblocks is taken from a FIFO of such (the second level), or split off the heap; some of its
/// Basicblocks fill a first-level FIFO. It has 32 Basicblocks, or fewer where no whole one fits,
/// but at least 4. Larger requests, like Superblocks, are Memoryblocks of the heap, whose zones
/// have a linked list each that is searched for a fit. A freed piece decrements its parent's count;
/// a freed Basicblock goes into a first-level FIFO or, if that is full, back to its Superblock; a
/// Memoryblock merges with its free neighbours of its zone.
///
/// Layout (defaults):
///
///     [ trims, moves | FIFOs: counts, ends, slots | lock, rings | ... a pair for each zone ]
///     [ what zones have: zones that begin, that end free: 2 u64 | largest: u8 each, 8 a word ]
///     [ no free one from so many units on, free units at the front, at the end: 3 u32 a zone ]
///     [ zone: Memoryblocks ... | zone ... | Superblocks of which callers have no block: how many ]
///     Memoryblock:  [ next: u32 | prev: u32 | state: u32 | word ] [ bytes ... ]   n x 64 B
///     Superblock:   a Memoryblock of [ {held:1, map:32}: u64 | class, lent, blocks: 3 u32 | 4 B ]
///                   [ Basicblock 0 | ... | Basicblock blocks - 1 ]          lent: to callers
///     Basicblock:   [ units back to the Superblock: u32 | word ] [ bytes ... ]  512 B << class
///     parent:       bytes of a block: [ live pieces: u32 | 8 B ] [ word | piece ] [ word | piece ]
///     word:         what the block behind it is (geometry.hpp)
///
/// Invariants, while no lane allocates (place):
/// I1 a FIFO counts its entries, and its room is the rest of its slots (FIFO);
/// I2 an entry of a first-level FIFO is a Basicblock of the class, without pieces, whose Superblock
///    does not have it (FIFO);
/// I3 an entry of a second-level FIFO is a Superblock of the class that is held (FIFO);
/// I4 a Superblock is held exactly if its map has blocks, all of its blocks are of its class and
///    know it, and what its map has is without pieces (unit);
/// I5 the second-level FIFOs have as many entries as Superblocks are held, the first-level ones as
///    many as there are blocks that are neither in a map nor lent, and the count of Superblocks of
///    which no block is lent is right (0);
/// I6 a parent in use has 1 to as many live pieces as it was made with (unit);
/// I7 Memoryblocks tile the heap; in a zone, neighbours agree and no two free ones touch; only a
///    block in use lies across a border (unit);
/// I8 a ring has each free Memoryblock of its zone and sizes once (unit);
/// I9 nothing is locked and nothing is being moved (0);
/// I10 what is said of a zone outside its list is true (zone).
///
/// Progress: FIFOs are waited for as bounded_queue.hpp says; Superblocks' words are lock-free; the
/// heap is blocking, behind locks of zones whose holders wait only for each other, or for a zone of
/// a higher number. A lane that finds no block starts over when others took what it saw, or while
/// as many groups of its class refill as may: each of those ends without waiting for it. It waits
/// for a trim's end: the lanes that trim wait for locks of zones alone, for FIFOs and for each
/// other. Members of a group wait for their leader, which is at one of these, or looks for them
/// whether another try is worth it; no leader waits for members of another group, except those that
/// hold a zone's lock with it, each of which only takes or frees a Memoryblock. What else may bring
/// memory, moves of blocks that others have begun and trims, is tried a bounded number of times: 16
/// looks, two trims after which callers have blocks of all Superblocks, or a thousand after which
/// they have none of many.
///
/// Steady load: a request that no FIFO serves looks at a few words, 16 times at most. It searches
/// the lists of zones that may have a Memoryblock as large, one lane of a zone after the other, and
/// gives up if none is left, or if it does not get a lock soon where memory is scarce. A trim, for
/// which all would wait, begins only if some Superblock has no block that callers hold. Lanes that
/// find a class being refilled look again after longer and longer pauses: a hundred thousand that
/// looked at the same few words delayed those that refilled. Most blocks of 1 to 32 KiB are
/// Memoryblocks. With one list for the whole heap, they came one after the other, and a launch took
/// 9.88 s; now it takes 1.62 s (docs/decisions/0055). Others: docs/decisions/0044 and 0046.
///
/// On a heap that an earlier fill has left in Superblocks of another class, what counts is how many
/// requests one turn at a lock serves, and one trim (docs/decisions/0044 and 0046). So a trim
/// returns an eighth of the heap, if callers have nothing of as much, but ends after 1024
/// Superblocks; all lanes of the group that begins it take part; a Superblock of fewer blocks takes
/// what has no room for a whole one; and lanes that call together take Memoryblocks out of one, and
/// free them as one where they lie in a row. In the survey's case `sequence`, blocks of 8 KiB come
/// after all smaller sizes: with one list, its longest launch took 3.2 s, and the median of that
/// size was 273 ms.
///
/// A lock hands out and takes back one or two million Memoryblocks a second, one group of lanes
/// after the other. So there are up to 64 zones, of 4 MiB or more, and groups that run at the same
/// time begin at different ones. Four rings of free Memoryblocks for each power of two in each zone
/// (free_rings.hpp) keep a search from walking past those that are too small.
///
/// Null: FIFOs of the class and all zones of the heap had nothing, and neither could a trim bring
/// anything, when the lane looked there in turn, and no refill or trim was under way; or other
/// lanes took what each of 16 trims had returned, or of a thousand where many Superblocks were
/// left. Not exact: memory that others take in one place and free in another meanwhile may be
/// missed, and so may a Memoryblock where memory is scarce and others hold locks of zones time
/// after time (memoryblocks.hpp); and so may a Superblock of which callers have no block, while a
/// block of another one comes back and is lent again.
///
/// Deviations from the paper, and why:
/// - requests are coalesced among the lanes that happen to call together, by shuffles; a team that
///   is too large for a Basicblock is halved. A lane alone, or whose team gets null, asks for
///   itself;
/// - the FIFOs are rings of tickets with counts: a group's operation costs three or four atomics
///   without a retry, where a compare-exchange on the ends serialises as the square of its callers.
///   They are not lock-free: a consumer waits for a producer that is between two steps;
/// - a Superblock's word says whether it is queued or owned (superblocks.hpp), so none is queued
///   twice, and memory can be returned safely;
/// - refills of a class at once are limited, to one for each multiprocessor: or every starving
///   lane splits a Superblock of its own;
/// - completely free Superblocks return to the heap by a trim, when a request finds no memory, and
///   not at once: they are in a FIFO, whose middle no lane can reach. Each counts the blocks that
///   callers have, so that a request knows whether a trim can bring anything;
/// - where no Superblock of 32 blocks fits, one of as many as fit is made: otherwise all requests
///   for its blocks would be served one by one behind locks;
/// - a request for which there is no Superblock gets a Memoryblock of its own size: heaps that are
///   smaller than a Superblock work, and the heap's last bytes are used;
/// - the list of Memoryblocks is divided into zones with a lock each, which lanes that call
/// together
///   take together; free memory on both sides of a border is joined for a request that no zone can
///   serve;
/// - free ones are linked in four rings for each power of two, so that a search does not walk past
///   all others.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/xmalloc/coalescing.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/inspection.hpp"
#include "warpheap/managers/xmalloc/publication.hpp"
#include "warpheap/managers/xmalloc/supply.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

using xmalloc_parts::xmalloc_config;

template <xmalloc_config Config = xmalloc_config{}>
class xmalloc {
  using sizes = xmalloc_parts::geometry<Config>;
  using pieces = xmalloc_parts::coalescing<Config>;

 public:
  using options = no_options;

  static constexpr capabilities about{
      .name = "xmalloc",
      .description = "coalesced requests, two levels of FIFOs, a list of blocks that merge",
      .folder = "xmalloc",
      .published = xmalloc_parts::published,
      .deviations = {"Lanes that call together are coalesced by shuffles, without lockstep.",
                     "FIFOs are rings of tickets with counts, and not lock-free.",
                     "A Superblock's word says whether it is queued or owned.",
                     "Refills of a class at once are limited to one per multiprocessor.",
                     "Free Superblocks return to the heap when a request finds no memory.",
                     "A Superblock counts the blocks that callers have.",
                     "Without room for a Superblock, smaller ones are made, or Memoryblocks.",
                     "The list of Memoryblocks is divided into zones with a lock each."},
  };

  /// \throws invalid_argument if the region is larger than 256 GiB
  xmalloc(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    const std::size_t most = memory.bytes / sizes::unit;
    if (most > sizes::most_units) {
      throw invalid_argument(std::string(about.name) + ": a heap of " +
                             std::to_string(memory.bytes) + " bytes; less than " +
                             std::to_string(sizes::most_units * sizes::unit) + " are possible");
    }
    const std::uint32_t refills = std::max(machine.multiprocessors, 1u);
    lay_out_most(memory, about.name, 1u, static_cast<std::uint32_t>(std::max<std::size_t>(most, 1)),
                 [&](region_cursor& cursor, std::uint32_t units) {
                   supply_ = xmalloc_parts::supply<Config>(cursor, units, refills);
                 });
  }

  /// One Memoryblock of all units.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{supply_.memory().units()} * sizes::unit - sizes::memory_header;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    supply_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    if (bytes < Config.coalesce_below) {
      const auto asked = pieces::fit(simt::coalesced(supply_.memory().base()), bytes);
      if (asked.members.size() > 1) {
        std::byte* parent = nullptr;
        if (asked.members.is_leader()) {
          parent = supply_.take(sizes::first_piece + asked.bytes.total);
        }
        asked.members.sync();  // what the leader has acquired is the members' as well
        parent = asked.members.broadcast(parent);
        if (parent != nullptr) return pieces::split(asked, parent);
      }
    }
    return supply_.take(bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    auto* bytes = static_cast<std::byte*>(block);
    const auto offset = reinterpret_cast<std::uintptr_t>(bytes) -
                        reinterpret_cast<std::uintptr_t>(supply_.memory().base());
    if (offset >= std::size_t{supply_.memory().units()} * sizes::unit) return;  // not of this heap
    using xmalloc_parts::block_kind;
    using xmalloc_parts::block_word;
    if (block_word(xmalloc_parts::word_before(bytes)).kind() == block_kind::piece) {
      bytes = pieces::free_piece(bytes);
    }
    if (bytes != nullptr) supply_.give(bytes);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    xmalloc_parts::inspector<Config>(supply_, findings).run(rank, count);
  }

  /// What the region holds, for tests.
  const xmalloc_parts::supply<Config>& parts() const { return supply_; }

 private:
  xmalloc_parts::supply<Config> supply_;
};

WARPHEAP_END_NAMESPACE
