// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The device half of `arena` (heap/arena.hpp): blocks out of large pieces of a heap, by an atomic
/// addition for all lanes that call together, and all of them given back at once.
///
/// Each multiprocessor has a shard with a current piece. When a request does not fit there, one
/// lane gets the next piece: one that `rewind` has kept, else a block of the heap twice as large as
/// the last one, else one of the smallest size. Requests larger than the smallest piece, and all
/// that come when the heap has no piece, get a block of the heap for themselves.
/// arena_blocks/pieces.hpp draws this.
///
/// Invariants, while no lane allocates, beside those of the manager behind:
/// I32 no shard grows, and no piece has more granules in use than it has (place: the shard)
///
/// Progress: an addition never waits. A lane waits for another one in two cases: it gets the next
/// piece, in which it waits for nothing but the heap; or it has added more than fits, and takes
/// that back by its next atomic. Both go on whichever lanes of a warp run, also if the one that
/// waits is of the same warp. A request goes round again only if others have filled a piece
/// meanwhile.
///
/// Null: at moments of the call the heap had no block for the request alone, and no shard had a
/// piece with room for it.
///
/// Orders: a piece belongs to the lane that got it from the heap, which releases it by the store to
/// `used`. A lane that takes from it acquires it by a read-modify-write of the same word.

#include "warpheap/core/align.hpp"
#include "warpheap/heap/layers/arena_blocks/pieces.hpp"
#include "warpheap/heap/layers/arena_blocks/stats.hpp"
#include "warpheap/heap/layers/arena_blocks/supply.hpp"
#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

/// A manager over the manager of blocks M whose frees do nothing: see `arena`, which lays it over a
/// heap that others use as well. As a layer, `heap<arena_blocks<M>>`, it has the heap for itself.
template <block_manager M>
class arena_blocks {
  static_assert(M::about.frees, "an arena gives its pieces back: M must free single blocks");
  static_assert(!hears_failures<M>, "on_failure must be the outermost layer");
  using piece = arena_parts::piece;
  using single = arena_parts::single;
  using shard = arena_parts::shard;
  using supply = arena_parts::arena_supply<M>;
  static constexpr std::size_t granule = arena_parts::granule;

