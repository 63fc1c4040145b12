// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// Tells a lane that searched all chunks and found nothing whether that proves anything: whether
/// any other lane held a chunk, or freed one, during the search. Also remembers the proof, so that
/// the next lanes need not search until something has been freed.
///
/// One word per shard: [ chunks made free, modulo 2^40 | operations in progress: 24 bits ]. An
/// operation announces itself before it claims a chunk, and counts what it made free when it ends.
/// So if none is in progress before or after a search, and the sums of what was made free agree,
/// then nothing was made free during it: whatever the search did not see was taken. (The check
/// before the search is needed, too: a lane that has emptied a word of the tree may hide for a
/// moment what others have put there since.)
///
/// Orders: the announcement may be relaxed, because the claim that follows is a release: a search
/// that sees the claim, by acquire, also sees the announcement afterwards. The end is a release: a
/// search that begins with a look at it sees the chunks that were made free.
class operations {
 public:
  static constexpr std::uint32_t most_shards = 16;

  /// A cache line of its own, so that multiprocessors do not share one.
  struct alignas(128) shard {
    std::uint64_t word;
  };
  /// [ sum of chunks made free, modulo 2^33 | granules that were not available: 31 bits ], 0: none
  using proof = std::uint64_t;

  /// What was seen before a search: [ sum of chunks made free: 63 bits | quiet: 1 ].
  struct token {
    std::uint64_t epoch;
  };

  operations() = default;
  operations(shard* shards, std::uint32_t count, proof* exhausted)
      : shards_(shards), count_(count), exhausted_(exhausted) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) shards_[i].word = 0;
    if (rank == 0) *exhausted_ = 0;
  }
  /// The copy that searches share.
  WARPHEAP_DEVICE void format(const operations& of_heap) { *this = of_heap; }

  /// Announces an operation. Returns the argument for `end`: by then, the lane may be on another
  /// multiprocessor.
  WARPHEAP_DEVICE std::uint32_t begin() const {
    const std::uint32_t where = simt::sm_id() % count_;
    simt::atomic_ref(shards_[where].word).fetch_add(1, simt::order::relaxed);
    return where;
  }
  /// \param made_free chunks that the operation has put into the set of free ones
  WARPHEAP_DEVICE void end(std::uint32_t where, std::uint32_t made_free) const {
    simt::atomic_ref(shards_[where].word)
        .fetch_add((std::uint64_t{made_free} << progress_bits) - 1, simt::order::release);
  }

  /// The state of all operations before a search.
  WARPHEAP_DEVICE token announce() const {
    std::uint64_t made_free = 0;
    bool quiet = true;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint64_t word = simt::atomic_ref(shards_[i].word).load(simt::order::acquire);
      made_free += word >> progress_bits;
      quiet = quiet && (word & progress_mask) == 0;
    }
    made_free &= ~std::uint64_t{0} >> progress_bits;
    return {made_free << 1 | (quiet ? 1u : 0u)};
  }

  /// Remembers that a search found no run of `need` granules, if it began after `before`, ends now
  /// and has missed nothing. Returns whether that is so.
  WARPHEAP_DEVICE bool confirm(const token& before, std::uint32_t need) const {
    if ((before.epoch & 1) == 0) return false;
    if (announce().epoch != before.epoch) return false;
    // Release: see `is_out`.
    simt::atomic_ref(*exhausted_).store(stamp(before) | need, simt::order::release);
    return true;
  }

  /// Whether it is known that no run of `need` granules is free.
  WARPHEAP_DEVICE bool is_out(std::uint32_t need) const {
    // Acquire, pairs with `confirm`: no shard is seen as it was before the proof, so a sum that
    // agrees means that each of the shards does.
    const simt::atomic_ref exhausted(*exhausted_);
    proof seen = exhausted.load(simt::order::acquire);
    if (seen == 0 || need < (seen & need_mask)) return false;
    if (stamp(announce()) == (seen & ~need_mask)) return true;
    // Outdated: no lane needs to look at all shards for it again.
    exhausted.compare_exchange(seen, 0, simt::order::relaxed);
    return false;
  }

  /// While no lane allocates. \return operations that are still in progress
  WARPHEAP_DEVICE std::uint64_t in_progress() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count_; ++i) sum += shards_[i].word & progress_mask;
    return sum;
  }
  /// While no lane allocates. The need of the proof that holds now, or 0.
  WARPHEAP_DEVICE std::uint32_t proven() const {
    const bool holds = stamp(announce()) == (*exhausted_ & ~need_mask);
    return holds ? static_cast<std::uint32_t>(*exhausted_ & need_mask) : 0;
  }

 private:
  static constexpr int progress_bits = 24;
  static constexpr std::uint64_t progress_mask = (std::uint64_t{1} << progress_bits) - 1;
  static constexpr int need_bits = 31;
  static constexpr std::uint64_t need_mask = (std::uint64_t{1} << need_bits) - 1;

  WARPHEAP_HD static constexpr std::uint64_t stamp(const token& seen) {
    return seen.epoch >> 1 << need_bits;
  }

  shard* shards_ = nullptr;
  std::uint32_t count_ = 0;
  proof* exhausted_ = nullptr;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
