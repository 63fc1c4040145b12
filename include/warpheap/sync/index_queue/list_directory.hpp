// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The directory of the virtualised linked-chunk queue (VLQ) of M. Winter et al., "Ouroboros" (ICS
/// 2020, section 5.2): chunks are linked, and the queue knows the first of them.
///
///     head [ 5 | chunk ]     links, one word per chunk, beside the chunks:
///       |                      [ queue, 5 | next ] -> [ queue, 6 | next ] -> [ queue, 7 | none ]
///     finger v % fingers: [ v | chunk ], a hint
///
/// A GPU takes half a millisecond to walk over 1024 links, and a million values need 1024 chunks.
/// So a constant number of fingers remembers where chunks were found. If a finger was overwritten,
/// a walk replaces it.
///
/// A link says to which queue its chunk belongs, and under which number. Links are kept beside the
/// chunks and are never used for anything else. So a walker that comes late may read the link of a
/// later use, sees that it is not what it was looking for, and starts again at the head. The paper
/// instead lets chunks trail behind the front for a while, and hopes that this is long enough.
///
/// A chunk is given back when it is finished, all chunks before it are, and its successor is
/// linked. Both the last consumers of a chunk and the lanes that link its successor try this;
/// sequentially consistent fences between what each of them writes and reads ensure that one of
/// them sees the other. Each lane of a group looks at one chunk, because a GPU frees a thousand
/// chunks in the time that one lane needs for ten.
///
/// Progress: `find` is bounded by the number of chunks, and fails if the list changes during the
/// walk. `publish` shows its finger and then waits for that of the previous chunk. Only if a lane a
/// lap ahead has overwritten that one, it waits for the links up to there, which do not wait for
/// it. `retire` is lock-free: if a compare-exchange fails, another group has moved the head.

#include "warpheap/sync/index_queue/virtual_queue.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

class list_directory {
 public:
  /// The queue's own words.
  struct alignas(128) anchor {
    std::uint64_t head;
    /// No number from here on is published.
    std::uint64_t published;
  };
  static constexpr std::uint32_t most_queues = 32;