 public:
  struct options {
    /// See `arena_options`.
    std::size_t piece_bytes = 0;
    typename M::options manager{};
  };

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    inner.name = "arena";
    inner.description = "pieces of a heap, one atomic for all lanes that call together";
    if (inner.largest_block != 0) inner.largest_block -= sizeof(single);
    inner.alignment = granule;
    inner.frees = false;
    inner.reuse = memory_reuse::none;
    return inner;
  }();

  /// Layout: [ state ][ the manager's region ]
  arena_blocks(const region& memory, const simt::device_properties& machine,
               const options& settings)
      : arena_blocks(cut(memory, shards_for(memory.bytes, machine, settings.piece_bytes)),
                     memory.bytes, machine, settings) {}

  /// Over a manager that is there.
  /// \param inner lives in a heap of `heap_bytes`
  /// \param state memory of `state_bytes(shards)`, aligned to 256
  /// \throws invalid_argument if pieces cannot have `piece_bytes`
  arena_blocks(const M& inner, std::size_t heap_bytes, std::byte* state, std::uint32_t shards,
               std::size_t piece_bytes)
      : supply_(supply_over(inner, heap_bytes, reinterpret_cast<shard*>(state + copy_bytes), shards,
                            checked_piece(inner, piece_bytes))),
        copy_(reinterpret_cast<supply*>(state)),
        largest_(largest_behind(inner) - sizeof(single)) {}

  /// A shard for each multiprocessor, but no more than have a piece each in an eighth of the heap.
  static std::uint32_t shards_for(std::size_t heap_bytes, const simt::device_properties& machine,
                                  std::size_t piece_bytes) {
    const std::size_t most = heap_bytes / 8 / (piece_bytes == 0 ? usual_piece : piece_bytes);
    if (most == 0) return 1;
    return most < machine.multiprocessors ? static_cast<std::uint32_t>(most)
                                          : machine.multiprocessors;
  }
  /// Bytes of device memory for that many shards.
  static std::size_t state_bytes(std::uint32_t shards) {
    return copy_bytes + shards * sizeof(shard);
  }

  WARPHEAP_HD std::size_t largest_block() const { return largest_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    supply_.inner().format(rank, count);
    begin(rank, count);
  }

  /// The arena has nothing. For each lane of a grid of `count` lanes, before anything else.
  WARPHEAP_DEVICE void begin(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < supply_.shards(); i += count) supply_.at(i) = {};
    if (rank == 0) *copy_ = supply_;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint64_t granules = ceil_div<std::uint64_t>(bytes, granule);
    if (granules > supply_.granules_of(0)) {
      return simt::call_apart(&supply::take_single, *copy_, granules);
    }
    const auto wanted = static_cast<std::uint32_t>(granules);
    for (;;) {
      // A warp is on one multiprocessor, so lanes that call together have one shard.
      const simt::group team = simt::coalesced(copy_);
      const std::uint32_t at =
          team.broadcast(simt::sm_id()) % static_cast<std::uint32_t>(supply_.shards());
      void* const block = supply_.take(team, at, wanted);
      if (block != nullptr) return block;
      const simt::group left = simt::coalesced(copy_);
      arena_parts::growth grown;
      if (left.is_leader()) grown = simt::call_apart(&supply::grow, *copy_, at, wanted);
      left.sync();  // what the leader has acquired is the members' as well
      const bool failed = left.any(grown.failed);
      if (grown.block != nullptr) return grown.block;
      if (failed) return simt::call_apart(&supply::take_last, *copy_, at, wanted);
    }
  }

  /// O(1) as malloc; takes `alignment - 16` bytes more.
  WARPHEAP_DEVICE void* aligned_malloc(std::size_t alignment, std::size_t bytes) const {
    WARPHEAP_ASSERT(can_align(alignment, bytes));
    if (alignment <= granule) return malloc(bytes);
    const auto start = reinterpret_cast<std::uintptr_t>(malloc(bytes + alignment - granule));
    return reinterpret_cast<void*>(align_up<std::uintptr_t>(start, alignment));
  }

  WARPHEAP_DEVICE bool can_align(std::size_t alignment, std::size_t bytes) const {
    if (alignment <= granule) return true;
    const std::size_t skipped = alignment - granule;
    return skipped <= largest_ && bytes <= largest_ - skipped;
  }

  WARPHEAP_DEVICE void free(void* block) const { WARPHEAP_ASSERT(block != nullptr); }

  /// Gives everything back to the heap. Called by each of `count` lanes, with ranks from 0 on, of a
  /// launch or of a group, while no lane uses the arena: what lanes did there before must be
  /// ordered before these calls, and what they do there later behind them.
  /// O((pieces + requests with a block for themselves) / count)
  WARPHEAP_DEVICE void release(std::uint64_t rank, std::uint64_t count) const {
    supply_.release(rank, count);
  }

  /// As `release`, but keeps the pieces, to be handed out again.
  WARPHEAP_DEVICE void rewind(std::uint64_t rank, std::uint64_t count) const {
    supply_.rewind(rank, count);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    supply_.inner().inspect(rank, count, findings);
    for (std::uint64_t i = rank; i < supply_.shards(); i += count) {
      const auto expect = [&](bool holds) {
        findings.expect(holds, inspection::most_invariants, i);
      };
      expect(!shard::is_growing(supply_.at(i).growths));
      supply_.for_each_piece(supply_.at(i), [&](piece& one, bool /*is_kept*/) {
        expect(one.used <= supply_.granules_of(static_cast<int>(one.order)));
      });
    }
  }

  /// Adds what there is to `sum`. For each lane of a grid of `count` lanes, while no lane
  /// allocates.
  WARPHEAP_DEVICE void measure(std::uint64_t rank, std::uint64_t count, arena_stats& sum) const {
    const auto add = [](std::uint64_t& to, std::uint64_t value) {
      simt::atomic_ref(to).fetch_add(value, simt::order::relaxed);
    };
    for (std::uint64_t i = rank; i < supply_.shards(); i += count) {
      const piece* const current = arena_parts::piece_word(supply_.at(i).current).at();
      supply_.for_each_piece(supply_.at(i), [&](piece& one, bool is_kept) {
        const auto order = static_cast<int>(one.order);
        const std::uint64_t used = is_kept ? 0 : one.used;
        add(sum.pieces, 1);
        add(sum.piece_bytes, supply_.piece_bytes_of(order));
        add(sum.handed_out_bytes, used * granule);
        add(is_kept || &one == current ? sum.unused_bytes : sum.remains_bytes,
            (supply_.granules_of(order) - used) * granule);
      });
    }
    for (std::uint64_t i = rank; i < supply_.lists(); i += count) {
      for (const single* one = supply_.list(i); one != nullptr; one = one->next) {
        add(sum.singles, 1);
        add(sum.single_bytes, one->granules * granule + sizeof(single));
        add(sum.handed_out_bytes, one->granules * granule);
      }
    }
  }

 private:
  static constexpr std::size_t usual_piece = std::size_t{64} << 10;
  static constexpr std::size_t least_piece = 2 * sizeof(piece);
  /// What the lanes of a warp want of the smallest pieces is less than 2^32 granules.
  static constexpr std::size_t most_piece = std::size_t{1} << 30;
  static constexpr std::size_t copy_bytes = round_up<std::size_t>(sizeof(supply), 128);

  struct parts {
    std::byte* state;
    region rest;
    std::uint32_t shards;
  };
  static parts cut(const region& memory, std::uint32_t shards) {
    region_cursor cursor(memory, about.name);
    auto* const state = cursor.take<std::byte>(state_bytes(shards), 256);
    const std::size_t left = cursor.left(1);
    return {state, {cursor.take<std::byte>(left), left}, shards};
  }
  arena_blocks(const parts& where, std::size_t bytes, const simt::device_properties& machine,
               const options& settings)
      : arena_blocks(M(where.rest, machine, settings.manager), bytes, where.state, where.shards,
                     settings.piece_bytes) {}

  static std::size_t largest_behind(const M& inner) {
    return round_down<std::size_t>(inner.largest_block(), granule);
  }

  static std::size_t checked_piece(const M& inner, std::size_t wished) {
    const std::size_t largest = largest_behind(inner);
    const std::size_t most = largest < most_piece ? largest : most_piece;
    const std::size_t usual = most < usual_piece ? most : usual_piece;
    const std::size_t bytes = wished == 0 ? usual : wished;
    if (bytes < least_piece || bytes > most || bytes % granule != 0) {
      throw invalid_argument("pieces of " + std::to_string(bytes) + " bytes for an arena over " +
                             M::about.name + ": multiples of 16 from " +
                             std::to_string(least_piece) + " to " + std::to_string(most) +
                             " are possible in this heap");
    }
    return bytes;
  }

  /// Pieces grow until one for each shard takes an eighth of the heap.
  static supply supply_over(const M& inner, std::size_t heap_bytes, shard* at, std::uint32_t shards,
                            std::size_t piece_bytes) {
    const std::size_t share = heap_bytes / 8 / shards;
    const std::size_t most = share < inner.largest_block() ? share : inner.largest_block();
    int order = 0;
    while (order < arena_parts::piece_word::most_order && piece_bytes << (order + 1) <= most) {
      ++order;
    }
    return supply(inner, at, shards, piece_bytes, order);
  }

  supply supply_;
  supply* copy_;
  std::size_t largest_;
};

WARPHEAP_END_NAMESPACE
