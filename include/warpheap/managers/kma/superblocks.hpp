// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The superblocks of kma.hpp: their state words and bitmaps, the queues of empty ones, and for
/// each class the set of those that have free slots and are in no bucket.
///
/// `moves` {ended:32 | in progress:32} makes null trustworthy: a lane announces there that a
/// superblock with free slots is on its way, from a bucket into a set or a queue, or from there
/// into a bucket, or that it changes the words that say where such are. A lane that has found
/// nothing anywhere trusts that only if nothing was on its way at the time.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/empty_queues.hpp"
#include "warpheap/managers/kma/geometry.hpp"
#include "warpheap/managers/kma/state_words.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/moves.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <kma_config Config>
class kma_superblocks {
 public:
  using sizes = kma_sizes<Config>;
  static constexpr std::uint32_t none = kma_empty_queues::none;
  /// Fewer would leave none besides the queue's dummy; a bitmap tree cannot have more elements.
  static constexpr std::uint32_t least = 2;
  static constexpr std::uint32_t most = 1u << 31;

  kma_superblocks() = default;
  /// \param queues of empty superblocks
  kma_superblocks(region_cursor& cursor, std::uint32_t count, std::uint32_t queues)
      : moves_(cursor.take<std::uint64_t>(1, 128)),
        empty_(cursor, count, queues),
        words_(cursor.take<words>(count, 128)),
        partial_(cursor.take<std::uint64_t>(sizes::classes * bitmap_tree::words_for(count), 128)),
        count_(count) {}

