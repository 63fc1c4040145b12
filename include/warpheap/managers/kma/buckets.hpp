// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where lanes of kma.hpp find a superblock of their class: by a hash of class and
/// multiprocessor, with a bucket for each pair. A bucket holds one superblock, nothing, or poison
/// while a lane attaches another one. Its content may be out of date, which the superblock's state
/// shows.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/geometry.hpp"
#include "warpheap/managers/kma/state_words.hpp"
#include "warpheap/managers/kma/superblocks.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <kma_config Config>
class kma_buckets {
 public:
  using sizes = kma_sizes<Config>;
  using superblocks = kma_superblocks<Config>;

  kma_buckets() = default;
  kma_buckets(region_cursor& cursor, std::uint32_t shards)
      : words_(cursor.take<std::uint64_t>(std::size_t{shards} * pitch, 128)), shards_(shards) {}

  /// Buckets of a class in a heap of this many superblocks.
  static std::uint32_t shards_for(std::uint32_t superblocks, std::uint32_t multiprocessors) {
    const std::uint32_t most = std::min(std::max(multiprocessors, 1u), most_shards);
    return std::clamp(superblocks / Config.superblocks_per_shard, 1u, most);
  }

  WARPHEAP_HD std::uint32_t shards() const { return shards_; }
  WARPHEAP_HD std::uint32_t count() const { return shards_ * pitch; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    for (std::uint64_t i = rank; i < count(); i += lanes) words_[i] = kma_bucket::none;
  }

  /// Reserves up to `want` slots of the class for lanes of a multiprocessor. No slots only if none
  /// was free at a moment of the call, or if a bounded number of looks was in vain: each time
  /// superblocks were on their way, others took what it saw, or that was out of date.
  /// `Config.futile_looks` that found nothing are enough; what others cost, `price_of` says.
  ///
  /// Progress: a lane looks again only if superblocks are on their way, or others took or changed
  /// what it saw. What is on its way arrives: the lanes that move it wait for nothing and are in no
  /// collective, so they may be of the waiter's own warp. Two kinds of looks are free, since others
  /// are served meanwhile: those that lose while the queues have plenty, and those that find a
  /// bucket which another lane is filling or has just changed, while there is more (or, if it is
  /// being filled, while nothing has moved).
  WARPHEAP_DEVICE kma_grant reserve(const superblocks& of, std::uint32_t of_class,
                                    std::uint32_t want, std::uint32_t multiprocessor) const {
    std::uint32_t shard = multiprocessor % shards_;
    std::uint32_t pause = shortest_pause;
    std::uint32_t patience = price_of_nothing * Config.futile_looks;
    std::uint64_t moves = of.moves();
    for (std::uint64_t counted = moves;;) {
      kma_grant got;
      outlook next = ask(of, of_class, shard, want, got);
      if (got) return got;
      // The buckets after the set and the queues: superblocks that leave those come to a bucket.
      if (next == outlook::nothing) next = elsewhere(of, of_class, shard);
      const std::uint64_t now = of.moves();
      if (next == outlook::nothing && now == moves && of.nothing_moved_since(moves)) return {};
      const std::uint32_t price = price_of(next, of, of_class, now != counted);
      if (price >= patience) return {};
      patience -= price;
      if (price != 0) counted = now;
      moves = now;
      if (next == outlook::ask || next == outlook::lost) continue;
      // Until something has arrived: another look would see the same.
      do {
        simt::backoff(pause);
        pause = pause < longest_pause ? 2 * pause : longest_pause;
        moves = of.moves();
      } while (moves == now && sync::moves::in_progress(now) != 0);
    }
  }

  // Only while no lane changes them.
  WARPHEAP_DEVICE std::uint64_t peek(std::uint32_t i) const { return words_[i]; }
  /// How many buckets of the class hold `word`.
  WARPHEAP_DEVICE std::uint32_t count_of(std::uint32_t of_class, std::uint64_t word) const {
    std::uint32_t found = 0;
    for (std::uint32_t shard = 0; shard < shards_; ++shard) {
      found += words_[shard * pitch + of_class] == word ? 1 : 0;
    }
    return found;
  }

 private:
  static constexpr std::uint32_t most_shards = 32;
  /// The buckets of each shard have their own cache lines.
  static constexpr std::uint32_t pitch = 16;
  static_assert(sizes::classes <= pitch);
  static constexpr std::uint32_t shortest_pause = 100;  // nanoseconds
  static constexpr std::uint32_t longest_pause = 1600;
  static constexpr std::uint32_t price_of_nothing = 8;

