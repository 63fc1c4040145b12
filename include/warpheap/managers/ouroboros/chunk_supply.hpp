// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file Where chunks come from: first the ones that have been used before, through the chunk reuse
/// queue; then new ones from front to back.
///
/// The number of chunks that may hold data and the number that may hold queue entries are fixed, so
/// that neither can starve the other: a lane that holds a unit of `left`, or a place in a queue, is
/// certain to get a chunk. Which chunks these are changes all the time.
///
/// Each base chunk has two marks: whether it is free, and whether the reuse queue has an entry for
/// it. A stacked instance takes aligned runs of free base chunks by their marks only. The entries
/// that this leaves behind are recognised when their turn comes, or become valid again if the chunk
/// is given back first. So there is at most one entry for a chunk, and the queue cannot overflow.
///
/// Progress: `take` loops while the entries that it gets are void, each of which is then gone, or
/// while a chunk that is due to the caller is on its way back. `take_run` is lock-free and bounded
/// by the number of chunks.
///
/// Orders: marks are set with release and cleared with acquire, so that the next user of a chunk
/// comes after the last.

#include "warpheap/core/align.hpp"
#include "warpheap/sync/bulk_semaphore.hpp"
#include "warpheap/sync/group_sum.hpp"
#include "warpheap/sync/index_queue/static_queue.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

class chunk_supply {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t chunks_per_word = 16;

  struct words {
    /// Semaphore: chunks that may still be taken for data.
    alignas(128) std::uint64_t left;
    /// Semaphore: entries of the reuse queue.
    alignas(128) std::uint64_t entries;
    /// Chunks from here on have never been used.
    alignas(128) std::uint64_t fresh;
    /// Where a run recently became free: a word of marks.
    alignas(128) std::uint64_t hint;
    /// See `given()`.
    std::uint64_t given;
    sync::queue_ends ends;
  };

  chunk_supply() = default;
  /// \param largest_run the largest run that will be requested
  chunk_supply(words* own, std::uint32_t* marks, std::uint32_t* slots, std::uint32_t chunks,
               std::uint32_t largest_run)
      : own_(own),
        marks_(marks),
        reuse_(&own->ends, slots, queue_log2(chunks), queue_log2(chunks)),
        chunks_(chunks),
        largest_run_(largest_run) {}

  WARPHEAP_HD static constexpr int queue_log2(std::uint32_t chunks) {
    return sync::static_queue<std::uint32_t>::log2_of_slots(chunks);
  }
  WARPHEAP_HD static constexpr std::uint32_t mark_words(std::uint32_t chunks) {
    return ceil_div(chunks, chunks_per_word);
  }