  /// Queues of empty superblocks in a heap of this many.
  static std::uint32_t queues_for(std::uint32_t superblocks, std::uint32_t multiprocessors) {
    const std::uint32_t limit = std::min(std::max(multiprocessors, 1u), kma_empty_queues::most);
    return std::clamp(superblocks / Config.superblocks_per_queue, 1u, limit);
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_DEVICE const kma_empty_queues& empty_ones() const { return empty_; }
  WARPHEAP_DEVICE bitmap_tree partial(std::uint32_t of_class) const {
    return bitmap_tree(partial_ + of_class * bitmap_tree::words_for(count_), count_);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    if (rank == 0) *moves_ = 0;
    empty_.format(rank, lanes);
    for (std::uint64_t i = rank; i < count_; i += lanes) {
      words_[i].state = kma_state{0, kma_mode::empty, 0, 0}.word();
      for (std::uint32_t& word : words_[i].taken) word = 0;
    }
    for (std::uint32_t c = 0; c < sizes::classes; ++c) partial(c).format(0, rank, lanes);
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> state(std::uint32_t superblock) const {
    return simt::atomic_ref<std::uint64_t>(words_[superblock].state);
  }

  /// The class of a superblock of which the caller has a block, so that its class cannot change.
  WARPHEAP_DEVICE std::uint32_t class_of(std::uint32_t superblock) const {
    return kma_state::of(state(superblock).load(simt::order::relaxed)).of_class;
  }

  /// Whether a superblock of the class was in the set or, after that, an empty one in a queue. If
  /// not, and nothing was on its way, there was none.
  WARPHEAP_DEVICE bool obtainable(std::uint32_t of_class) const {
    return any_partial(of_class) || empty_.any();
  }
  WARPHEAP_DEVICE bool any_partial(std::uint32_t of_class) const {
    return !partial(of_class).seems_empty();
  }

  /// A superblock of the class that was in the set, or none. By lot: a search for the next one
  /// leads lanes that lose one to the same one again.
  WARPHEAP_DEVICE std::uint32_t draw(std::uint32_t of_class) const {
    static_assert(none == bitmap_tree::none);
    return partial(of_class).draw(simt::noise());
  }
  /// A superblock of which up to `want` slots are the caller's; no slots if the hints led nowhere,
  /// or if other lanes were faster.
  /// \param found one that was drawn from the set, or none
  /// \param to what the superblock becomes if slots are left: attached, or partial, but in no set.
  /// An empty one is only taken to be attached, or if no slot is left
  /// \pre the caller has announced it, and concludes that once the superblock is where it belongs
  WARPHEAP_DEVICE kma_grant obtain(std::uint32_t found, std::uint32_t of_class, std::uint32_t want,
                                   kma_mode to, kma_state& now) const {
    const bitmap_tree set = partial(of_class);
    for (int tries = 0; tries < most_draws; ++tries, found = draw(of_class)) {
      if (found == none) break;
      if (!set.remove(found)) continue;
      // No slots if the superblock was no longer there, or is of another class: the element came
      // late, and is gone now.
      const kma_grant got = reserve_partial(found, of_class, want, to, now);
      if (got) return got;
    }
    const std::uint32_t all = sizes::slots(of_class);
    if (to == kma_mode::partial && want < all) return {};
    const std::uint32_t superblock = empty_.dequeue();
    if (superblock == none) return {};
    const kma_state before = kma_state::of(state(superblock).load(simt::order::relaxed));
    const std::uint32_t count = want < all ? want : all;
    now = kma_state{before.epoch + 1, to, of_class, all}.after_reserving(count);
    // No other lane changes the state of a superblock that a queue returned. Release: pairs with
    // the acquire of lanes that find it in the bucket.
    state(superblock).store(now.word(), simt::order::release);
    return {superblock, count, 0};
  }

  /// The same without a bucket, for lanes that would wait for theirs: what is left of a superblock
  /// goes back into the set.
  WARPHEAP_DEVICE kma_grant take(std::uint32_t of_class, std::uint32_t want) const {
    // In a crowd, most lanes have nothing to take. What they announce would keep all others from an
    // exact look, so they announce nothing.
    const std::uint32_t found = draw(of_class);
    if (found == none && (want < sizes::slots(of_class) || !empty_.any())) return {};
    kma_state now{};
    announce();
    const kma_grant got = obtain(found, of_class, want, kma_mode::partial, now);
    if (got && now.mode == kma_mode::partial) partial(of_class).insert(got.superblock);
    conclude();
    return got;
  }

  /// Reserves up to `want` slots, if the superblock is still attached as `bucket` says.
  WARPHEAP_DEVICE kma_grant reserve(const kma_bucket& bucket, std::uint32_t of_class,
                                    std::uint32_t want) const {
    const auto word = state(bucket.superblock);
    // Acquire, here and in the exchange: pairs with the release of frees, whose cleared bits are
    // seen then.
    std::uint64_t seen = word.load(simt::order::acquire);
    for (;;) {
      const kma_state now = kma_state::of(seen);
      if (now.mode != kma_mode::attached || now.epoch != bucket.epoch) return {};
      const std::uint32_t count = want < now.free ? want : now.free;
      if (word.compare_exchange(seen, now.after_reserving(count).word(), simt::order::acq_rel)) {
        return {bucket.superblock, count, sizes::slots(of_class) - now.free};
      }
    }
  }

  /// Whether `reserve` would have served a slot.
  WARPHEAP_DEVICE bool is_attached(const kma_bucket& bucket) const {
    const kma_state now = kma_state::of(state(bucket.superblock).load(simt::order::acquire));
    return now.mode == kma_mode::attached && now.epoch == bucket.epoch;
  }

  /// Takes the slot that the caller has reserved: any free one, from `hint` on. Ends: a slot's bit
  /// is cleared before it is counted as free, so each lane that has reserved one has one. If a look
  /// at all words finds none, others have taken or freed some in the meantime.
  WARPHEAP_DEVICE std::uint32_t locate(std::uint32_t superblock, std::uint32_t of_class,
                                       std::uint32_t hint) const {
    const std::uint32_t slots = sizes::slots(of_class);
    std::uint32_t word = hint / 32;
    std::uint32_t skipped = low_bits<std::uint32_t>(static_cast<int>(hint % 32));
    for (;;) {
      const std::uint32_t there = slots - word * 32;
      const auto all = low_bits<std::uint32_t>(there < 32 ? static_cast<int>(there) : 32);
      const simt::atomic_ref taken(words_[superblock].taken[word]);
      std::uint32_t open = all & ~skipped & ~taken.load(simt::order::relaxed);
      while (open != 0) {
        const std::uint32_t bit = 1u << lowest_bit(open);
        // Acquire: pairs with the release in `clear`, with which the block's last owner finishes.
        const std::uint32_t before = taken.fetch_or(bit, simt::order::acquire);
        if ((before & bit) == 0) return word * 32 + static_cast<std::uint32_t>(lowest_bit(bit));
        open &= ~before;
      }
      skipped = 0;
      word = (word + 1) * 32 < slots ? word + 1 : 0;
    }
  }

  /// Makes a slot's bit free; false if it was already. It must be counted then.
  WARPHEAP_DEVICE bool clear(std::uint32_t superblock, std::uint32_t slot) const {
    const std::uint32_t bit = 1u << slot % 32;
    const simt::atomic_ref taken(words_[superblock].taken[slot / 32]);
    // Release: what the owner did with the block comes before the next owner.
    return (taken.fetch_and(~bit, simt::order::release) & bit) != 0;
  }

  /// Counts slots as free whose bits are clear, and moves the superblock to where it then belongs.
  WARPHEAP_DEVICE void count_free(std::uint32_t superblock, std::uint32_t slots) const {
    const auto word = state(superblock);
    std::uint64_t seen = word.load(simt::order::relaxed);
    bool announced = false;
    // Ends: the exchange fails only if another lane has reserved or freed slots.
    for (;;) {
      const kma_state now = kma_state::of(seen);
      kma_state after = now;
      after.free += slots;
      const bool becomes_empty = after.free == sizes::slots(now.of_class);
      const bool becomes_partial = !becomes_empty && now.mode == kma_mode::full;
      if (becomes_partial) after.mode = kma_mode::partial;
      if (becomes_empty) after = {now.epoch, kma_mode::empty, 0, 0};
      if (!announced && (becomes_empty || becomes_partial)) {
        announce();
        announced = true;
      }
      // Release: the cleared bits, and what has been announced, come before what others do with the
      // slots. Acquire: the last one passes on what the others have freed.
      if (!word.compare_exchange(seen, after.word(), simt::order::acq_rel)) continue;
      if (becomes_partial) partial(now.of_class).insert(superblock);
      if (becomes_empty) {
        // Before the superblock is of another class.
        if (now.mode == kma_mode::partial) partial(now.of_class).remove(superblock);
        empty_.enqueue(superblock);
      }
      break;
    }
    if (announced) conclude();
  }

  // Superblocks on their way: see `sync::moves`. What takes one away from where it was is a
  // release.

  WARPHEAP_DEVICE void announce() const { sync::moves::announce(simt::atomic_ref(*moves_)); }
  WARPHEAP_DEVICE void conclude() const { sync::moves::conclude(simt::atomic_ref(*moves_)); }

  /// The argument for a later call of `nothing_moved_since`.
  WARPHEAP_DEVICE std::uint64_t moves() const {
    return sync::moves::look(simt::atomic_ref(*moves_));
  }
  /// Whether no superblock was on its way from `before` until now. Not a load, which may miss an
  /// announcement: then a slot that was freed and one that was taken, in different superblocks, may
  /// both be missed. Release: what the caller has looked at comes before.
  WARPHEAP_DEVICE bool nothing_moved_since(std::uint64_t before) const {
    return sync::moves::in_progress(before) == 0 &&
           simt::atomic_ref(*moves_).fetch_add(0, simt::order::acq_rel) == before;
  }

  // While no lane changes them.
  WARPHEAP_DEVICE std::uint32_t taken_bits(std::uint32_t superblock, std::uint32_t word) const {
    return words_[superblock].taken[word];
  }

 private:
  static constexpr int most_draws = 4;

  struct words {
    std::uint64_t state;
    /// The slots in use.
    std::uint32_t taken[(sizes::bit_words + 1) / 2 * 2];
  };

  WARPHEAP_DEVICE kma_grant reserve_partial(std::uint32_t superblock, std::uint32_t of_class,
                                            std::uint32_t want, kma_mode to, kma_state& now) const {
    const auto word = state(superblock);
    std::uint64_t seen = word.load(simt::order::acquire);
    for (;;) {
      const kma_state there = kma_state::of(seen);
      if (there.mode != kma_mode::partial || there.of_class != of_class) return {};
      const std::uint32_t count = want < there.free ? want : there.free;
      now = kma_state{there.epoch + 1, to, of_class, there.free}.after_reserving(count);
      if (word.compare_exchange(seen, now.word(), simt::order::acq_rel)) {
        return {superblock, count, sizes::slots(of_class) - there.free};
      }
    }
  }

  std::uint64_t* moves_ = nullptr;
  kma_empty_queues empty_;
  words* words_ = nullptr;
  std::uint64_t* partial_ = nullptr;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
