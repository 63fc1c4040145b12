// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The default manager. docs/default-manager.md describes its design and what was tried.
///
/// Algorithm: the heap is cut into chunks. A chunk belongs to no one (the pool), to a size class,
/// or to a large block. Bits say which slots of a chunk are in use. Lanes that want the same class
/// at the same time form a group; its leader claims free bits for the whole group by one atomic, in
/// the word of the class whose turn it is. Lanes that were not served try again, or, if their class
/// has much of the heap, get slots of its new chunks in order; and then each draws words from those
/// that are listed as having room. When its words are full, a class takes
/// chunks from the pool or, if that is empty, chunks that another class has left empty. Slots freed
/// in a full class are offered to its next requests, which then need not search. When few words of
/// a class may have room, they are counted, so that a request knows at once that there is none. No
/// multiprocessor, warp or lane keeps memory for itself.
///
/// Memory layout:
///
///     [ state ][ classes: 64 B each ][ orders: up to 1.1 KiB per class, from 1024 chunks on ]
///     [ sets of open chunks: a tree per class ]
///     [ hints: 2 B per chunk and class ][ entries: 4 B per chunk ][ pool, empties: trees ]
///     [ copy of this ][ run lengths, states: 4 B per chunk each ]
///     [ offers: 32 B per class, or 128 B; and 8 B ][ cells: 4 B for 512 slots of a class ]
///     [ listed: 1 bit per word ]
///     [ words: 8 B for 48 slots of 16 B ]
///     [ chunk 0 ][ chunk 1 ] ...     chunk: [ slot 0 ][ slot 1 ] ... of one class
///
/// chunks.hpp draws states and words. A heap may begin with a part of its chunks, and get the
/// others in order while lanes use it (growth.hpp): everything before the words is touched from the
/// start, words and chunks only as far as there are chunks.
///
/// Invariants, while no lane allocates:
/// I1 the words of all trees fit (place: the word)
/// I2 a chunk in the pool belongs to nobody; one that the heap does not have yet is nobody's, and
///    nowhere (place: the chunk)
/// I3 the words of a chunk of a class have its tag, and no slots beyond the last; those of other
///    chunks have no tag (place: the chunk)
/// I4 a word with a free slot that is not marked is listed, and its chunk is in its class's set of
///    open chunks (place: the chunk)
/// I5 a chunk's count of words in use is right, and a chunk of a class without used slots is among
///    the empties (place: the chunk)
/// I6 the chunks behind the first of a run, and no others, are nobody's and not in the pool (place:
///    the chunk)
/// I7 nothing is in progress (place: the class)
/// I8 the words of a class that are not marked are counted right, and so are its offers: at least
///    as many as marked words have free slots, each of a word of the heap (place: the class; not
///    looked at in heaps of more than 2^19 words)
///
/// Progress: claims, frees and growth are lock-free, and wait at most for the lanes of their warp
/// that make the same step with them. A request waits for a bounded
/// time while others let its class grow, make the offer that it has requested, may make another, or
/// change the words that it looks at; and for the lanes of its warp that called together with it,
/// each of whose steps ends. So waits end, whichever lanes of a warp run.
///
/// Steady load: launches of millions of requests near exhaustion take up to 65 ms in the survey's
/// rows. A launch takes longer if it has many requests for large blocks: 2.4 s in a soak of an
/// 8 GiB heap, with 13 requests of 8 KiB to 16 MiB from each of up to 262,144 lanes.
///
/// Null: at a moment of the call, all words of the class were full, no slot was on offer and no
/// chunk was free, according to what the lane has acquired; or in a look, or a few if a whole warp
/// called, or up to 16 for a run of chunks, others freed and took what it looked for, had it in
/// hand, or were as many as could get it.

#include "warpheap/core/align.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/warpheap/chunk_runs.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/growth.hpp"
#include "warpheap/managers/warpheap/inspection.hpp"
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/managers/warpheap/slot_frees.hpp"
#include "warpheap/managers/warpheap/slot_search.hpp"
#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

template <warpheap_config Config = warpheap_config{}>
class warpheap_manager {
 public:
  using options = warpheap_options;
  using supply = warpheap_supply<Config>;
  using chunks = warpheap_chunks<Config>;
  using classes = warpheap_classes<Config>;

  static constexpr capabilities about{
      .name = "warpheap",
      .description =
          "bitmap words of one-size chunks, taken in turn; freed slots offered to waiting "
          "lanes; runs of chunks for large blocks",
      .folder = "warpheap",
      .growth = true,
  };
  /// Those in which a kernel that calls `malloc` or `free`, and does little else, spills no more
  /// than with 64. Not a claim in `about`, which layers take over: they need more.
  static constexpr int registers = 40;

