// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The chunks of the manager `warpheap`: the owner of each, and which of its slots are in
/// use.
///
///     word of a chunk, 64 bits:   [ full: 1 | tag: 15 | used: 48 ]
///
/// The owner of a chunk (chunk_states.hpp) is a size class, or one of the values of `chunk_owner`.
/// All words of a chunk of a class have the tag of its owner, those of other chunks have the tag 0.
/// So a lane that assumes that a chunk belongs to its class verifies that by the claim itself, and
/// nothing else changes when a slot is taken or given back, unless its word was empty or becomes
/// empty: then it is counted in or out of the chunk's words in use. A lane counts a word in before
/// its block is known to others, so each word is counted in before it is counted out, and a chunk
/// whose count is zero while all of its words are closed belongs to the closing lane alone.
///
/// How free slots are found when few are left:
/// - A lane that finds no free slot in a word sets `full` in it. Only a lane that has taken an
///   offer of the word (offers.hpp), or has found the whole chunk empty, claims a slot of a marked
///   word. A lane that frees one offers the word before it returns. If it cannot, or if the word
///   has several free slots, it removes the mark, unless another lane has done so. So a marked word
///   has at most as many free slots as there are offers of it; surplus offers lead to nothing.
/// - A word that may have free slots and is not marked is listed (listed_words.hpp), and a chunk
///   with such a word is in its class's set of open chunks. Lanes take what they find full from the
///   list and the set, look again, and put it back if they were wrong. So a free slot may be hidden
///   for a moment, by a lane that never waits.
/// - The number of words of a class that are not marked is counted: up before a mark is removed,
///   down after one is set. So a class whose count is zero, and which has no offers, has no free
///   slots except those whose `free` has not returned.
/// Why no free slot is lost: a word is taken from the list before it is marked, both by
/// read-modify-writes. Either the lane that marks sees the free slot, and lists the word again, or
/// the lane that frees sees the mark, and lists the word after that. The same holds for the list
/// and the set of chunks; of 64 words of a chunk, the lane that lists the first one inserts it.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/warpheap/chunk_states.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How the slots of a class are laid out in a chunk: word after word, all with equally many slots
/// except for the last ones. So one word is likely to serve a group of lanes, whatever the size.
struct alignas(16) warpheap_slots {
  std::uint32_t bytes;     ///< of a slot
  std::uint32_t count;     ///< of slots in a chunk
  std::uint32_t words;     ///< that have a bit for each
  std::uint32_t per_word;  ///< slots of a word

  /// A chunk with at most as many slots has as many in a word as a warp has lanes, or a few more,
  /// as far as that divides them. Then each warp of a launch gets a word to itself, although its
  /// class has hardly more chunks than it needs, as is usual for one with an order
  /// (class_orders.hpp). Words of smaller slots have more, so that in a full heap a lane's word has
  /// a free one more often (docs/decisions/0057).
  static constexpr std::uint32_t most_for_warps = 512;

  /// \param word_slots of a word, at most \param most_words of a chunk; enough for words of that
  /// many slots
  WARPHEAP_HD static constexpr warpheap_slots of(std::uint32_t bytes, std::uint32_t count,
                                                 int word_slots, std::uint32_t most_words) {
    const std::uint32_t least = ceil_div(count, static_cast<std::uint32_t>(word_slots));
    const std::uint32_t for_warps = count <= most_for_warps ? count / simt::warp_size : 0;
    const std::uint32_t wanted = for_warps < most_words ? for_warps : most_words;
    const std::uint32_t per_word = ceil_div(count, wanted < least ? least : wanted);
    return {bytes, count, ceil_div(count, per_word), per_word};
  }
  /// Whether a warp takes all slots of a word, but for a few.
  WARPHEAP_HD constexpr bool suits_warps() const {
    return per_word >= simt::warp_size && per_word < simt::warp_size * 5 / 4;
  }
};

