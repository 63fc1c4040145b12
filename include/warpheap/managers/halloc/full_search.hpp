// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The last resort of requests: a search of all slabs for a place, shared by all lanes that need a
/// place for the same kind of chunks. Free slabs and empty heads of other sizes are taken whole.

#include "warpheap/core/align.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/places.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// Lives for one round of one lane, in which it wants a block of `size`.
template <halloc_config Config>
class full_search {
 public:
  using shape_type = geometry<Config>;
  using slab_table = slabs<Config>;

  WARPHEAP_DEVICE full_search(const places<Config>& where, std::uint32_t size)
      : places_(where),
        slabs_(where.table()),
        size_(size),
        kind_(shape_type::kind_of(size)),
        span_(shape_type::span(size)) {}

  /// A block, or null if nothing suits or others spoilt the round.
  WARPHEAP_DEVICE void* run() const {
    void* block = nullptr;
    const simt::group same = simt::coalesced(&places_.copy()).match(size_);
    slabs_.known().searches(kind_).search(
        same, slabs_.shape().slabs() * parts(), [&] { return block == nullptr ? span_ : 0u; },
        [&](std::uint32_t first, std::uint32_t count) {
          std::uint32_t left = 0;
          for (std::uint32_t part = first; part < first + count; ++part) {
            const std::uint32_t here = visit(same, part, block);
            left = here > left ? here : left;
          }
          return left;
        });
    same.sync();  // orders members after what the lanes that served them have acquired
    return block;
  }

 private:
  /// Words of bits in a part of a slab, which is one place of the shared search.
  static constexpr std::uint32_t part_words = 128;
  /// The note about a slab that suits any block, or that is about to change.
  static constexpr std::uint32_t anything = shape_type::largest_span;

  WARPHEAP_DEVICE std::uint32_t parts() const {
    return ceil_div(slabs_.shape().slab_bytes(),
                    shape_type::chunk_bytes(kind_) * chunk_map::word_chunks * part_words);
  }

  /// Examines a part of a slab, and serves the members of `same` from it. Returns the chunks of the
  /// longest block that fits into what is left, or more.
  WARPHEAP_DEVICE std::uint32_t visit(const simt::group& same, std::uint32_t part,
                                      void*& block) const {
    const std::uint32_t slab = part / parts();
    const std::uint32_t number = part % parts();
    std::uint64_t word = 0;
    if (same.is_leader()) word = slabs_.examine(slab).bits();
    same.sync();  // what the leader has acquired is the members' as well
    const slab_word now(same.broadcast(word));
    if (slab_table::suits(now, size_)) {
      const std::uint32_t most = most_chunks();
      const std::uint32_t free = now.used() < most ? most - now.used() : 0;
      if (free < span_) return free;
      return simt::call_apart(&words_apart, *this, same, slab, number * part_words, block);
    }
    if (number != 0 || (now.bound() && now.used() != 0)) return 0;
    if (same.is_leader() && block == nullptr) {
      block = simt::call_apart(&slab_apart, *this, slab, now.bits());
    }
    return anything;
  }

  // Separate functions, because a kernel needs as many registers as the function that uses the
  // most.
  WARPHEAP_RARE static std::uint32_t words_apart(const full_search& self, simt::group same,
                                                 std::uint32_t slab, std::uint32_t first,
                                                 void*& block) {
    return self.visit_words(same, slab, first, block);
  }
  WARPHEAP_RARE static void* place_apart(const full_search& self, std::uint32_t slab,
                                         std::uint32_t word, std::uint32_t room, int nth) {
    return self.take_place(slab, word, room, nth);
  }
  WARPHEAP_RARE static void* slab_apart(const full_search& self, std::uint32_t slab,
                                        std::uint64_t now) {
    return self.take_slab(slab, slab_word(now));
  }

  /// Like `visit`, for `part_words` words from `first` on.
  WARPHEAP_DEVICE std::uint32_t visit_words(const simt::group& same, std::uint32_t slab,
                                            std::uint32_t first, void*& block) const {
    const chunk_map map = slabs_.map(slab);
    const std::uint32_t words = ceil_div(most_chunks(), chunk_map::word_chunks);
    const std::uint32_t end = first + part_words < words ? first + part_words : words;
    const auto size = static_cast<std::uint32_t>(same.size());
    const std::uint32_t chunks = slabs_.shape().chunks(size_);
    std::uint32_t longest = 0;
    for (std::uint32_t base = first; base < end; base += size) {
      const std::uint32_t mine = base + static_cast<std::uint32_t>(same.rank());
      std::uint32_t used = mine < end ? map.examine(mine) : ~0u;
      const std::uint32_t room = chunk_map::places_in(mine, used, chunks, span_);
      simt::lane_mask found = same.ballot(room != 0);
      simt::lane_mask left = same.ballot(block == nullptr);
      for (; !found.empty() && !left.empty(); found = found.without(found.lowest())) {
        const std::uint32_t there = same.shuffle(mine, found.lowest());
        const std::uint32_t room_there = same.shuffle(room, found.lowest());
        if (block == nullptr) {
          block = simt::call_apart(&place_apart, *this, slab, there, room_there,
                                   simt::group(left).rank());
        }
        left = same.ballot(block == nullptr);
      }
      if (room != 0) used = map.examine(mine);  // again: the members have taken some of it
      const std::uint32_t here = longest_in(mine, used);
      longest = here > longest ? here : longest;
    }
    return longest;
  }

  /// The block at the `nth` place of a word, if there are as many places and it is still free.
  WARPHEAP_DEVICE void* take_place(std::uint32_t slab, std::uint32_t word, std::uint32_t room,
                                   int nth) const {
    if (nth >= popcount(room)) return nullptr;
    const std::uint32_t chunk =
        word * chunk_map::word_chunks + static_cast<std::uint32_t>(kth_set_bit(room, nth));
    return slabs_.map(slab).try_claim(chunk, span_) ? places_.settle(slab, chunk, size_) : nullptr;
  }

  /// A block of a slab that is free, or empty with another kind of chunks.
  WARPHEAP_DEVICE void* take_slab(std::uint32_t slab, slab_word now) const {
    if (now.head()) {
      places_.head_slabs().release_head(slab);
    } else if (now.bound()) {
      slabs_.release(slab);
    }
    if (!slabs_.open(slab, size_)) return nullptr;
    const std::uint32_t chunks = slabs_.shape().chunks(size_);
    const std::uint32_t chunk = slabs_.map(slab).search(0, chunks, span_, chunks);
    if (chunk == chunk_map::none) {
      slabs_.subtract(slab, span_);
      return nullptr;
    }
    return places_.block_of(slab, chunk, size_);  // its chunks are counted
  }

  /// The longest block for which a word with these bits has a place.
  WARPHEAP_DEVICE std::uint32_t longest_in(std::uint32_t word, std::uint32_t used) const {
    for (std::uint32_t span = shape_type::largest_span, i = 3; span != 0; span /= 2, --i) {
      const std::uint32_t chunks = slabs_.shape().chunks(shape_type::size_of(kind_, i));
      if (chunk_map::places_in(word, used, chunks, span) != 0) return span;
    }
    return 0;
  }

  /// The chunks of a slab of this kind, for the size that uses the most of them.
  WARPHEAP_DEVICE std::uint32_t most_chunks() const {
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t chunks = slabs_.shape().chunks(shape_type::size_of(kind_, i));
      most = chunks > most ? chunks : most;
    }
    return most;
  }

  const places<Config>& places_;
  const slab_table& slabs_;
  std::uint32_t size_;
  std::uint32_t kind_;
  std::uint32_t span_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
