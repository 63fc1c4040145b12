// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Owners of chunks other than the size classes, which are numbers from `first_class` on.
namespace chunk_owner {
inline constexpr std::uint32_t nobody = 0;  ///< in the pool, on its way, or inside a large block
inline constexpr std::uint32_t run = 1;     ///< the first chunk of a large block
inline constexpr std::uint32_t first_class = 2;
}  // namespace chunk_owner

/// The owner of each chunk of the manager `warpheap`, and how many of its words are in use. What
/// that means: chunks.hpp.
///
///     state of a chunk, 32 bits:  [ words in use: 18 | closing: 1 | 0: 1 | owner: 12 ]
///
/// Each word is counted in before it is counted out. So a chunk whose count is zero while all of
/// its words are closed belongs to the closing lane alone.
class warpheap_chunk_states {
 public:
  /// What of a state is its flag, or counts a word in use.
  static constexpr std::uint32_t closing = 1u << 13;
  static constexpr std::uint32_t word_in_use = 1u << 14;

  /// As many states as a load brings to a multiprocessor.
  static constexpr std::uint32_t at_a_look = 32;
  /// How many states a heap of that many chunks keeps: they are loaded four at a time.
  WARPHEAP_HD static constexpr std::uint32_t states_for(std::uint32_t universe) {
    return align_up<std::uint32_t>(universe, 4);
  }

  warpheap_chunk_states() = default;
  /// \param states `states_for` all chunks, aligned to 128 bytes
  WARPHEAP_HD explicit warpheap_chunk_states(std::uint32_t* states) : states_(states) {}

  /// Gives `universe` chunks no owner.
  WARPHEAP_DEVICE void format(std::uint32_t universe, std::uint64_t rank,
                              std::uint64_t count) const {
    for (std::uint64_t i = rank; i < states_for(universe); i += count) states_[i] = 0;
  }

  WARPHEAP_HD static constexpr std::uint32_t owner_of(std::uint32_t state) {
    return state & owner_mask;
  }
  WARPHEAP_HD static constexpr std::uint32_t words_in_use(std::uint32_t state) {
    return state / word_in_use;
  }
  /// Relaxed: for lanes that know that the owner cannot change, or that only need a guess.
  WARPHEAP_DEVICE std::uint32_t look(std::uint32_t chunk) const {
    return state(chunk).load(simt::order::relaxed);
  }
  /// Never an old value. Acquire pairs with `begin_closing`.
  WARPHEAP_DEVICE std::uint32_t examine(std::uint32_t chunk) const {
    return state(chunk).fetch_or(0, simt::order::acq_rel);
  }
  /// Gives a chunk, which only the caller may give away, to an owner. Relaxed: others learn of it
  /// from the words, or by the address of a block.
  WARPHEAP_DEVICE void give(std::uint32_t chunk, std::uint32_t to) const {
    state(chunk).store(to, simt::order::relaxed);
  }
  /// Relaxed: the next lane to count this word out learns of the block from this lane.
  WARPHEAP_DEVICE void count_in(std::uint32_t chunk) const {
    state(chunk).fetch_add(word_in_use, simt::order::relaxed);
  }
  /// Whether no word of the chunk was in use then. Relaxed: that lane then changes, or looks at by
  /// a read-modify-write, what tells the empty chunks. A GPU does not write before the access here
  /// on which that depends, as for `acquire_to_write`, although PTX promises it for an acquire
  /// alone; so if `begin_closing` came earlier, the lane sees that the chunk was taken out of the
  /// set. An acquire would also make the multiprocessor discard its hints (docs/decisions/0033).
  WARPHEAP_DEVICE bool count_out(std::uint32_t chunk) const {
    return words_in_use(state(chunk).fetch_sub(word_in_use, simt::order::relaxed)) == 1;
  }
  /// The class of a chunk of which no word is in use, for the one caller that may close its words
  /// now; else `chunk_owner::nobody`.
  WARPHEAP_DEVICE std::uint32_t begin_closing(std::uint32_t chunk) const {
    std::uint32_t now = state(chunk).fetch_or(0, simt::order::acq_rel);
    for (;;) {
      if (owner_of(now) < chunk_owner::first_class || now >= closing) return chunk_owner::nobody;
      if (state(chunk).compare_exchange(now, now | closing, simt::order::acq_rel)) {
        return owner_of(now);
      }
    }
  }
  /// Takes a chunk whose words the caller has closed from its class, if no lane is about to count a
  /// word out. Then it has no owner.
  WARPHEAP_DEVICE bool end_closing(std::uint32_t chunk) const {
    std::uint32_t now = look(chunk);
    while (words_in_use(now) == 0) {
      if (state(chunk).compare_exchange(now, chunk_owner::nobody, simt::order::acq_rel))
        return true;
    }
    return false;
  }
  /// Whether no word of the chunk is in use; what follows then is as for `count_out`. Release pairs
  /// with `begin_closing`: the next lane to close words finds these open again.
  WARPHEAP_DEVICE bool give_up_closing(std::uint32_t chunk) const {
    return words_in_use(state(chunk).fetch_and(~closing, simt::order::release)) == 0;
  }

  // Several states at a time, as far as the multiprocessor knows them.

  /// How many of `at_a_look` chunks from `first` on, a multiple of it, belong to classes other than
  /// `owner` and have no word in use.
  WARPHEAP_DEVICE int left_empty(std::uint32_t first, std::uint32_t universe,
                                 std::uint32_t owner) const {
    const std::uint32_t end = first + at_a_look < universe ? first + at_a_look : universe;
    int count = 0;
    for (std::uint32_t i = first; i < end; i += 4) {
      for (const std::uint32_t state : four_from(i).states) {
        const std::uint32_t of = owner_of(state);
        const bool is_other = of >= chunk_owner::first_class && of != owner;
        count += is_other && words_in_use(state) == 0 ? 1 : 0;
      }
    }
    return count;
  }
  /// Which of the 64 chunks from `first` on, a multiple of that, have a word in use. Each of `size`
  /// callers does a share.
  WARPHEAP_DEVICE std::uint64_t in_use(std::uint32_t first, std::uint32_t universe,
                                       std::uint32_t rank, std::uint32_t size) const {
    std::uint64_t bits = 0;
    for (std::uint32_t i = rank * 4; i < 64 && first + i < universe; i += size * 4) {
      const four known = four_from(first + i);
      for (std::uint32_t k = 0; k < 4; ++k) {
        bits |= std::uint64_t{words_in_use(known.states[k]) != 0 ? 1u : 0u} << (i + k);
      }
    }
    return bits;
  }

 private:
  static constexpr std::uint32_t owner_mask = (1u << 12) - 1;

  struct alignas(16) four {
    std::uint32_t states[4];
  };
  WARPHEAP_DEVICE four four_from(std::uint32_t chunk) const {
    return simt::load_hints(reinterpret_cast<four&>(states_[chunk]));
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> state(std::uint32_t chunk) const {
    return simt::atomic_ref(states_[chunk]);
  }

  std::uint32_t* states_ = nullptr;
};

WARPHEAP_END_NAMESPACE
