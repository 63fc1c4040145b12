// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The chunks of the manager `warpheap`: to whom each belongs, and which of its slots are in use.
///
///     state of a chunk, 64 bits:  [ owner: 31 | listed: 1 | holds: 32 ]
///     word of a chunk, 64 bits:   [ hidden: 1 | tag: 15 | used: 48 ]
///
/// The owner is a size class, or one of the values of `chunk_owner`. A chunk changes its owner only
/// while nothing holds it. It is held by each word that has slots in use, and for a moment by lanes
/// that are about to put the first slot of a word into use. `listed` says that the chunk is, or is
/// about to be, among those that nothing may hold.
///
/// A word with slots in use has the tag of its owner; the tag of an empty word means nothing. So a
/// lane that believes that a chunk belongs to its class finds out by the claim itself whether it
/// does: either the compare-exchange sees the tag, or, in an empty word, the lane has held the
/// chunk before and has seen the owner.
///
/// `hidden` is set in a full word that lanes do not find any more when they look for slots. The
/// lane that frees a slot of a hidden word and clears the bit makes sure that the word is found
/// again.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How the slots of a class lie in a chunk: word after word.
struct warpheap_slots {
  std::uint32_t bytes;  ///< of a slot
  std::uint32_t count;  ///< of slots in a chunk
  std::uint32_t words;  ///< that have a bit for each
};

/// Owners of chunks beside the size classes, which are numbers from `first_class` on.
namespace chunk_owner {
inline constexpr std::uint32_t nobody = 0;      ///< in the pool, or on its way
inline constexpr std::uint32_t run = 1;         ///< the first chunk of a large block
inline constexpr std::uint32_t run_inside = 2;  ///< another chunk of it
inline constexpr std::uint32_t first_class = 3;
}  // namespace chunk_owner

template <warpheap_config Config>
class warpheap_chunks {
 public:
  static constexpr int word_slots = Config.word_slots;
  /// States are a sector of memory apart: many lanes change those of neighbours at once.
  static constexpr std::uint32_t state_stride = 4;
  static_assert(word_slots >= 1 && word_slots <= 48,
                "warpheap_config::word_slots must lie between 1 and 48");

  /// What came of a claim.
  struct claimed {
    std::uint64_t bits = 0;  ///< the slots of the word that the caller has now
    std::uint64_t room = 0;  ///< the slots of the word that were free
    bool foreign = false;    ///< the word belongs to another owner
  };

  /// Words of a chunk of the class with the smallest slots.
  WARPHEAP_HD static constexpr std::size_t words_for(std::uint32_t chunk_bytes) {
    return ceil_div<std::size_t>(chunk_bytes / 16, word_slots);
  }

  warpheap_chunks() = default;
  /// \param states `state_stride` a chunk
  /// \param words `words_for(chunk_bytes)` a chunk
  warpheap_chunks(std::uint64_t* states, std::uint64_t* words, std::uint32_t chunk_bytes)
      : states_(states),
        words_(words),
        stride_(static_cast<std::uint32_t>(words_for(chunk_bytes))) {}

  WARPHEAP_HD std::uint32_t stride() const { return stride_; }

