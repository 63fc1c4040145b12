// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// S. Widmer, D. Wodniok, N. Weber, M. Goesele: "Fast Dynamic Memory Allocator for Massively
/// Parallel Architectures", GPGPU-6 (2013), DOI 10.1145/2458523.2458535.
///
/// Algorithm:
/// - Lanes of a warp create their own heap, which has a WarpHeader. They allocate from it and free
///   all of it together; no single block is ever freed.
/// - malloc: the lanes that call one warp heap together elect a leader, which gets one stretch of
///   memory for the sum of their requests; each lane takes its part of it.
/// - A stretch that fits into what is left of the warp heap's current SuperBlock comes from there.
///   Otherwise a new SuperBlock becomes the current one. A stretch that is larger than a SuperBlock
///   is a separate run of SuperBlocks.
/// - The header lists all SuperBlocks and runs. tidy_up frees them when all participants have
///   arrived; end counts participants down, and the last one frees the header as well.
///
/// Memory layout (s SuperBlocks of 8 KiB; less in small heaps):
///
///     [ exhaustion of runs | claims of runs: u64 ][ free SuperBlocks: bitmap tree over s ]
///     [ pieces: 12 B x s ]
///     [ free headers: bitmap tree over s ]
///     [ WarpHeaders: { bump: u64 {is replaced:1 | granules used:31 | SuperBlock + 1:32}
///                      phase: u64 {generation:32 | participants:16 | of which arrived:16}
///                      newest piece + 1: u32 | pieces: u32 | 8 B unused } x s ]
///     [ SuperBlock 0 | SuperBlock 1 | ... ]
///
/// Invariants, while no lane allocates (warp heaps may be open):
/// I1 the words of both bitmap trees fit (place: the word)
/// I2 a SuperBlock is free exactly if it is in no piece; pieces do not overlap (place: the
///    SuperBlock)
/// I3 a warp heap's list has as many pieces as the header counts, all its own (place: the header)
/// I4 a warp heap's current SuperBlock is a piece of its own, no more than all of it used, and no
///    lane is about to replace it (place: the header)
/// I5 fewer participants have arrived than there are, and those are a warp at most (place: the
///    header)
/// I6 a piece belongs to a warp heap that is open (place: the SuperBlock)
/// I7 no claim of a run is in progress (place: 0)
///
/// Progress: begin and end are lock-free. In malloc, a compare-exchange fails only when another
/// lane has taken memory of this warp heap or begins to replace its SuperBlock. malloc waits in two
/// places, for lanes that wait for nothing and may be of the waiter's own warp: for the lane that
/// replaces the current SuperBlock, if the request does not fit into the old one; and where it
/// finds no memory, for claims of runs that may put back what they have taken. tidy_up waits for
/// participants that have yet to call it or end, as the contract says; they wait for nothing else,
/// in no collective, and may be lanes of the waiter's own warp.
///
/// Steady load: its launches give single blocks back, which no warp heap can, so there is no
/// number. Where memory ends, a request asks twice, for its group and for itself, and both answers
/// are known as long as no SuperBlock comes back: a million requests that all fail take 86 us on an
/// NVIDIA H200, and 2.3 ms the first time (case `failing`).
///
/// Null: neither the sum that the lanes request together is available, nor what the lane alone
/// requests: no run is free, or no SuperBlock, and the rest of the current one is too small. The
/// rest of other warps' SuperBlocks does not count. What a claim of a run puts back counts as free
/// all the time, and so does a SuperBlock that another lane has taken for the same warp heap.
///
/// Reuse is partial: memory is reused only after its warp heap is tidied up or ended.
///
/// Deviations from the paper, and why:
/// - SuperBlocks come from the heap's own region, not from the CUDA allocator, which serialises
///   them. Larger requests get SuperBlocks in a row.
/// - Block and offset are one word that lanes change by compare-exchange: the paper's lanes run in
///   lockstep, those of today may ask from two branches at once. One of them at a time gets a new
///   SuperBlock: if each took one, all but one would go back, and be missed by others meanwhile.
/// - Pieces are linked through a table beside the SuperBlocks, in place of lists of 126 pointers
///   that are allocated themselves: noting a piece cannot fail.
/// - Lanes whose sum does not fit into the current SuperBlock all go to the next one. In the paper
///   those whose part still fits stay, and the others elect a leader again.
/// - Participants are the lanes that begin together. The paper's count is that of the highest lane,
///   which never comes down to 0 if lower ones are absent.
/// - Headers are in a table; there is no statistic of a warp's peak.
/// - Smaller SuperBlocks in heaps with less than four of 8 KiB a resident warp.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/fdg_malloc/inspection.hpp"
#include "warpheap/managers/fdg_malloc/publication.hpp"
#include "warpheap/managers/fdg_malloc/superblocks.hpp"
#include "warpheap/managers/fdg_malloc/warp_headers.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct fdg_config {
  /// Both powers of two. A heap's SuperBlocks have the largest size in this range that gives it
  /// four for each resident warp.
  std::uint32_t least_superblock_bytes = 1024;
  std::uint32_t most_superblock_bytes = 8192;
};