  list_directory() = default;
  /// \param links one word for each chunk of the pool, shared by all queues over it
  /// \param fingers `2^fingers_log2` words of this queue
  /// \param queue the number of this queue among those over the pool. \pre `queue < most_queues`
  WARPHEAP_HD list_directory(anchor* own, std::uint64_t* links, std::uint64_t* fingers,
                             int fingers_log2, std::uint32_t queue)
      : own_(own), links_(links), fingers_(fingers), fingers_log2_(fingers_log2), queue_(queue) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count,
                              std::uint32_t first_chunk) const {
    if (rank == 0) {
      own_->head = numbered_chunk::encode(0, first_chunk);
      own_->published = 1;
      links_[first_chunk] = link(0);
    }
    for (std::uint64_t i = rank; i < std::uint64_t{1} << fingers_log2_; i += count) {
      fingers_[i] = i == 0 ? numbered_chunk::encode(0, first_chunk) : 0;
    }
  }

  WARPHEAP_DEVICE bool find(std::uint64_t number, std::uint32_t& chunk) const {
    const simt::atomic_ref last_seen(finger(number));
    const std::uint64_t hint = last_seen.load(simt::order::acquire);
    if (numbered_chunk::names(hint, number)) {
      chunk = numbered_chunk::chunk_of(hint);
      return true;
    }
    // Acquire pairs with the release in `publish`.
    if (simt::atomic_ref(own_->published).load(simt::order::acquire) <= number) return false;
    if (!walk(number, chunk)) return false;
    last_seen.store(numbered_chunk::encode(number, chunk), simt::order::release);
    return true;
  }

  /// `find` while the queue is not in use, for a pool of `chunks` chunks: returns no others, and
  /// writes nothing.
  WARPHEAP_DEVICE bool look(std::uint64_t number, std::uint32_t chunks,
                            std::uint32_t& chunk) const {
    const std::uint64_t hint = finger(number);
    if (!numbered_chunk::names(hint, number)) return walk(number, chunk, chunks) && chunk < chunks;
    chunk = numbered_chunk::chunk_of(hint);
    return chunk < chunks;
  }

  WARPHEAP_DEVICE void publish(std::uint64_t number, std::uint32_t chunk) const {
    // Release, here and below: walkers see the cleared slots, whichever word leads them here.
    simt::atomic_ref(links_[chunk]).store(link(number), simt::order::release);
    simt::atomic_ref(finger(number))
        .store(numbered_chunk::encode(number, chunk), simt::order::release);
    std::uint32_t previous;
    while (!find(number - 1, previous)) simt::backoff(pause);
    // The previous chunk has no successor yet, so it cannot have been given back.
    simt::atomic_ref(links_[previous]).store(link(number - 1) | (chunk + 1u), simt::order::release);
    // Not a store: a lane that found this chunk by its finger may already have published the next.
    simt::atomic_ref(own_->published).fetch_max(number + 1, simt::order::release);
  }

  template <class Pool>
  WARPHEAP_DEVICE void tidy(const simt::group& members, const Pool& pool) const {
    give_back(members, pool);
  }

  template <class Pool>
  WARPHEAP_DEVICE void retire(const simt::group& members, std::uint64_t /*number*/,
                              std::uint32_t /*chunk*/, const Pool& pool) const {
    give_back(members, pool);
  }

 private:
  static constexpr std::uint32_t pause = 200;  // nanoseconds
  static constexpr int number_bits = 27;

  WARPHEAP_DEVICE std::uint64_t& finger(std::uint64_t number) const {
    return fingers_[number & ((std::uint64_t{1} << fingers_log2_) - 1)];
  }

  /// A link without a successor.
  WARPHEAP_HD std::uint64_t link(std::uint64_t number) const {
    const std::uint64_t tag =
        (std::uint64_t{queue_} << number_bits) | (number & low_bits<std::uint64_t>(number_bits));
    return tag << 32;
  }

  /// \param chunks the number of links, for callers that do not trust these
  WARPHEAP_DEVICE bool walk(std::uint64_t number, std::uint32_t& chunk,
                            std::uint32_t chunks = ~0u) const {
    const std::uint64_t head = simt::atomic_ref(own_->head).load(simt::order::acquire);
    chunk = numbered_chunk::chunk_of(head);
    for (auto at = static_cast<std::uint32_t>(head >> 32); at != static_cast<std::uint32_t>(number);
         ++at) {
      if (chunk >= chunks) return false;
      const std::uint64_t here = simt::atomic_ref(links_[chunk]).load(simt::order::acquire);
      const auto next = static_cast<std::uint32_t>(here);
      if (here >> 32 != link(at) >> 32 || next == 0) return false;
      chunk = next - 1;
    }
    return true;
  }

  /// Moves the head past all finished chunks and gives them back. Member r looks at the r-th chunk.
  template <class Pool>
  WARPHEAP_DEVICE void give_back(const simt::group& members, const Pool& pool) const {
    const simt::atomic_ref head(own_->head);
    const auto rank = static_cast<std::uint32_t>(members.rank());
    for (;;) {
      // What any member has written comes before what any member reads.
      simt::fence(simt::order::seq_cst);
      std::uint64_t first = 0;
      if (members.is_leader()) first = head.load(simt::order::acquire);
      first = members.broadcast(first);
      members.sync();
      simt::fence(simt::order::seq_cst);
      const std::uint64_t number = first >> 32;
      // Only hints: if the head has moved meanwhile, they are useless.
      const std::uint64_t hint =
          rank == 0 ? first : simt::atomic_ref(finger(number + rank)).load(simt::order::acquire);
      std::uint32_t chunk = 0;
      std::uint32_t next = 0;
      bool done = numbered_chunk::names(hint, number + rank);
      if (done) {
        chunk = numbered_chunk::chunk_of(hint);
        const std::uint32_t finished =
            simt::atomic_ref(*pool.finished(chunk)).load(simt::order::acquire);
        const std::uint64_t here = simt::atomic_ref(links_[chunk]).load(simt::order::acquire);
        next = static_cast<std::uint32_t>(here);
        done = finished >> pool.slots_log2() != 0 && next != 0 &&
               here >> 32 == link(number + rank) >> 32;
      }
      const simt::lane_mask not_done = members.ballot(!done);
      const int count =
          not_done.empty() ? members.size() : members.mask().below(not_done.lowest()).count();
      // Even if another group has moved the head since this one read it: that group's fence comes
      // after this group's, so it continues from the new head and sees all that is finished here.
      if (count == 0) return;
      const std::uint32_t successor = members.shuffle(next, members.mask().nth(count - 1));
      bool moved = false;
      if (members.is_leader()) {
        moved = head.compare_exchange(
            first,
            numbered_chunk::encode(number + static_cast<std::uint32_t>(count), successor - 1),
            simt::order::acq_rel);
      }
      if (members.broadcast(moved) && rank < static_cast<std::uint32_t>(count)) {
        simt::atomic_ref(links_[chunk]).store(0, simt::order::relaxed);
        pool.give(chunk);
      }
    }
  }

  anchor* own_ = nullptr;
  std::uint64_t* links_ = nullptr;
  std::uint64_t* fingers_ = nullptr;
  int fingers_log2_ = 0;
  std::uint32_t queue_ = 0;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
