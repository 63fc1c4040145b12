// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A. V. Adinetz, D. Pleiter: "Halloc: A High-Throughput Dynamic Memory Allocator for GPGPU
/// Architectures", GTC 2014 (a talk, S4271), as M. Winter et al. describe it ("Are Dynamic Memory
/// Managers on GPUs Slow?", PPoPP 2021, DOI 10.1145/3437801.3441612, section 2.7).
///
/// Algorithm:
/// - The heap is an array of slabs, each a bitmap of chunks of one of four kinds. A block is one,
///   two, four or eight chunks; a slab has a size of blocks, and belongs to a class by its share of
///   used chunks.
/// - Each size has a head. A request gets a number, hashes it to a place in the head, and walks
///   from there until it claims a free one. Lanes of a warp count requests and chunks together.
/// - When more than 83.5 % of the head is in use, a new head is sought: a slab of this size with up
///   to 60 % in use, else one of the same kind of chunks with up to 1.2 %, which changes its size,
///   else a free slab, else a busy one of this size.
/// - If there is none, all lanes that find none together search all slabs for a place
///   (sync/shared_search.hpp). Empty heads of other sizes become free, and so do slabs whose last
///   block is freed.
/// - free: the slab's word says how large its chunks are, and the block's length how many it has.
///
/// Memory layout (s slabs; c, the chunks of 16 bytes in a slab):
///
///     [ slab words: u64 {head:1 | size:5 | used chunks:32} x s ][ searches: 128 B x 4 ]
///     [ sets: 37 bitmap trees over s: free, sparse x 4 kinds, roomy x 16 sizes, busy x 16 ]
///     [ bits: c x s ][ lengths: 4 bits x c x s ][ {requests, head and lock} x 16, 128 B each ]
///     [ the handle: a copy ]
///     [ slab 0 | slab 1 | ... ]     4 MiB each, 1/64 of a heap below 256 MiB, 256 KiB at least
///
/// Invariants, while no lane allocates:
/// I1 a slab has one of the sizes or none; one without a size is free, has no chunks in use, and is
///    in the set of free slabs (place: the slab)
/// I2 a slab's word counts the bits that are set (place: the slab)
/// I3 a bit is set exactly if it belongs to a block of 1, 2, 4 or 8 chunks at a multiple of that
///    number, none of which belongs to another block (place: the word of bits)
/// I4 a slab is marked as a head exactly if it is the head of its size (place: the slab)
/// I5 any other slab with a size has chunks in use, and is in the set of its class (place: the
/// slab)
/// I6 no size is locked (place: the size)
/// I7 the words of the sets fit (place: the word)
///
/// Progress: claims, counts, frees and changes of class are lock-free. A lane waits only for the
/// one that replaces the head of its size, which never waits (heads.hpp). The loop of malloc
/// repeats when the head was replaced, when a slab has changed its kind, or when memory has come
/// back or is on its way: others make progress each time. Other repetitions are limited by
/// `patience`.
///
/// Steady load: where slabs are nearly full, most requests find no place in a head, and take part
/// in searches of all slabs. In the survey's case with 64 B, half of the requests got null, and
/// launches took up to 532 ms, by the row's rate 513 ms on average.
///
/// Null: when a round of searches has examined every slab and found no place, and nothing came back
/// meanwhile (shortages.hpp). If lanes that free and allocate keep disturbing the rounds, or an
/// empty head of another size is being replaced, after `patience` attempts. A place that another
/// lane has claimed in part and is about to give back counts as taken; so near exhaustion, two
/// requests of different sizes may both fail although one could have been served. So while all
/// lanes want one size and none frees, null is exact. A size cannot use partly filled slabs of
/// other kinds of chunks.
///
/// Deviations from the publication, and why:
/// - Requests above 3072 bytes are not served; the publication passes them to CUDA's allocator.
///   `with_large` (heap/layers) passes them to that one, or to any other manager.
/// - No blocks of 24 bytes, because they would not be aligned to 16: 17 to 24 bytes get 32.
/// - A slab's count, size and head mark are one word, in place of a counter, a descriptor and a
///   lock, and a lane that takes chunks checks the size by the atomic that counts them, so it
///   notices a slab that has changed meanwhile.
/// - The step of a walk is a prime, so that the walk visits all places. With quadratic steps, it
///   would not.
/// - A head in which a walk found nothing is searched word by word, up to 128 words. If they have
///   no place of this size, the head is replaced although it is not full.
/// - All slabs are searched, and empty heads of other sizes are taken, so that memory is neither
///   lost in slabs above 83.5 % nor bound to sizes that are no longer requested. A failed search is
///   remembered.
/// - No head in reserve, which would take a slab for each size from all others.
/// - Slabs are parts of one region, and smaller in small heaps.