template <fdg_config Config = fdg_config{}>
class fdg_malloc {
 public:
  using options = no_options;
  static constexpr std::size_t granule_bytes = 16;

  static constexpr capabilities about{
      .name = "fdg_malloc",
      .description = "a heap for each warp, which bumps a pointer and is freed as a whole",
      .folder = "fdg_malloc",
      .published = fdg_publication,
      .deviations = {"SuperBlocks come from the heap's own region, not from the CUDA allocator.",
                     "Block and offset are one word, so lanes may ask from several branches.",
                     "A table links SuperBlocks, in place of lists of 126 pointers.",
                     "Lanes whose sum does not fit all go to the next SuperBlock.",
                     "Participants are the lanes that begin together, not all below the highest.",
                     "WarpHeaders are in a table, without a statistic of the peak.",
                     "Small heaps have smaller SuperBlocks."},
      .frees = false,
      .reuse = memory_reuse::partial,
  };
  static_assert(is_power_of_two(Config.least_superblock_bytes) &&
                    is_power_of_two(Config.most_superblock_bytes) &&
                    Config.least_superblock_bytes >= granule_bytes &&
                    Config.least_superblock_bytes <= Config.most_superblock_bytes &&
                    Config.most_superblock_bytes <= 1u << 20,
                "fdg_config: SuperBlocks must be powers of two, from 16 bytes to 1 MiB");

  struct warp_heap {
    std::uint32_t number = 0;  ///< of the header, from 1
    WARPHEAP_HD explicit operator bool() const { return number != 0; }
  };

  fdg_malloc(const region& memory, const simt::device_properties& machine,
             const options& /*none*/) {
    const std::size_t warps =
        ceil_div<std::size_t>(machine.resident_threads, std::size_t{simt::warp_size});
    const std::size_t share = memory.bytes / (4 * std::max<std::size_t>(warps, 1)) | 1;
    superblock_shift_ =
        static_cast<int>(std::clamp(floor_log2(share), floor_log2(Config.least_superblock_bytes),
                                    floor_log2(Config.most_superblock_bytes)));
    const std::size_t most =
        std::clamp<std::size_t>(memory.bytes >> superblock_shift_, 1, fdg_superblocks::most);
    lay_out_most(memory, about.name, 1u, static_cast<std::uint32_t>(most),
                 [&](region_cursor& cursor, std::uint32_t count) {
                   superblocks_ = fdg_superblocks(cursor, count);
                   headers_ = fdg_headers(cursor, count);
                   data_ = cursor.take<std::byte>(std::size_t{count} << superblock_shift_, 128);
                 });
  }

  WARPHEAP_HD std::size_t superblock_bytes() const { return std::size_t{1} << superblock_shift_; }
  WARPHEAP_HD std::uint32_t superblocks() const { return superblocks_.count(); }