  WARPHEAP_DEVICE void format(std::uint64_t chunks, std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < chunks * state_stride; i += count) states_[i] = 0;
    for (std::uint64_t i = rank; i < chunks * stride_; i += count) words_[i] = 0;
  }

  // The state of a chunk.

  WARPHEAP_HD static constexpr std::uint32_t owner_of(std::uint64_t state) {
    return static_cast<std::uint32_t>(state >> owner_shift);
  }
  WARPHEAP_HD static constexpr std::uint32_t holds_of(std::uint64_t state) {
    return static_cast<std::uint32_t>(state);
  }
  WARPHEAP_HD static constexpr bool is_listed(std::uint64_t state) { return (state & listed) != 0; }
  /// Relaxed: for those who know that the owner cannot change, or who only guess.
  WARPHEAP_DEVICE std::uint64_t look(std::uint32_t chunk) const {
    return state(chunk).load(simt::order::relaxed);
  }
  /// Whether the chunk has this owner. A read-modify-write: who gives it away later sees what the
  /// caller has done.
  WARPHEAP_DEVICE bool belongs_to(std::uint32_t chunk, std::uint32_t owner) const {
    return owner_of(state(chunk).fetch_add(0, simt::order::acq_rel)) == owner;
  }
  /// Gives a chunk that belongs to `from`, and that the caller alone may give away, to `to`. An
  /// addition, for lanes that are mistaken about the owner may hold the chunk at any time. A chunk
  /// that comes to a class is listed, and the caller sees to that.
  WARPHEAP_DEVICE void hand_over(std::uint32_t chunk, std::uint32_t from, std::uint32_t to) const {
    const std::uint64_t change = (std::uint64_t{to} - from) << owner_shift;
    state(chunk).fetch_add(change + (to >= chunk_owner::first_class ? listed : 0),
                           simt::order::acq_rel);
  }
  /// Takes a chunk from its class if nothing holds it: the class, or `nobody` if that failed. The
  /// caller has taken it off the list; a lane that lets go of it later puts it back.
  WARPHEAP_DEVICE std::uint32_t take_unheld(std::uint32_t chunk) const {
    std::uint64_t now = state(chunk).fetch_and(~listed, simt::order::acq_rel) & ~listed;
    const std::uint32_t owner = owner_of(now);
    if (holds_of(now) != 0 || owner < chunk_owner::first_class) return chunk_owner::nobody;
    return state(chunk).compare_exchange(now, 0, simt::order::acq_rel) ? owner
                                                                       : chunk_owner::nobody;
  }
  /// Lets go of a chunk; true if nothing holds it any more and it is not listed.
  WARPHEAP_DEVICE bool let_go(std::uint32_t chunk) const {
    const std::uint64_t before = state(chunk).fetch_sub(1, simt::order::acq_rel);
    return holds_of(before) == 1 && !is_listed(before) &&
           owner_of(before) >= chunk_owner::first_class;
  }
  /// Marks a chunk as listed; true if the caller has to put it on the list: it belongs to a class,
  /// and was not listed.
  WARPHEAP_DEVICE bool enlist(std::uint32_t chunk) const {
    std::uint64_t now = look(chunk);
    do {
      if (is_listed(now) || owner_of(now) < chunk_owner::first_class) return false;
    } while (!state(chunk).compare_exchange(now, now | listed, simt::order::acq_rel));
    return true;
  }

  // The words of a chunk.

  /// The slots that word `number` has, as bits.
  WARPHEAP_HD static constexpr std::uint64_t slots_in(const warpheap_slots& slots,
                                                      std::uint32_t number) {
    const std::uint32_t left = slots.count - number * word_slots;
    return low_bits<std::uint64_t>(left < word_slots ? static_cast<int>(left) : word_slots);
  }
  WARPHEAP_HD static constexpr std::uint64_t used_of(std::uint64_t word) {
    return word & used_mask;
  }
  WARPHEAP_HD static constexpr bool is_hidden(std::uint64_t word) { return (word & hidden) != 0; }
  /// Whether the slots in use are those of a class.
  WARPHEAP_HD static constexpr bool is_of(std::uint64_t word, std::uint32_t owner) {
    return (word & tag_mask) == tag_of(owner);
  }
  WARPHEAP_DEVICE std::uint64_t word(std::uint32_t chunk, std::uint32_t number) const {
    return ref(chunk, number).load(simt::order::relaxed);
  }

  /// Puts up to `want` free slots of a word into use, neighbours if there are, from bit `from` on.
  /// \param seen what the word was lately
  /// \param unheld called with the chunk if nothing holds it any more and it is not listed
  /// Lock-free: tries again only when another lane has changed the word.
  template <class Unheld>
  WARPHEAP_DEVICE claimed claim(std::uint32_t chunk, std::uint32_t number, std::uint64_t seen,
                                std::uint32_t owner, const warpheap_slots& slots, int want,
                                int from, const Unheld& unheld) const {
    const std::uint64_t all = slots_in(slots, number);
    claimed result;
    bool holds = false;
    for (;;) {
      const std::uint64_t used = used_of(seen);
      if (used != 0 && !is_of(seen, owner)) {
        result.foreign = true;
        break;
      }
      result.room = all & ~used;
      if (result.room == 0) break;
      if (used == 0 && !holds) {
        // Acquire, so that the claim comes later. Pairs with `hand_over` and `take_unheld`.
        const std::uint64_t before = state(chunk).fetch_add(1, simt::order::acquire);
        holds = true;
        if (owner_of(before) != owner) {
          result.foreign = true;
          break;
        }
      }
      const std::uint64_t bits = choose(result.room, want, from);
      // Left to the lane that has emptied the word and is about to clear it.
      const std::uint64_t kept = is_of(seen, owner) ? seen & hidden : 0;
      // Acquire pairs with the release in `give_back`: the last owner's accesses come before the
      // next one's. The first claim in a word releases as well: those behind it, which have not
      // seen the chunk's state, learn from it to whom the chunk belongs, and so do lanes that free.
      const simt::order o = used == 0 ? simt::order::acq_rel : simt::order::acquire;
      if (ref(chunk, number).compare_exchange(seen, kept | tag_of(owner) | used | bits, o)) {
        result.bits = bits;
        if (used == 0) holds = false;  // the word holds the chunk now
        break;
      }
    }
    if (holds && let_go(chunk)) unheld(chunk);
    return result;
  }

  /// Takes slots out of use, which the caller had; what the word was before.
  WARPHEAP_DEVICE std::uint64_t give_back(std::uint32_t chunk, std::uint32_t number,
                                          std::uint64_t bits) const {
    return ref(chunk, number).fetch_and(~bits, simt::order::release);
  }

  /// Orders what lanes did before they changed a word, by `give_back` or `hide`, before what the
  /// caller does next. Acquire pairs with their releases: all changes of a word are
  /// read-modify-writes, so later ones do not break the sequence.
  WARPHEAP_DEVICE void meet_changes(std::uint32_t chunk, std::uint32_t number) const {
    static_cast<void>(ref(chunk, number).load(simt::order::acquire));
  }

  /// Marks a word of an owner as hidden if it is full; whether it was. A read-modify-write also if
  /// it is hidden already: of the caller and a lane that frees a slot the later one sees the
  /// other's change. A word of another owner is never marked: its lanes know nothing of the caller.
  WARPHEAP_DEVICE bool hide(std::uint32_t chunk, std::uint32_t number, std::uint32_t owner,
                            const warpheap_slots& slots) const {
    std::uint64_t seen = word(chunk, number);
    do {
      if (used_of(seen) != slots_in(slots, number) || !is_of(seen, owner)) return false;
    } while (!ref(chunk, number).compare_exchange(seen, seen | hidden, simt::order::acq_rel));
    return true;
  }
  /// Clears that mark; whether it was there. A word of another owner is left alone.
  WARPHEAP_DEVICE bool unhide(std::uint32_t chunk, std::uint32_t number,
                              std::uint32_t owner) const {
    std::uint64_t seen = word(chunk, number);
    do {
      if (!is_hidden(seen) || (used_of(seen) != 0 && !is_of(seen, owner))) return false;
    } while (!ref(chunk, number).compare_exchange(seen, seen & ~hidden, simt::order::acq_rel));
    return true;
  }

 private:
  static constexpr std::uint64_t used_mask = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t tag_mask = std::uint64_t{0x7fff} << 48;
  static constexpr std::uint64_t hidden = std::uint64_t{1} << 63;
  static constexpr std::uint64_t listed = std::uint64_t{1} << 32;
  static constexpr int owner_shift = 33;

  WARPHEAP_HD static constexpr std::uint64_t tag_of(std::uint32_t owner) {
    return std::uint64_t{owner} << 48;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> state(std::uint32_t chunk) const {
    return simt::atomic_ref(states_[std::size_t{chunk} * state_stride]);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> ref(std::uint32_t chunk,
                                                      std::uint32_t number) const {
    return simt::atomic_ref(words_[std::size_t{chunk} * stride_ + number]);
  }

  /// `want` of `room`, or all if there are fewer, from bit `from` on and round the end.
  WARPHEAP_DEVICE static std::uint64_t choose(std::uint64_t room, int want, int from) {
    const std::uint64_t ahead = room & ~low_bits<std::uint64_t>(from);
    const int there = popcount(ahead);
    if (there >= want) return lowest(ahead, want);
    return ahead | lowest(room & low_bits<std::uint64_t>(from), want - there);
  }
  WARPHEAP_DEVICE static std::uint64_t lowest(std::uint64_t bits, int count) {
    if (count == 1) return bits & (~bits + 1);
    if (popcount(bits) <= count) return bits;
    return bits & low_bits<std::uint64_t>(kth_set_bit(bits, count));
  }

  std::uint64_t* states_ = nullptr;
  std::uint64_t* words_ = nullptr;
  std::uint32_t stride_ = 0;
};

WARPHEAP_END_NAMESPACE