template <warpheap_config Config>
class warpheap_chunks : public warpheap_chunk_states {
 public:
  static constexpr int word_slots = Config.word_slots;
  static_assert(word_slots >= 1 && word_slots <= 48,
                "warpheap_config::word_slots must lie between 1 and 48");

  /// The outcome of a claim.
  struct claimed {
    std::uint64_t bits = 0;  ///< the slots of the word that the caller has now
    bool was_empty = false;  ///< no slot of the word was in use
  };

  /// Words of a chunk of the class with the smallest slots.
  WARPHEAP_HD static constexpr std::size_t words_for(std::uint32_t chunk_bytes) {
    return ceil_div<std::size_t>(chunk_bytes / 16, word_slots);
  }

  warpheap_chunks() = default;
  /// \param states `states_for` all chunks, aligned to 128 bytes
  /// \param words `words_for(chunk_bytes)` a chunk
  warpheap_chunks(std::uint32_t* states, std::uint64_t* words, std::uint32_t chunk_bytes)
      : warpheap_chunk_states(states),
        words_(words),
        stride_(static_cast<std::uint32_t>(words_for(chunk_bytes))) {}

  WARPHEAP_HD std::uint32_t stride() const { return stride_; }

  /// Formats `universe` chunks without an owner. Does not touch the words of those from `backed`
  /// on.
  WARPHEAP_DEVICE void format(std::uint32_t universe, std::uint64_t backed, std::uint64_t rank,
                              std::uint64_t count) const {
    warpheap_chunk_states::format(universe, rank, count);
    for (std::uint64_t i = rank; i < backed * stride_; i += count) words_[i] = 0;
  }
  /// Closes the words of chunks first..first+count-1, which no other lane knows yet; each of
  /// `members` callers does a share. Relaxed: the chunks are published with release afterwards.
  /// Atomic: a lane that follows a hint has not acquired that, and still claims nothing of what was
  /// there before, because a claim is a read-modify-write.
  WARPHEAP_DEVICE void close_new(std::uint32_t first, std::uint64_t count, std::uint32_t rank,
                                 std::uint32_t members) const {
    for (std::uint64_t i = rank; i < count * stride_; i += members) {
      simt::atomic_ref(words_[std::uint64_t{first} * stride_ + i]).store(0, simt::order::relaxed);
    }
  }
  /// Where the words of chunks 0..count-1 lie.
  WARPHEAP_HD region words_of(std::size_t count) const {
    return {reinterpret_cast<std::byte*>(words_), count * stride_ * sizeof(std::uint64_t)};
  }

  // The words of a chunk.

  /// The slots that word `number` has, as bits.
  WARPHEAP_HD static constexpr std::uint64_t slots_in(const warpheap_slots& slots,
                                                      std::uint32_t number) {
    const std::uint32_t left = slots.count - number * slots.per_word;
    return low_bits<std::uint64_t>(static_cast<int>(left < slots.per_word ? left : slots.per_word));
  }
  WARPHEAP_HD static constexpr std::uint64_t used_of(std::uint64_t word) {
    return word & used_mask;
  }
  WARPHEAP_HD static constexpr bool is_marked(std::uint64_t word) { return (word & full) != 0; }
  WARPHEAP_HD static constexpr bool is_of(std::uint64_t word, std::uint32_t owner) {
    return (word & tag_mask) == tag_of(owner);
  }
  WARPHEAP_HD static constexpr std::uint64_t empty_word(std::uint32_t owner) {
    return tag_of(owner);
  }
  /// The words whose slots a lane may claim: those that are not marked; with an offer, or in an
  /// empty chunk, any.
  enum class claims { unmarked, offered };
  /// A word, and the owner for which a lane wants slots of it. It may have another one by now.
  struct target {
    std::uint32_t chunk;
    std::uint32_t number;
    std::uint32_t owner;
    const warpheap_slots& shape;