  /// A run of all SuperBlocks.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{superblocks_.count()} << superblock_shift_;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    superblocks_.format(rank, count);
    headers_.format(rank, count);
  }

  WARPHEAP_DEVICE warp_heap begin(const simt::group& lanes) const {
    std::uint32_t number = 0;
    if (lanes.is_leader()) {
      number = headers_.open(static_cast<std::uint32_t>(lanes.size()), simt::sm_id());
    }
    lanes.sync();  // what the leader has acquired is the members' as well
    return {lanes.broadcast(number)};
  }

  WARPHEAP_DEVICE void* malloc(warp_heap of, std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const simt::group same = simt::coalesced(data_).match(of.number);
    const std::uint64_t granules = ceil_div<std::size_t>(bytes, granule_bytes);
    const auto sum = sync::sum_over(same, granules);
    std::uint64_t start = nowhere;
    if (same.is_leader()) start = take(of.number, sum.total);
    same.sync();  // what the leader has acquired is the members' as well
    start = same.broadcast(start);
    if (start != nowhere) return data_ + (start + sum.before) * granule_bytes;
    if (same.size() == 1) return nullptr;
    // There is no room for all of them together: each lane requests separately.
    start = take(of.number, granules);
    return start == nowhere ? nullptr : data_ + start * granule_bytes;
  }

  WARPHEAP_DEVICE void tidy_up(warp_heap of) const {
    fdg_header& header = headers_.at(of.number);
    const std::uint64_t now = header.arrive();
    if (settle(of.number, fdg_phase::of(now))) return;
    header.wait_for_next_generation(now);
  }

  WARPHEAP_DEVICE void end(warp_heap of) const {
    settle(of.number, fdg_phase::of(headers_.at(of.number).leave()));
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    fdg_inspector(superblocks_, headers_, superblock_shift_, findings).run(rank, count);
  }

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  WARPHEAP_HD std::uint32_t granules_of_one() const {
    return static_cast<std::uint32_t>(superblock_bytes() / granule_bytes);
  }
  WARPHEAP_HD std::uint64_t first_granule(std::uint32_t superblock) const {
    return std::uint64_t{superblock} * granules_of_one();
  }

  /// The first of `granules` neighbouring granules, or nowhere.
  WARPHEAP_DEVICE std::uint64_t take(std::uint32_t number, std::uint64_t granules) const {
    if (granules <= granules_of_one()) {
      return take_of_superblock(number, static_cast<std::uint32_t>(granules));
    }
    const std::uint64_t length = ceil_div<std::uint64_t>(granules, granules_of_one());
    if (length > superblocks_.count()) return nowhere;
    const auto run = static_cast<std::uint32_t>(length);
    const std::uint32_t first = superblocks_.take_run(run);
    if (first == fdg_superblocks::none) return nowhere;
    record(number, first, run);
    return first_granule(first);
  }

  WARPHEAP_DEVICE std::uint64_t take_of_superblock(std::uint32_t number,
                                                   std::uint32_t granules) const {
    const simt::atomic_ref bump(headers_.at(number).bump);
    // Acquire: the SuperBlock's former owners are done with it, which its claimer has acquired.
    std::uint64_t seen = bump.load(simt::order::acquire);
    for (;;) {
      const fdg_bump now = fdg_bump::of(seen);
      if (now.is_set() && granules <= granules_of_one() - now.used) {
        const fdg_bump after{now.superblock, now.used + granules, now.is_replaced};
        if (!bump.compare_exchange(seen, after.word(), simt::order::acq_rel)) continue;
        return first_granule(now.superblock) + now.used;
      }
      if (now.is_replaced) {
        simt::backoff(64);  // ends: the lane that replaces it waits for nothing
        seen = bump.load(simt::order::acquire);
        continue;
      }
      if (superblocks_.seem_empty()) {
        const std::uint64_t claims = superblocks_.claims();
        if (!superblocks_.free_ones().any()) {
          const bool is_sure = !superblocks_.claimed_since(claims);
          // The last one may have become this warp heap's: then the word has changed.
          const std::uint64_t before = seen;
          seen = bump.load(simt::order::acquire);
          if (is_sure && seen == before) return nowhere;
          // Ends: another lane has taken of this warp heap, or is about to end a claim.
          if (!is_sure) superblocks_.wait_for_claims();
          continue;
        }
      }
      // One lane at a time, as two would need only one SuperBlock, and others would miss the
      // second. Release for the loads above.
      if (!bump.compare_exchange(seen, seen | fdg_bump::replaced, simt::order::acq_rel)) continue;
      const std::uint32_t next = superblocks_.take_one(simt::sm_id());
      if (next == fdg_superblocks::none) {
        seen = bump.fetch_and(~fdg_bump::replaced, simt::order::acq_rel) & ~fdg_bump::replaced;
        // Ends: others have released some, or the tree's upper words are about to say that there
        // are none: a lane that takes the last one clears them, and waits for nothing.
        continue;
      }
      // Lanes that take of the old one meanwhile may do so: nothing of it is taken twice.
      bump.store(fdg_bump{next, granules}.word(), simt::order::release);
      record(number, next, 1);
      return first_granule(next);
    }
  }

  WARPHEAP_DEVICE void record(std::uint32_t number, std::uint32_t first,
                              std::uint32_t length) const {
    fdg_piece& piece = superblocks_.piece(first);
    piece.length = length;
    piece.owner = number;
    headers_.at(number).push(first, piece.next);
  }

  /// Frees what is due in this phase; false if the caller was not the last one.
  WARPHEAP_DEVICE bool settle(std::uint32_t number, const fdg_phase& phase) const {
    if (phase.arrived != phase.participants) return false;
    fdg_header& header = headers_.at(number);
    const std::uint32_t newest = simt::atomic_ref(header.newest).load(simt::order::relaxed);
    for (std::uint32_t piece = newest; piece != 0;) {
      const fdg_piece old = superblocks_.piece(piece - 1);
      superblocks_.release(piece - 1, old.length);
      piece = old.next;
    }
    if (newest != 0) superblocks_.released();
    if (phase.participants == 0) {
      headers_.close(number);
    } else {
      header.start_generation(phase);
    }
    return true;
  }

  fdg_superblocks superblocks_;
  fdg_headers headers_;
  std::byte* data_ = nullptr;
  int superblock_shift_ = 0;
};

WARPHEAP_END_NAMESPACE