#include "warpheap/core/assert.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/full_search.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/heads.hpp"
#include "warpheap/managers/halloc/inspection.hpp"
#include "warpheap/managers/halloc/places.hpp"
#include "warpheap/managers/halloc/publication.hpp"
#include "warpheap/managers/halloc/slabs.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

using halloc_parts::halloc_config;

template <halloc_config Config = halloc_config{}>
class halloc {
 public:
  using options = no_options;
  using shape_type = halloc_parts::geometry<Config>;

  static constexpr capabilities about{
      .name = "halloc",
      .description = "bitmaps of chunks in slabs, a hashed walk through the head slab of a size",
      .folder = "halloc",
      .published = halloc_parts::published,
      .deviations =
          {"Requests above 3072 bytes go to CUDA's allocator, or any other, by `with_large` only.",
           "No blocks of 24 bytes, as they would not be aligned to 16.",
           "A slab's count, size and head mark are one word, checked by each claim.",
           "A walk visits all places of a slab.",
           "When no slab can become the head, all slabs are searched, and empty heads of "
           "other sizes are taken.",
           "No second head in reserve.", "Small heaps have smaller slabs."},
      .largest_block = shape_type::largest_block,
  };

  halloc(const region& memory, const simt::device_properties& /*machine*/,
         const options& /*none*/) {
    shape_type shape(memory.bytes);
    const std::size_t most =
        std::clamp<std::size_t>(memory.bytes >> shape.slab_shift(), 1, 1u << 27);
    lay_out_most(memory, about.name, 1u, static_cast<std::uint32_t>(most),
                 [&](region_cursor& cursor, std::uint32_t count) {
                   shape.set_slabs(count);
                   places_ = halloc_parts::places<Config>(shape, cursor);
                 });
  }

  WARPHEAP_HD shape_type shape() const { return places_.shape(); }
  /// Where slab 0 begins.
  WARPHEAP_HD std::byte* first_slab() const { return places_.first_slab(); }
  WARPHEAP_HD std::size_t largest_block() const { return shape_type::largest_block; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    places_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint32_t size = shape_type::size_for(bytes);
    halloc_parts::walk route(request_number(size), shape().blocks(size),
                             shape_type::neighbours(size));
    int attempts_left = patience;
    for (;;) {
      const std::uint32_t head = heads().head(size);
      bool used_up = false;
      if (head != none) {
        const std::uint32_t chunk = look_in(head, size, route, used_up);
        if (chunk != chunk_map::none) {
          void* const block = places_.settle(head, chunk, size);
          if (block != nullptr) return block;
          continue;  // the slab has become another size's, and there is another head
        }
      }
      if (is_out(size)) return nullptr;
      // A head without a place that does not count as full will come back sooner or later.
      if (!used_up || attempts_left > patience - most_replaced) {
        const auto now = places_.renew_head(size, head, used_up);
        if (now == outcome::locked) heads().await(size, head);
        if (now != outcome::nothing) {
          if (now == outcome::replaced && used_up) --attempts_left;
          continue;
        }
      }
      void* const block = simt::call_apart(&search_apart, places_.copy(), size);
      if (block != nullptr || is_out(size) || --attempts_left <= 0) return block;
    }
  }

