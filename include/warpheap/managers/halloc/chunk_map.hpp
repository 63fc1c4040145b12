// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Which chunks of a slab are in use, one bit each, and the lengths of the blocks: four bits per
/// chunk, which hold the number of chunks of a block at its first chunk, and 0 elsewhere.
///
/// A block's bits lie in one word, because a block is 1, 2, 4 or 8 chunks at a multiple of that
/// number.
///
/// Memory orders: bits are set with acquire and cleared with release, so that what the last owner
/// did with a block comes before what the next one does. Lengths are relaxed: a length is cleared
/// before the bits are, and set after the next owner has set them. Both claims and returns are
/// acq_rel, as `shortages` requires.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/halloc/shortages.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

class chunk_map {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t word_chunks = 32;
  static constexpr std::uint32_t length_chunks = 8;  // of a word of lengths

  WARPHEAP_DEVICE chunk_map(std::uint32_t* bits, std::uint32_t* lengths, shortages known)
      : bits_(bits), lengths_(lengths), known_(known) {}

  /// Takes the `span` chunks from `chunk` on, if all of them seem to be free.
  WARPHEAP_DEVICE bool try_claim(std::uint32_t chunk, std::uint32_t span) const {
    const std::uint32_t mask = mask_of(chunk, span);
    // Relaxed: this look only saves the atomics for places that are taken.
    if ((word_of(chunk).load(simt::order::relaxed) & mask) != 0) return false;
    std::uint32_t before = 0;
    return claim(chunk, mask, before);
  }

  /// Takes the first free block that it sees, starting at word `start` and wrapping around, in at
  /// most `most` words. Returns the block's first chunk, or `none`.
  /// \param chunks the chunks of the slab that blocks of this span can use
  ///
  /// Lock-free: looks at a word again only if another lane has taken a place in it meanwhile.
  WARPHEAP_DEVICE std::uint32_t search(std::uint32_t start, std::uint32_t chunks,
                                       std::uint32_t span, std::uint32_t most) const {
    const std::uint32_t words = ceil_div(chunks, word_chunks);
    for (std::uint32_t i = 0; i < words && i < most; ++i) {
      const std::uint32_t word = place_in_round(start % words, i, words);
      std::uint32_t known = bits(word);
      for (;;) {
        const std::uint32_t places = places_in(word, known, chunks, span);
        if (places == 0) break;
        const std::uint32_t chunk =
            word * word_chunks + static_cast<std::uint32_t>(lowest_bit(places));
        if (claim(chunk, mask_of(chunk, span), known)) return chunk;
      }
    }
    return none;
  }

  /// The bits of word `word`, read as `shortages` requires.
  WARPHEAP_DEVICE std::uint32_t examine(std::uint32_t word) const {
    return simt::atomic_ref(bits_[word]).fetch_or(0, simt::order::acq_rel);
  }

  /// Bit i is set if a block of `span` may begin at chunk i of a word with these bits, in a slab of
  /// this many chunks.
  WARPHEAP_HD static constexpr std::uint32_t places_in(std::uint32_t word, std::uint32_t used,
                                                       std::uint32_t chunks, std::uint32_t span) {
    const std::uint32_t first = word * word_chunks;
    if (first >= chunks) return 0;
    const std::uint32_t left = chunks - first;
    return free_places(used, span) &
           low_bits<std::uint32_t>(left < word_chunks ? static_cast<int>(left) : 32);
  }

  /// Gives chunks back. Their user is done with them, and their length is cleared.
  WARPHEAP_DEVICE void put_back(std::uint32_t chunk, std::uint32_t span) const {
    word_of(chunk).fetch_and(~mask_of(chunk, span), simt::order::acq_rel);
  }

  /// The owner of the block at `chunk` notes how many chunks it has.
  WARPHEAP_DEVICE void set_length(std::uint32_t chunk, std::uint32_t span) const {
    length_word(chunk).fetch_or(span << length_shift(chunk), simt::order::relaxed);
  }
  WARPHEAP_DEVICE std::uint32_t length(std::uint32_t chunk) const {
    return length_word(chunk).load(simt::order::relaxed) >> length_shift(chunk) & length_mask;
  }
  /// Whether none of the `length_chunks` chunks from `chunk` on begins a block.
  WARPHEAP_DEVICE bool has_no_length(std::uint32_t chunk) const {
    return length_word(chunk).load(simt::order::relaxed) == 0;
  }
  /// Clears the length of the block at `chunk`, and returns it; 0 if no block starts there.
  WARPHEAP_DEVICE std::uint32_t clear_length(std::uint32_t chunk) const {
    const std::uint32_t before =
        length_word(chunk).fetch_and(~(length_mask << length_shift(chunk)), simt::order::relaxed);
    return before >> length_shift(chunk) & length_mask;
  }

  /// The bits of word `word`.
  WARPHEAP_DEVICE std::uint32_t bits(std::uint32_t word) const {
    return simt::atomic_ref(bits_[word]).load(simt::order::relaxed);
  }

  /// Bit i is set if a block of `span` may begin at chunk i and these chunks are free.
  WARPHEAP_HD static constexpr std::uint32_t free_places(std::uint32_t used, std::uint32_t span) {
    std::uint32_t free = ~used;
    for (std::uint32_t width = 1; width < span; width *= 2) free &= free >> width;
    const std::uint32_t multiples_of_span = ~0u / low_bits<std::uint32_t>(static_cast<int>(span));
    return free & multiples_of_span;
  }

 private:
  static constexpr std::uint32_t length_mask = 15;

  WARPHEAP_HD static constexpr std::uint32_t mask_of(std::uint32_t chunk, std::uint32_t span) {
    return bit_range<std::uint32_t>(static_cast<int>(chunk % word_chunks), static_cast<int>(span));
  }
  WARPHEAP_HD static constexpr std::uint32_t length_shift(std::uint32_t chunk) {
    return chunk % length_chunks * 4;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> word_of(std::uint32_t chunk) const {
    return simt::atomic_ref(bits_[chunk / word_chunks]);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> length_word(std::uint32_t chunk) const {
    return simt::atomic_ref(lengths_[chunk / length_chunks]);
  }

  /// Sets the bits of a place. If some of them were set, clears those that this call has set.
  WARPHEAP_DEVICE bool claim(std::uint32_t chunk, std::uint32_t mask, std::uint32_t& before) const {
    before = word_of(chunk).fetch_or(mask, simt::order::acq_rel);
    if ((before & mask) == 0) return true;
    const std::uint32_t mine = mask & ~before;
    if (mine != 0) {
      word_of(chunk).fetch_and(~mine, simt::order::acq_rel);
      known_.end_all();  // a search may have taken them for taken
    }
    return false;
  }

  std::uint32_t* bits_;
  std::uint32_t* lengths_;
  shortages known_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