  warpheap_manager(const region& memory, const simt::device_properties& /*machine*/,
                   const options& how)
      : warpheap_manager(memory, shift_for(memory.bytes), how.initial_bytes) {}

  /// The largest block: an empty heap that has all of its chunks serves this size.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{supply_.universe()} << shift();
  }
  WARPHEAP_HD const supply& parts() const { return supply_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    supply_.format(supply_.initial(), rank, count);
  }

  WARPHEAP_DEVICE void reset(std::uint64_t rank, std::uint64_t count) const {
    supply_.format(supply_.backed(), rank, count);
  }

  /// Bytes of a chunk.
  WARPHEAP_HD std::size_t growth_step() const { return sizes().chunk_bytes(); }
  WARPHEAP_DEVICE growth_outcome grow(const simt::group& together, std::size_t bytes) const {
    if (bytes == 0) return growth_outcome::no_bytes;
    if (bytes % growth_step() != 0) return growth_outcome::uneven;
    if (bytes > largest_block()) return growth_outcome::no_reserve;
    return warpheap_grow(supply_, together, static_cast<std::uint32_t>(bytes >> shift()));
  }
  std::size_t bytes_for_blocks(const simt::device& on) const {
    std::uint32_t there = supply_.initial();
    if (there != supply_.universe()) {
      on.copy_to_host(&there, &supply_.whole().backed, sizeof there);
    }
    return std::size_t{there} << shift();
  }
  /// The parts of the region that lanes touch when the heap has this many bytes for blocks, which
  /// must be memory before it grows to that size. All but the first become longer with `bytes`.
  /// \pre `bytes` is a multiple of `growth_step()`, at most `largest_block()`
  std::array<region, 3> touched(std::size_t bytes) const {
    const region words = supply_.chunks().words_of(bytes >> shift());
    auto* const start = reinterpret_cast<std::byte*>(&supply_.whole());
    return {region{start, static_cast<std::size_t>(words.base - start)}, words,
            region{base_, bytes}};
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    if (bytes > sizes().largest())
      return run_address(
          simt::call_apart(&malloc_run, run_shape{chunks_for(bytes)}, supply_.copy()));
    return malloc_slot(sizes().class_of(static_cast<std::uint32_t>(bytes)));
  }

  WARPHEAP_DEVICE void* aligned_malloc(std::size_t alignment, std::size_t bytes) const {
    const std::size_t whole = round_up(bytes, alignment);
    if (alignment <= 16) return malloc(bytes);
    if (whole <= sizes().largest()) {
      return malloc_slot(sizes().aligned_class_of(static_cast<std::uint32_t>(whole)));
    }
    if (alignment <= sizes().chunk_bytes()) {
      return run_address(
          simt::call_apart(&malloc_run, run_shape{chunks_for(bytes)}, supply_.copy()));
    }
    return malloc_aligned_run(alignment, bytes);
  }

  WARPHEAP_DEVICE bool can_align(std::size_t alignment, std::size_t bytes) const {
    if (alignment <= sizes().chunk_bytes()) return true;
    const std::size_t first = first_aligned(alignment);
    return first < supply_.universe() && chunks_for(bytes) <= supply_.universe() - first;
  }

  /// 0 for a pointer outside the heap, and for one to a chunk in which no block begins.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    const std::uint64_t chunk = offset_of(block) >> shift();
    if (chunk >= supply_.universe()) return 0;
    const auto first = static_cast<std::uint32_t>(chunk);
    const std::uint32_t owner = chunks::owner_of(supply_.chunks().look(first));
    if (owner == chunk_owner::run) return std::size_t{supply_.run_length(first)} << shift();
    if (owner < chunk_owner::first_class) return 0;
    return supply_.classes().slots(owner - chunk_owner::first_class).bytes;
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const std::uint64_t offset = offset_of(block);
    const auto chunk = static_cast<std::uint32_t>(offset >> shift());
    if (offset >> shift() >= supply_.universe()) return;  // not of this heap
    const std::uint32_t owner = chunks::owner_of(supply_.chunks().look(chunk));
    if (owner >= chunk_owner::first_class) {
      const std::uint32_t of = owner - chunk_owner::first_class;
      const auto inside = static_cast<std::uint32_t>(offset) & (sizes().chunk_bytes() - 1);
      const auto at = supply_.classes().bit_at(of, inside);
      if (simt::is_whole_warp(&supply_.whole())) {
        warpheap_slot_frees<Config>(supply_).run(simt::whole_warp(), of, chunk, at.word, at.bit);
      } else {
        warpheap_slot_frees<Config>(supply_).run_alone(of, chunk, at.word, at.bit);
      }
    } else if (owner == chunk_owner::run) {
      free_run(supply_.copy(), chunk);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    warpheap_inspector<Config>(supply_, findings).run(rank, count);
  }

 private:
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;
  warpheap_manager(const region& memory, int chunk_shift, std::size_t initial_bytes) {
    const std::size_t chunk_bytes = std::size_t{1} << chunk_shift;
    const std::size_t most = memory.bytes / chunk_bytes;
    // Trials need not have room for the initial chunks: `check_chunks` sees how many there are.
    lay_out_most(memory, about.name, 1u, most < 1 ? 1u : static_cast<std::uint32_t>(most),
                 [&](region_cursor& to, std::uint32_t universe) {
                   const std::size_t initial = initial_bytes >> chunk_shift;
                   supply_ = lay_out(to, chunk_shift, universe,
                                     initial == 0 ? universe : static_cast<std::uint32_t>(initial));
                   // One more, so that their number does not depend on the region's address.
                   auto* rest = to.take<std::byte>((universe + std::size_t{1}) * chunk_bytes,
                                                   about.alignment);
                   const auto at = reinterpret_cast<std::uintptr_t>(rest);
                   base_ = rest + (round_up<std::uintptr_t>(at, chunk_bytes) - at);
                 });
    check_chunks(memory, initial_bytes);
  }

  static supply lay_out(region_cursor& cursor, int chunk_shift, std::uint32_t universe,
                        std::uint32_t initial) {
    const warpheap_size_classes sizes(chunk_shift);
    typename supply::parts where{};
    where.whole = cursor.take<typename supply::state>(1);
    typename classes::parts of_classes{};
    of_classes.records = cursor.take<typename classes::record>(sizes.count());
    const std::uint32_t places =
        warpheap_class_orders::places_for(universe, Config.chunks_per_place);
    auto* order_places =
        cursor.take<warpheap_class_orders::place>(std::size_t{places} * sizes.count());
    auto* growths = cursor.take<warpheap_class_orders::growth>(places == 0 ? 0 : sizes.count());
    where.orders = warpheap_class_orders(order_places, growths, sizes.count(), universe, places,
                                         Config.slots_at_once);
    of_classes.trees = cursor.take<std::uint64_t>(
        bitmap_tree::words_for(universe) * std::size_t{sizes.count()}, 128);
    of_classes.hints =
        cursor.take<std::uint32_t>(warpheap_class_hints::words_for(universe) * sizes.count(), 128);
    of_classes.entries = cursor.take<std::uint32_t>(universe, 128);
    const std::size_t tree_words = bitmap_tree::words_for(universe);
    where.pool = warpheap_chunk_set(cursor.take<std::uint64_t>(tree_words, 128), universe);
    where.empties = warpheap_chunk_set(cursor.take<std::uint64_t>(tree_words, 128), universe);
    where.copy = cursor.take<supply>(1, 128);
    where.runs = cursor.take<std::uint32_t>(universe, 128);
    auto* states = cursor.take<std::uint32_t>(chunks::states_for(universe), 128);
    const std::size_t each = chunks::words_for(sizes.chunk_bytes());
    auto* listed =
        cursor.take<std::uint64_t>(universe * warpheap_listed_words::words_for(each), 128);
    where.listed = warpheap_listed_words(listed, static_cast<std::uint32_t>(each));
    auto* rings = cursor.take<warpheap_offers::ring>(warpheap_offers::all_rings(sizes, universe));
    const std::uint32_t all = warpheap_offers::all_cells(sizes, universe);
    auto* extents = cursor.take<warpheap_offers::extent>(sizes.count(), 128);
    where.offers =
        warpheap_offers(rings, extents, sizes.count(), cursor.take<std::uint32_t>(all, 128), all);
    // From here on memory is touched only as far as there are chunks: see `touched`.
    auto* words = cursor.take<std::uint64_t>(universe * each, 128);
    return supply(classes(sizes, of_classes, universe), chunks(states, words, sizes.chunk_bytes()),
                  where, universe, initial);
  }

  /// \throws invalid_argument if not every word has a 32-bit number, by which offers name it, or if
  ///   `initial_bytes` is not a multiple of a chunk \throws region_too_small if it is too much
  void check_chunks(const region& memory, std::size_t initial_bytes) const {
    const std::size_t chunk_bytes = sizes().chunk_bytes();
    const std::size_t most = none / chunks::words_for(sizes().chunk_bytes());
    if (supply_.universe() > most) {
      throw invalid_argument(std::string(about.name) + ": a heap of " +
                             std::to_string(memory.bytes) + " bytes; at most " +
                             std::to_string(most * chunk_bytes) + " for blocks are possible");
    }
    const std::string wanted =
        "a heap cannot begin with " + std::to_string(initial_bytes) + " bytes for blocks: ";
    if (initial_bytes % chunk_bytes != 0) {
      throw invalid_argument(wanted + "chunks have " + std::to_string(chunk_bytes));
    }
    if (initial_bytes > largest_block()) {
      throw region_too_small(wanted + "its region has room for " + std::to_string(largest_block()));
    }
  }

  /// log2 of a chunk's bytes in a heap of `bytes`: about 2048 chunks, within the limits; beyond
  /// 2^16 of them chunks grow with the heap.
  static int shift_for(std::size_t bytes) {
    const int smallest = floor_log2(Config.smallest_chunk);
    const int largest = floor_log2(Config.largest_chunk);
    const int wanted = bytes < 2048 ? smallest : floor_log2(bytes / 2048);
    const int usual = wanted < smallest ? smallest : wanted > largest ? largest : wanted;
    const int least = bytes < 2048 ? smallest : ceil_log2(bytes) - classes::most_chunks_log2;
    return usual > least ? usual : least;
  }

  WARPHEAP_HD const warpheap_size_classes& sizes() const { return supply_.classes().sizes(); }
  WARPHEAP_HD int shift() const { return sizes().chunk_shift(); }
  WARPHEAP_DEVICE std::uint64_t offset_of(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - base_);
  }
  WARPHEAP_DEVICE std::byte* chunk_address(std::uint32_t chunk) const {
    return base_ + (std::size_t{chunk} << shift());
  }
  // Slots.

  WARPHEAP_DEVICE void* malloc_slot(std::uint32_t of) const {
    const warpheap_slot_search<Config> search(supply_, of);
    const auto got = search.take();
    if (got.chunk == none) return nullptr;
    return chunk_address(got.chunk) + got.slot * search.slot_bytes();
  }

  // Large blocks.

  WARPHEAP_DEVICE std::uint32_t chunks_for(std::size_t bytes) const {
    return static_cast<std::uint32_t>(((bytes - 1) >> shift()) + 1);
  }

  WARPHEAP_DEVICE void* run_address(std::uint32_t first) const {
    return first == none ? nullptr : chunk_address(first);
  }
  /// Its parameters are the other way round than those of what it calls: see `simt::call_apart`.
  WARPHEAP_RARE static std::uint32_t malloc_run(run_shape wanted, const supply& from) {
    return warpheap_chunk_runs<Config>(from).take(wanted);
  }
  WARPHEAP_RARE static void free_run(const supply& to, std::uint32_t first) {
    warpheap_chunk_runs<Config>(to).give(first);
  }

  /// The first chunk at a multiple of `alignment`, which is larger than a chunk; beyond all chunks
  /// if there is none.
  WARPHEAP_DEVICE std::size_t first_aligned(std::size_t alignment) const {
    const auto base = reinterpret_cast<std::uintptr_t>(base_);
    return (round_up<std::uintptr_t>(base, alignment) - base) >> shift();
  }

  /// For alignments larger than a chunk: a run that begins at an address of that alignment. A
  /// request that fails costs O(chunks / 64), unless it is known that there is no such run at any
  /// address.
  WARPHEAP_DEVICE void* malloc_aligned_run(std::size_t alignment, std::size_t bytes) const {
    const std::size_t offset = first_aligned(alignment);
    if (offset >= supply_.universe()) return nullptr;
    const std::size_t step = alignment >> shift();
    // Steps beyond the heap: there is one place.
    const std::size_t all = std::size_t{1} << ceil_log2(supply_.universe());
    const run_shape wanted{chunks_for(bytes), static_cast<std::uint32_t>(step < all ? step : all),
                           static_cast<std::uint32_t>(offset)};
    return run_address(simt::call_apart(&malloc_run, wanted, supply_.copy()));
  }

  supply supply_;
  std::byte* base_ = nullptr;
};

WARPHEAP_END_NAMESPACE