  WARPHEAP_DEVICE void free(void* pointer) const {
    WARPHEAP_ASSERT(pointer != nullptr);
    const auto at = places_.find(pointer);
    if (at.slab == none) return;
    const chunk_map map = slabs().map(at.slab);
    const std::uint32_t span = map.clear_length(at.chunk);
    if (span == 0) return;  // no block begins here
    map.put_back(at.chunk, span);
    const simt::group same = simt::coalesced(&places_.copy()).match(at.slab << 4 | span);
    // The chunks come off the word after all members have given them back, because with the last
    // one the slab may get another size.
    same.sync();
    if (same.is_leader()) {
      slabs().subtract(at.slab, static_cast<std::uint32_t>(same.size()) * span);
    }
    same.sync();  // now what each member has freed is free again
  }

  WARPHEAP_DEVICE std::size_t usable_size(void* pointer) const {
    const auto at = places_.find(pointer);
    return at.slab == none ? 0
                           : std::size_t{slabs().map(at.slab).length(at.chunk)} * at.chunk_bytes;
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    halloc_parts::inspector<Config>(heads(), findings).run(rank, count);
  }

 private:
  using slab_table = halloc_parts::slabs<Config>;
  using head_table = halloc_parts::heads<Config>;
  using chunk_map = halloc_parts::chunk_map;
  using outcome = typename head_table::outcome;

  static constexpr std::uint32_t none = slab_table::none;
  /// Attempts of a request that may fail without progress of others: rounds of searches that were
  /// spoilt, and heads that had no place of its size although they were not full.
  static constexpr int patience = 8;
  /// How many such heads are replaced.
  static constexpr int most_replaced = 4;
  /// Words of a head that a request searches on its own.
  static constexpr std::uint32_t searched_words = 128;

  WARPHEAP_HD const slab_table& slabs() const { return places_.table(); }
  WARPHEAP_HD const head_table& heads() const { return places_.head_slabs(); }

  WARPHEAP_DEVICE bool is_out(std::uint32_t size) const {
    return slabs().known().is_out(shape_type::kind_of(size), shape_type::span(size));
  }

  WARPHEAP_DEVICE std::uint32_t request_number(std::uint32_t size) const {
    const simt::group same = simt::coalesced(&places_.copy()).match(size);
    std::uint32_t first = 0;
    if (same.is_leader()) {
      first = heads().number_requests(size, static_cast<std::uint32_t>(same.size()));
    }
    return same.broadcast(first) + static_cast<std::uint32_t>(same.rank());
  }

  WARPHEAP_RARE static void* search_apart(const halloc_parts::places<Config>& in,
                                          std::uint32_t size) {
    return halloc_parts::full_search<Config>(in, size).run();
  }

  /// The first chunk of a place that this lane has claimed in the head; or none if the head is
  /// full, or `used_up` if it is not full but has no place of this size.
  WARPHEAP_DEVICE std::uint32_t look_in(std::uint32_t head, std::uint32_t size,
                                        halloc_parts::walk& route, bool& used_up) const {
    const chunk_map map = slabs().map(head);
    const std::uint32_t span = shape_type::span(size);
    for (std::uint32_t probe = 1; probe <= Config.probes; ++probe) {
      const std::uint32_t chunk = route.place() * span;
      if (map.try_claim(chunk, span)) return chunk;
      route.advance();
      if (probe % 2 == 0 && heads().is_full(head, size)) return chunk_map::none;
    }
    used_up = true;
    return simt::call_apart(&search_head_apart, places_.copy(), head, size, route.place());
  }

  WARPHEAP_RARE static std::uint32_t search_head_apart(const halloc_parts::places<Config>& in,
                                                       std::uint32_t head, std::uint32_t size,
                                                       std::uint32_t from) {
    const std::uint32_t span = shape_type::span(size);
    return in.table().map(head).search(from * span / chunk_map::word_chunks,
                                       in.shape().chunks(size), span, searched_words);
  }

  halloc_parts::places<Config> places_;
};

WARPHEAP_END_NAMESPACE