    WARPHEAP_HD constexpr std::uint64_t slots() const { return slots_in(shape, number); }
  };
  /// The slots of a word that may be claimed.
  WARPHEAP_HD static constexpr std::uint64_t room_in(std::uint64_t word, const target& at,
                                                     claims which = claims::unmarked) {
    const bool open = which == claims::offered || !is_marked(word);
    return is_of(word, at.owner) && open ? at.slots() & ~used_of(word) : 0;
  }
  WARPHEAP_DEVICE std::uint64_t word(std::uint32_t chunk, std::uint32_t number) const {
    return ref(chunk, number).load(simt::order::relaxed);
  }
  /// Which free slots of a word a claim takes: up to `want`, from bit `from` on, wrapping around.
  struct wish {
    int want = 1;
    int from = 0;
    claims which = claims::unmarked;
    int least = 1;  ///< if fewer slots than that are free, they are left to others
  };
  /// Claims free slots of a word. Lock-free: tries again only when another lane has changed the
  /// word. \param seen the presumed value of the word
  WARPHEAP_DEVICE claimed claim(const target& at, std::uint64_t seen, const wish& wanted) const {
    claimed won;
    while (!try_claim(won, at, seen, wanted)) {
    }
    return won;
  }
  /// The same, but without a loop (see `simt::repeat`): if other lanes have changed the word before
  /// each of `Tries`, the slots are left to them.
  template <int Tries>
  WARPHEAP_DEVICE claimed claim_quickly(const target& at, std::uint64_t seen,
                                        const wish& wanted) const {
    claimed won;
    simt::repeat<Tries>([&] { return try_claim(won, at, seen, wanted); });
    return won;
  }
  /// Like `claim_quickly`, for a word that is probably empty.
  template <int Tries>
  WARPHEAP_DEVICE claimed claim_first(const target& at, int want) const {
    std::uint64_t seen = empty_word(at.owner);
    const std::uint64_t bits = at.slots() & low_bits<std::uint64_t>(want);
    // Acquire as in `try_claim`.
    if (ref(at.chunk, at.number).compare_exchange(seen, seen | bits, simt::acquire_to_write)) {
      return {bits, true};
    }
    return claim_quickly<Tries - 1>(at, seen, {.want = want});
  }

  /// Frees slots that the caller had; returns the word's previous value. Release: see `try_claim`.
  WARPHEAP_DEVICE std::uint64_t give_back(std::uint32_t chunk, std::uint32_t number,
                                          std::uint64_t bits) const {
    return ref(chunk, number).fetch_and(~bits, simt::order::release);
  }

  /// The outcome of a look at a word that may be full.
  enum class mark { set, was_set, not_full };
  /// Marks a word that is full, if it still is of its owner. Release: a lane that sees the mark
  /// knows that the word was taken from the list.
  WARPHEAP_DEVICE mark mark_full(const target& at) const {
    const std::uint64_t all = at.slots();
    std::uint64_t seen = word(at.chunk, at.number);
    while (is_of(seen, at.owner)) {
      if (is_marked(seen)) return mark::was_set;
      if (used_of(seen) != all) break;
      if (ref(at.chunk, at.number).compare_exchange(seen, seen | full, simt::order::acq_rel)) {
        return mark::set;
      }
    }
    return mark::not_full;
  }
  /// Removes the mark from a word, if it still is this owner's and marked; returns whether it was.
  /// Acquire: what the lane that set the mark did comes before what follows. Release pairs with the
  /// acquire in `try_claim`: what `give_back` released stays released. Lock-free: tries again only
  /// when another lane has changed the word.
  WARPHEAP_DEVICE bool unmark(std::uint32_t chunk, std::uint32_t number,
                              std::uint32_t owner) const {
    std::uint64_t seen = word(chunk, number);
    while (is_of(seen, owner) && is_marked(seen)) {
      if (ref(chunk, number).compare_exchange(seen, seen & ~full, simt::order::acq_rel)) {
        return true;
      }
    }
    simt::fence(simt::order::acquire);  // what the lane that removed it did comes before
    return false;
  }