  enum class outlook {
    nothing,  ///< no free slot was found
    ask,      ///< there may be some now, in the bucket
    lost,     ///< others took what there was
    wait,     ///< another lane attaches a superblock
  };

  /// What a look costs that served no slot. Little if there is more: the lanes in front of this one
  /// get that and leave.
  /// \param moved whether anything has since the last look that was not free
  WARPHEAP_DEVICE static std::uint32_t price_of(outlook found, const superblocks& of,
                                                std::uint32_t of_class, bool moved) {
    if (found == outlook::nothing) return price_of_nothing;
    if (!of.obtainable(of_class)) return found == outlook::wait && !moved ? 0 : 2;
    return found == outlook::lost && !of.empty_ones().plenty() ? 1 : 0;
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> at(std::uint32_t of_class,
                                                     std::uint32_t shard) const {
    return simt::atomic_ref<std::uint64_t>(words_[shard * pitch + of_class]);
  }

  WARPHEAP_DEVICE outlook ask(const superblocks& of, std::uint32_t of_class, std::uint32_t shard,
                              std::uint32_t want, kma_grant& got) const {
    const auto bucket = at(of_class, shard);
    // Acquire: pairs with the release below, behind which is the superblock's state.
    std::uint64_t seen = bucket.load(simt::order::acquire);
    const bool poisoned = seen == kma_bucket::poison;
    if (!poisoned && seen != kma_bucket::none) {
      got = of.reserve(kma_bucket::of(seen), of_class, want);
      if (got) return outlook::ask;
    }
    // The content is of no use and stays so. Relaxed: only the store below publishes anything.
    if (!of.obtainable(of_class)) {
      // So that others need not look at it.
      if (!poisoned && seen != kma_bucket::none) {
        bucket.compare_exchange(seen, kma_bucket::none, simt::order::relaxed);
      }
      return outlook::nothing;
    }
    // A superblock is attached for the slots that it has left. If none will be, or if another lane
    // is attaching one, the lane takes slots by itself.
    const bool whole = want >= sizes::slots(of_class);
    if (whole || (poisoned && of.any_partial(of_class))) {
      got = of.take(of_class, want);
      return outlook::lost;
    }
    if (poisoned) return outlook::wait;
    if (!bucket.compare_exchange(seen, kma_bucket::poison, simt::order::relaxed)) {
      return seen == kma_bucket::poison ? outlook::wait : outlook::ask;
    }
    attach(of, bucket, of_class, want, got);
    return outlook::lost;
  }

  /// Fills a bucket that the caller has poisoned.
  WARPHEAP_DEVICE void attach(const superblocks& of, const simt::atomic_ref<std::uint64_t>& bucket,
                              std::uint32_t of_class, std::uint32_t want, kma_grant& got) const {
    kma_state now{};
    of.announce();
    got = of.obtain(of.draw(of_class), of_class, want, kma_mode::attached, now);
    const bool attached = got && now.mode == kma_mode::attached;
    // Release: pairs with the loads of lanes that look for slots.
    bucket.store(attached ? kma_bucket{got.superblock, now.epoch}.word() : kma_bucket::none,
                 simt::order::release);
    of.conclude();
  }

  /// Looks at all buckets of the class.
  /// \param shard changed to one that has a free slot, if one has
  WARPHEAP_DEVICE outlook elsewhere(const superblocks& of, std::uint32_t of_class,
                                    std::uint32_t& shard) const {
    // First a look at all of them, whose loads need not wait for each other. Relaxed: a lane that
    // puts something into a bucket has announced it.
    std::uint64_t any = kma_bucket::none;
    for (std::uint32_t i = 0; i < shards_; ++i) {
      any |= at(of_class, i).load(simt::order::relaxed);
    }
    if (any == kma_bucket::none) return outlook::nothing;
    outlook found = outlook::nothing;
    for (std::uint32_t i = 0; i < shards_; ++i) {
      const std::uint32_t other = (shard + i) % shards_;
      const std::uint64_t seen = at(of_class, other).load(simt::order::acquire);
      if (seen == kma_bucket::none) continue;
      if (seen == kma_bucket::poison) {
        found = outlook::wait;
      } else if (of.is_attached(kma_bucket::of(seen))) {
        shard = other;
        return outlook::ask;
      }
    }
    return found;
  }

  std::uint64_t* words_ = nullptr;
  std::uint32_t shards_ = 0;
};

WARPHEAP_END_NAMESPACE
