// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/heap/layers/arena_blocks/pieces.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/sync/bump_counter.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace arena_parts {

/// How a growth ended: with a block out of the next piece; with another piece that has come
/// meanwhile; or the heap had none.
struct growth {
  void* block = nullptr;
  bool failed = false;
};

/// The pieces of an arena: how requests take from them, how more come from the heap, and how all go
/// back. What is said about progress, null and orders in arena_blocks.hpp is about this.
template <block_manager M>
class arena_supply {
 public:
  /// \param inner of the heap
  /// \param shards `count` of them
  /// \param most_order of a piece
  arena_supply(const M& inner, shard* shards, std::uint32_t count, std::size_t piece_bytes,
               int most_order)
      : inner_(inner),
        shards_(shards),
        count_(count),
        most_order_(most_order),
        piece_bytes_(piece_bytes) {}

  WARPHEAP_HD const M& inner() const { return inner_; }
  WARPHEAP_HD std::uint64_t shards() const { return count_; }
  WARPHEAP_DEVICE shard& at(std::uint64_t i) const { return shards_[i]; }
  /// Granules of a piece that requests can have.
  WARPHEAP_HD std::uint64_t granules_of(int order) const {
    return (piece_bytes_of(order) - sizeof(piece)) / granule;
  }
  WARPHEAP_HD std::uint64_t piece_bytes_of(int order) const { return piece_bytes_ << order; }

  /// The members' shares of the current piece; null for those whose share is not in it. A
  /// collective. \param at their shard
  WARPHEAP_DEVICE void* take(const simt::group& team, std::uint32_t at,
                             std::uint32_t wanted) const {
    std::uint64_t bits = 0;
    // A hint: a piece that is current no more is full, or has room that may as well be used.
    if (team.is_leader()) bits = simt::load_hint(shards_[at].current);
    const piece_word from(team.broadcast(bits));
    return from.is_none() ? nullptr : take_from(from, team, wanted);
  }
  /// Gets the next piece, for a lane; or waits for the lane that does.
  WARPHEAP_RARE static growth grow(const arena_supply& in, std::uint32_t at, std::uint32_t wanted) {
    shard& of = in.shards_[at];
    const simt::atomic_ref growths(of.growths);
    // Acquire pairs with the release in `end_growth`: `current` is the one of that growth, or
    // later. Without an acquire, the hint in `take` could be the same full piece each time.
    std::uint32_t turn = growths.load(simt::order::acquire);
    const piece_word seen(simt::atomic_ref(of.current).load(simt::order::acquire));
    if (in.seems_to_fit(seen, wanted)) return {};
    if (begin_growth(of, turn)) {
      void* const block = in.open(of, seen, in.next_piece(of, seen), wanted);
      end_growth(of, turn, block != nullptr);
      return {block, block == nullptr};
    }
    // Ends: the lane whose turn it is waits for nothing but the heap.
    std::uint32_t now = turn;
    while (shard::is_growing(turn) && now == turn) {
      simt::backoff(pause);
      now = growths.load(simt::order::acquire);
    }
    return {nullptr, shard::last_failed(now)};
  }

  /// A block of the heap.
  WARPHEAP_RARE static void* take_single(const arena_supply& in, std::uint64_t granules) {
    auto* block = static_cast<single*>(in.inner_.malloc(granules * granule + sizeof(single)));
    if (block == nullptr) return nullptr;
    block->granules = granules;
    // Relaxed: the lists are read when no lane allocates.
    const simt::atomic_ref head(in.list(simt::noise() % in.lists()));
    block->next = head.exchange(block, simt::order::relaxed);
    return block + 1;
  }