  /// \param for_queues chunks that queues may take; the first `in_use` chunks belong to them
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count, std::uint32_t for_queues,
                              std::uint32_t in_use) const {
    if (rank == 0) {
      own_->left = sync::bulk_semaphore::initial(chunks_ - for_queues);
      own_->entries = sync::bulk_semaphore::initial(0);
      own_->fresh = in_use;
      own_->hint = 0;
      own_->given = 0;
    }
    for (std::uint64_t i = rank; i < mark_words(chunks_); i += count) marks_[i] = 0;
    reuse_.format(rank, count);
  }

  /// The chunks that are left for data.
  WARPHEAP_DEVICE sync::bulk_semaphore left() const { return sync::bulk_semaphore(own_->left); }

  /// A base chunk. \pre the caller has taken a unit of `left`, or is a queue within its bounds
  WARPHEAP_DEVICE std::uint32_t take() const {
    std::uint32_t chunk = none;
    while (chunk == none) {
      const simt::group callers = simt::coalesced(own_);
      std::uint32_t used = 0;
      std::uint64_t position = 0;
      std::uint64_t fresh = chunks_;
      if (callers.is_leader()) {
        const auto wanted = static_cast<std::uint32_t>(callers.size());
        const sync::bulk_semaphore entries(own_->entries);
        if (entries.read().count > 0) used = entries.take_up_to(wanted);
        if (used != 0) position = reuse_.draw_front(used);
        const simt::atomic_ref next(own_->fresh);
        if (used < wanted && next.load(simt::order::relaxed) < chunks_) {
          fresh = next.fetch_add(wanted - used, simt::order::relaxed);
        }
      }
      used = callers.broadcast(used);
      position = callers.broadcast(position);
      fresh = callers.broadcast(fresh);
      const auto rank = static_cast<std::uint32_t>(callers.rank());
      if (rank < used) {
        std::uint32_t entry;
        while (!reuse_.poll(position + rank, entry)) simt::backoff(pause);
        if (claim(entry)) chunk = entry;
      } else if (fresh + (rank - used) < chunks_) {
        chunk = static_cast<std::uint32_t>(fresh) + (rank - used);
      } else {
        simt::backoff(pause);
      }
    }
    return chunk;
  }

  /// The first of `span` adjacent base chunks at a multiple of `span`, or `none`. Looks where a run
  /// recently became free, and at new chunks; if `thorough`, everywhere.
  /// \pre the caller has taken `span` units of `left`, and gives them back if there is no run
  WARPHEAP_DEVICE std::uint32_t take_run(std::uint32_t span, bool thorough) const {
    const auto lately =
        static_cast<std::uint32_t>(simt::atomic_ref(own_->hint).load(simt::order::relaxed));
    std::uint32_t chunk = claim_run(lately, span);
    if (chunk == none) chunk = take_fresh_run(span);
    if (!thorough) return chunk;
    for (std::uint32_t w = 0; w < mark_words(chunks_) && chunk == none; ++w) {
      chunk = claim_run(w, span);
    }
    return chunk;
  }

  /// Gives a chunk of `span` base chunks back, without its units of `left`.
  WARPHEAP_DEVICE void give(std::uint32_t chunk, std::uint32_t span) const {
    const std::uint32_t word = chunk / chunks_per_word;
    const std::uint32_t marks = free_and_queued(chunk, span);
    // Acquire pairs with the release in `claim`: an entry comes after the previous one.
    const std::uint32_t before =
        simt::atomic_ref(marks_[word]).fetch_or(marks, simt::order::acq_rel);
    const std::uint32_t largest_run = simt::as_needed(largest_run_);
    if (largest_run > 1) {
      simt::atomic_ref(own_->given).fetch_add(1, simt::order::release);
      const std::uint32_t run =
          free_and_queued(align_down(chunk, largest_run), largest_run) & free_marks;
      if (((before | marks) & run) == run) {
        simt::atomic_ref(own_->hint).store(word, simt::order::relaxed);
      }
    }
    for (std::uint32_t i = 0; i < span; ++i) {
      if ((before & queued_mark(chunk + i)) == 0) push(chunk + i);
    }
  }

  /// How often chunks came back, where runs are taken. If the number is the same after a search for
  /// a run, then no run became free that the search had passed. Release and acquire: the marks of
  /// what was given are seen by a lane that sees the number; and a lane that sees the units of
  /// `left` sees both.
  WARPHEAP_DEVICE std::uint64_t given() const {
    return simt::atomic_ref(own_->given).load(simt::order::acquire);
  }

  /// Adds units of `left`, after their chunks have been given back.
  WARPHEAP_DEVICE void refund(std::uint32_t units) const {
    const simt::group callers = simt::coalesced(own_);
    const std::uint32_t all = sync::sum_over(callers, units).total;
    callers.sync();  // what members gave back comes before it is counted
    if (callers.is_leader()) left().signal(all);
    callers.sync();  // no lane looks for memory before what it gave back is counted
  }

  // Only while no lane allocates.

  WARPHEAP_HD std::uint32_t chunks() const { return chunks_; }
  /// The number of chunks in use or given back so far; those after them are new.
  WARPHEAP_DEVICE std::uint32_t touched() const {
    return own_->fresh < chunks_ ? static_cast<std::uint32_t>(own_->fresh) : chunks_;
  }
  WARPHEAP_DEVICE bool is_free(std::uint32_t chunk) const {
    return chunk >= touched() || (marks_[chunk / chunks_per_word] & free_mark(chunk)) != 0;
  }
  WARPHEAP_DEVICE std::uint64_t entries() const { return reuse_.size(); }

 private:
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  WARPHEAP_HD static std::uint32_t free_mark(std::uint32_t chunk) {
    return 1u << (chunk % chunks_per_word * 2);
  }
  WARPHEAP_HD static std::uint32_t queued_mark(std::uint32_t chunk) {
    return free_mark(chunk) << 1;
  }
  WARPHEAP_HD static std::uint32_t free_and_queued(std::uint32_t chunk, std::uint32_t span) {
    return bit_range<std::uint32_t>(static_cast<int>(chunk % chunks_per_word * 2),
                                    static_cast<int>(2 * span));
  }

  /// Called after the entry for `chunk` was taken out of the queue: true if the chunk was free and
  /// now belongs to the caller.
  WARPHEAP_DEVICE bool claim(std::uint32_t chunk) const {
    const std::uint32_t marks = free_mark(chunk) | queued_mark(chunk);
    return (simt::atomic_ref(marks_[chunk / chunks_per_word])
                .fetch_and(~marks, simt::order::acq_rel) &
            free_mark(chunk)) != 0;
  }

  WARPHEAP_DEVICE std::uint32_t claim_run(std::uint32_t word, std::uint32_t span) const {
    const simt::atomic_ref marks(marks_[word]);
    std::uint32_t seen = marks.load(simt::order::relaxed);
    for (std::uint32_t i = 0; i < chunks_per_word; i += span) {
      const std::uint32_t run = free_and_queued(i, span) & free_marks;
      while ((seen & run) == run) {
        if (marks.compare_exchange(seen, seen & ~run, simt::order::acquire)) {
          return word * chunks_per_word + i;
        }
      }
    }
    return none;
  }

  /// New chunks before a run become free ones, as do the last ones if they are too few for a run:
  /// beside a chunk that was given back, they may be one.
  WARPHEAP_DEVICE std::uint32_t take_fresh_run(std::uint32_t span) const {
    const simt::atomic_ref next(own_->fresh);
    std::uint64_t seen = next.load(simt::order::relaxed);
    while (seen < chunks_) {
      const std::uint64_t start = (seen + span - 1) & ~std::uint64_t{span - 1};
      const bool fits = start + span <= chunks_;
      const std::uint64_t first = seen;
      const std::uint64_t end = fits ? start : chunks_;
      if (!next.compare_exchange(seen, fits ? start + span : end, simt::order::relaxed)) continue;
      for (std::uint64_t c = first; c < end; ++c) give(static_cast<std::uint32_t>(c), 1);
      return fits ? static_cast<std::uint32_t>(start)
                  : claim_run(static_cast<std::uint32_t>(first / chunks_per_word), span);
    }
    return none;
  }

  WARPHEAP_DEVICE void push(std::uint32_t chunk) const {
    const simt::group callers = simt::coalesced(own_);
    const auto count = static_cast<std::uint32_t>(callers.size());
    std::uint64_t position = 0;
    if (callers.is_leader()) position = reuse_.draw_back(count);
    position = callers.broadcast(position);
    reuse_.put(position + static_cast<std::uint32_t>(callers.rank()), chunk);
    callers.sync();
    if (callers.is_leader()) sync::bulk_semaphore(own_->entries).signal(count);
  }

  static constexpr std::uint32_t free_marks = 0x55555555u;

  words* own_ = nullptr;
  std::uint32_t* marks_ = nullptr;
  sync::static_queue<std::uint32_t> reuse_;
  std::uint32_t chunks_ = 0;
  std::uint32_t largest_run_ = 1;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