  /// Gives a closed word a tag, and claims slots of it. Release: see `try_claim`.
  /// \pre the caller has passed a fence with release since it acquired the chunk
  WARPHEAP_DEVICE void open(std::uint32_t chunk, std::uint32_t number, std::uint32_t owner,
                            std::uint64_t used = 0) const {
    ref(chunk, number).store(tag_of(owner) | used, simt::release_by_fence);
  }
  /// The outcome of closing a word.
  enum class closed { unmarked, marked, in_use };
  /// Removes the tag, and the mark if there is one, from an owner's word that has no slot in use;
  /// otherwise leaves the word unchanged. Acquire pairs with `give_back`.
  WARPHEAP_DEVICE closed close(std::uint32_t chunk, std::uint32_t number,
                               std::uint32_t owner) const {
    std::uint64_t seen = tag_of(owner);
    while ((seen & ~full) == tag_of(owner)) {
      const bool marked = is_marked(seen);
      if (ref(chunk, number).compare_exchange(seen, 0, simt::order::acq_rel)) {
        return marked ? closed::marked : closed::unmarked;
      }
    }
    return closed::in_use;
  }

 private:
  static constexpr std::uint64_t used_mask = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t tag_mask = std::uint64_t{0x7fff} << 48;
  static constexpr std::uint64_t full = std::uint64_t{1} << 63;

  WARPHEAP_HD static constexpr std::uint64_t tag_of(std::uint32_t owner) {
    return std::uint64_t{owner} << 48;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> ref(std::uint32_t chunk,
                                                      std::uint32_t number) const {
    return simt::atomic_ref(words_[std::size_t{chunk} * stride_ + number]);
  }

  /// One try of a claim: whether that settles it, since the slots are claimed, or there are none.
  /// Otherwise another lane has changed the word, and `seen` is its value.
  WARPHEAP_DEVICE bool try_claim(claimed& won, const target& at, std::uint64_t& seen,
                                 const wish& wanted) const {
    const std::uint64_t room = room_in(seen, at, wanted.which);
    if (popcount(room) < wanted.least) return true;
    const std::uint64_t bits = choose(room, wanted.want, wanted.from);
    const bool was_empty = used_of(seen) == 0;
    // Acquire pairs with the releases in `give_back` and `open`: what the last owner of the slots
    // did, or of the chunk, comes before what the next one does.
    if (!ref(at.chunk, at.number).compare_exchange(seen, seen | bits, simt::acquire_to_write)) {
      return false;
    }
    won = {bits, was_empty};
    return true;
  }

  /// `want` of `room`, or all if there are fewer, from bit `from` on, wrapping around.
  WARPHEAP_DEVICE static std::uint64_t choose(std::uint64_t room, int want, int from) {
    const std::uint64_t ahead = room & ~low_bits<std::uint64_t>(from);
    if (want == 1) {
      const std::uint64_t of = ahead != 0 ? ahead : room;
      return of & (0 - of);
    }
    // In most cases, that many are consecutive.
    const std::uint64_t row = ahead == 0 ? 0 : low_bits<std::uint64_t>(want) << lowest_bit(ahead);
    if (row != 0 && (ahead & row) == row) return row;
    const int there = popcount(ahead);
    if (there >= want) return lowest(ahead, want);
    return ahead | lowest(room & low_bits<std::uint64_t>(from), want - there);
  }
  WARPHEAP_DEVICE static std::uint64_t lowest(std::uint64_t bits, int count) {
    if (popcount(bits) <= count) return bits;
    return bits & low_bits<std::uint64_t>(kth_set_bit(bits, count));
  }

  std::uint64_t* words_ = nullptr;
  std::uint32_t stride_ = 0;
};

WARPHEAP_END_NAMESPACE