  /// When a shard has got no piece: a block of the heap, or what the shards have left. Lanes that
  /// call together look at the shards together, for a request that fails must not look at all.
  WARPHEAP_RARE static void* take_last(const arena_supply& in, std::uint32_t at,
                                       std::uint32_t wanted) {
    void* block = take_single(in, wanted);
    const simt::group team = simt::coalesced(in.shards_);
    const std::uint32_t from = team.broadcast(at);
    const auto size = static_cast<std::uint32_t>(team.size());
    for (std::uint32_t i = 0; i < in.count_ && team.any(block == nullptr); i += size) {
      const std::uint32_t mine = i + static_cast<std::uint32_t>(team.rank());
      const std::uint64_t room =
          mine < in.count_ ? in.examine(in.shards_[(from + mine) % in.count_]).room() : 0;
      for (std::uint32_t k = 0; k < size; ++k) {
        const std::uint64_t there = team.shuffle(room, team.mask().nth(static_cast<int>(k)));
        if (block != nullptr || wanted > there) continue;
        block = in.take_left(in.shards_[(from + i + k) % in.count_], wanted);
      }
    }
    return block;
  }

  // While no lane allocates, by each of `count` lanes.

  WARPHEAP_DEVICE void release(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      free_all(shards_[i].first);
      shards_[i].current = 0;
    }
    free_singles(rank, count);
  }

  WARPHEAP_DEVICE void rewind(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) shards_[i].current = 0;
    free_singles(rank, count);
  }

  /// Calls `visit(piece, is_kept)` for each piece of a shard, in the order of their use.
  template <class Visit>
  WARPHEAP_DEVICE static void for_each_piece(shard& of, const Visit& visit) {
    const piece* const current = piece_word(of.current).at();
    bool is_kept = current == nullptr;
    for (piece* one = of.first; one != nullptr; one = one->next) {
      visit(*one, is_kept);
      if (one == current) is_kept = true;
    }
  }

  /// Lists of requests that have a block of the heap for themselves, of all shards.
  WARPHEAP_DEVICE std::uint64_t lists() const { return shards() * simt::warp_size; }
  WARPHEAP_DEVICE single*& list(std::uint64_t i) const {
    return shards_[i / simt::warp_size].singles[i % simt::warp_size];
  }

 private:
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  /// What a shard had at a moment of the call.
  struct state {
    std::uint32_t turn;
    piece_word current;
    std::uint64_t left;  ///< granules of the current piece
    piece* kept;

    WARPHEAP_DEVICE std::uint64_t room() const {
      return kept != nullptr ? ~std::uint64_t{0} : left;
    }
  };

  WARPHEAP_DEVICE void* take_from(piece_word from, const simt::group& team,
                                  std::uint32_t wanted) const {
    piece& in = *from.at();
    const std::uint64_t all = granules_of(from.order());
    // Pairs with the release in `open`: the block is the caller's to write.
    const std::uint64_t start = sync::bump_together(team, in.used, wanted, simt::acquire_to_write);
    if (start + wanted <= all) return in.granules() + start * granule;
    // The first share that does not fit ends the piece, and while `used` is beyond the end no lane
    // else gets anything. Back to where that share begins, so that smaller ones find the rest. An
    // exchange, relaxed: it continues the release sequence of `open`.
    if (start <= all) simt::atomic_ref(in.used).exchange(start, simt::order::relaxed);
    return nullptr;
  }

  /// Whether it is the caller's turn; else `turn` is what others have made of it. Acquire pairs
  /// with the release in `end_growth`.
  WARPHEAP_DEVICE static bool begin_growth(shard& of, std::uint32_t& turn) {
    return !shard::is_growing(turn) &&
           simt::atomic_ref(of.growths)
               .compare_exchange(turn, shard::begun(turn), simt::order::acquire);
  }
  /// Release pairs with the acquires of `growths`.
  WARPHEAP_DEVICE static void end_growth(shard& of, std::uint32_t turn, bool succeeded) {
    simt::atomic_ref(of.growths).store(shard::ended(turn, succeeded), simt::order::release);
  }

  /// Relaxed: only a hint. \pre the caller has acquired `in`
  WARPHEAP_DEVICE bool seems_to_fit(piece_word in, std::uint32_t wanted) const {
    if (in.is_none()) return false;
    const std::uint64_t used = simt::atomic_ref(in.at()->used).load(simt::order::relaxed);
    return used + wanted <= granules_of(in.order());
  }

  /// What leads from a piece to the next one.
  WARPHEAP_DEVICE static piece*& link(shard& of, piece_word from) {
    return from.is_none() ? of.first : from.at()->next;
  }

  /// The piece that follows the last one, kept or new; null if the heap has none. \pre it is the
  /// caller's turn
  WARPHEAP_DEVICE piece* next_piece(shard& of, piece_word last) const {
    // Relaxed, as all of `link`: what was written there comes before the caller's turn.
    piece* next = simt::atomic_ref(link(of, last)).load(simt::order::relaxed);
    if (next != nullptr) return next;
    int order = last.is_none() ? 0 : last.order() + 1;
    if (order > most_order_) order = most_order_;
    next = static_cast<piece*>(inner_.malloc(piece_bytes_of(order)));
    if (next == nullptr && order != 0) {
      order = 0;
      next = static_cast<piece*>(inner_.malloc(piece_bytes_of(0)));
    }
    if (next == nullptr) return nullptr;
    next->order = static_cast<std::uint32_t>(order);
    simt::atomic_ref(next->next).store(nullptr, simt::order::relaxed);
    return next;
  }

  /// Makes a piece the current one; its first granules are the caller's. Null of null.
  WARPHEAP_DEVICE void* open(shard& of, piece_word last, piece* next, std::uint32_t wanted) const {
    if (next == nullptr) return nullptr;
    // Release pairs with the acquires of those that take from it.
    simt::atomic_ref(next->used).store(wanted, simt::order::release);
    simt::atomic_ref(link(of, last)).store(next, simt::order::relaxed);
    simt::atomic_ref(of.current).store(piece_word(next).bits(), simt::order::release);
    return next->granules();
  }

  /// Read-modify-writes see the newest values, so that null is true.
  WARPHEAP_DEVICE state examine(shard& of) const {
    const simt::atomic_ref growths(of.growths);
    // Ends: the lanes waited for wait for nothing but the heap.
    for (;; simt::backoff(pause)) {
      // Acquire pairs with the release in `end_growth`.
      const std::uint32_t turn = growths.fetch_add(0, simt::order::acquire);
      if (shard::is_growing(turn)) continue;
      const piece_word now(simt::atomic_ref(of.current).load(simt::order::acquire));
      std::uint64_t left = 0;
      if (!now.is_none()) {
        const std::uint64_t all = granules_of(now.order());
        const std::uint64_t used =
            simt::atomic_ref(now.at()->used).fetch_add(0, simt::order::relaxed);
        if (used > all) continue;
        left = all - used;
      }
      return {turn, now, left, simt::atomic_ref(link(of, now)).load(simt::order::relaxed)};
    }
  }

  /// Out of the current piece of a shard, or of one that it has kept; null if neither has room.
  WARPHEAP_DEVICE void* take_left(shard& of, std::uint32_t wanted) const {
    const simt::group self(simt::lane_mask::of(simt::lane_id()));
    // Ends: each time that the caller is too late another lane has got something.
    for (;;) {
      state found = examine(of);
      if (wanted <= found.left) {
        void* const block = take_from(found.current, self, wanted);
        if (block != nullptr) return block;
      } else if (found.kept == nullptr) {
        return nullptr;
      } else if (begin_growth(of, found.turn)) {
        void* const block = open(of, found.current, found.kept, wanted);
        end_growth(of, found.turn, true);
        return block;
      }
    }
  }

  WARPHEAP_DEVICE void free_singles(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < lists(); i += count) free_all(list(i));
  }

  template <class Linked>
  WARPHEAP_DEVICE void free_all(Linked*& first) const {
    for (Linked* one = first; one != nullptr;) {
      Linked* const next = one->next;
      inner_.free(one);
      one = next;
    }
    first = nullptr;
  }

  M inner_;
  shard* shards_;
  std::uint32_t count_;
  int most_order_;
  std::size_t piece_bytes_;
};

}  // namespace arena_parts
WARPHEAP_END_NAMESPACE
