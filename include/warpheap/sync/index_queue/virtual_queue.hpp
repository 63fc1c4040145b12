// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the two virtualised index queues of M. Winter et al., "Ouroboros" (ICS 2020) have in
/// common: positions increase forever, and only those that are in use have memory, in chunks that
/// come from a pool and return to it.
///
///     position p -> chunk number p / slots -> chunk (the directory knows) -> slot p % slots
///
///     ... [ 4: given back ][ 5: half taken ][ 6: full ][ 7: half filled ][ 8: ready ] ...
///                                ^ front                     ^ back
///
/// The lane that draws the first position of chunk v prepares chunk v+1, so that others seldom wait
/// for memory. The consumer that finishes the last slot of a chunk gives it back. Tickets, and what
/// users must know, are as in static_queue.hpp.
///
/// Differences from the paper: it counts enqueues and dequeues of a chunk. A slot that was dequeued
/// has been enqueued, so one counter is enough. Chunks are cleared when they are taken, so any
/// chunk of the pool will do, whatever it held before.
///
/// Directory (`array_directory`, `list_directory`): `publish(number, chunk)` may wait for earlier
/// chunks, and `tidy(members, pool)` follows it; `find(number, chunk&)` does not wait;
/// `retire(members, number, chunk, pool)` is called when all values of a chunk have been taken.
///
/// Pool: `take()` a chunk, `give(chunk)`, `slots(chunk)` its memory, `finished(chunk)` a 32-bit
/// counter beside it that nothing else uses, `slots_log2()`.
///
/// How many chunks the pool needs. A single unread value keeps a chunk in use, and the lane that is
/// to put it may be waiting for a chunk in `prepare`. If only values were counted, there could be
/// room left while every chunk is kept in this way. So users that count room count it in chunks:
/// positions take room when they are drawn, and `give` returns the room of all slots of a chunk.
/// Then room for n values needs n / slots + 2 chunks for each queue: those whose positions are all
/// drawn, the one that is being filled, and the next one. Users with at most n values by nature
/// need 3 * (n / slots) + 3: behind each chunk that is waited for, there may be one that takes
/// values of the same group, one that has taken some, and one that a lane holds while it waits for
/// a place in the directory.
///
/// Progress: drawing is wait-free, and `poll` never waits. `prepare` and `put` wait until chunks
/// with lower numbers are published. The lanes that publish those have drawn earlier and wait only
/// for still lower ones and, if the pool is large enough, not for the pool. A group calls `prepare`
/// together before it puts anything, so no lane waits for its own warp.
///
/// Orders: slots as in static_queue.hpp; `finished` is acq_rel, so that the last consumer of a
/// chunk, which gives it back, sees that all others are done with it.

#include "warpheap/sync/index_queue/static_queue.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

template <class Directory, class Pool>
class virtual_queue {
 public:
  /// The pool returns room, one chunk at a time.
  static constexpr bool returns_room_by_value = false;

  virtual_queue() = default;
  WARPHEAP_HD virtual_queue(queue_ends* ends, const Directory& directory, const Pool& pool)
      : ends_(ends), directory_(directory), pool_(pool) {}

  /// Empties the queue. `first_chunk`, which must already belong to the queue, becomes chunk 0.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count,
                              std::uint32_t first_chunk) const {
    if (rank == 0) {
      ends_->front = 0;
      ends_->back = 0;
      *pool_.finished(first_chunk) = 0;
    }
    for (std::uint64_t i = rank; i < slots(); i += count) pool_.slots(first_chunk)[i] = 0;
    directory_.format(rank, count, first_chunk);
  }

  /// The first of `count` positions for values.
  WARPHEAP_DEVICE std::uint64_t draw_back(std::uint64_t count) const {
    return simt::atomic_ref(ends_->back).fetch_add(count, simt::order::relaxed);
  }
  /// The first of `count` positions to take values from.
  WARPHEAP_DEVICE std::uint64_t draw_front(std::uint64_t count) const {
    return simt::atomic_ref(ends_->front).fetch_add(count, simt::order::relaxed);
  }

  /// Ensures that the positions that `members` has drawn have memory. A collective.
  WARPHEAP_DEVICE void prepare(const simt::group& members, std::uint64_t first,
                               std::uint64_t count) const {
    const std::uint64_t last = first + count;
    for (std::uint64_t p = (first + slots() - 1) & ~(slots() - 1); p < last; p += slots()) {
      std::uint32_t chunk = 0;
      if (members.is_leader()) chunk = pool_.take();
      chunk = members.broadcast(chunk);
      members.sync();  // the leader has acquired the chunk for all
      std::uint64_t* const cleared = pool_.slots(chunk);
      const auto step = static_cast<std::uint32_t>(members.size());
      for (auto i = static_cast<std::uint32_t>(members.rank()); i < slots(); i += step) {
        cleared[i] = 0;
      }
      members.sync();
      if (members.is_leader()) {
        // Relaxed: a late lane may still read this for the list that the chunk was in before.
        simt::atomic_ref(*pool_.finished(chunk)).store(0, simt::order::relaxed);
        directory_.publish((p >> pool_.slots_log2()) + 1, chunk);
      }
      directory_.tidy(members, pool_);
    }
    members.sync();
  }

  /// Puts `value` at a position that the caller has drawn and prepared.
  WARPHEAP_DEVICE void put(std::uint64_t position, std::uint64_t value) const {
    std::uint32_t chunk;
    while (!directory_.find(position >> pool_.slots_log2(), chunk)) simt::backoff(pause);
    simt::atomic_ref(slot(chunk, position)).store(value + 1, simt::order::release);
  }

  /// Takes the value at a position that the caller has drawn, if it has come.
  WARPHEAP_DEVICE bool poll(std::uint64_t position, std::uint64_t& value) const {
    const std::uint64_t number = position >> pool_.slots_log2();
    std::uint32_t chunk;
    if (!directory_.find(number, chunk)) return false;
    const std::uint64_t found = simt::atomic_ref(slot(chunk, position)).load(simt::order::acquire);
    if (found == 0) return false;
    value = found - 1;
    const simt::group together = simt::coalesced(pool_.finished(0)).match(chunk);
    together.sync();  // the leader counts the others' reads, which must come first
    bool all_taken = false;
    if (together.is_leader()) {
      const auto takers = static_cast<std::uint32_t>(together.size());
      const std::uint32_t before =
          simt::atomic_ref(*pool_.finished(chunk)).fetch_add(takers, simt::order::acq_rel);
      all_taken = before + takers == slots();
    }
    if (together.broadcast(all_taken)) directory_.retire(together, number, chunk, pool_);
    return true;
  }

  /// The number of values, while the queue is not in use.
  WARPHEAP_DEVICE std::uint64_t size() const { return ends_->back - ends_->front; }
  WARPHEAP_DEVICE std::uint64_t first() const { return ends_->front; }
  /// The room that is bound, while the queue is not in use; values taken from the first chunk
  /// count.
  WARPHEAP_DEVICE std::uint64_t bound() const { return ends_->back - (first() & ~(slots() - 1)); }

  /// Reads the value at a position between front and back, while the queue is not in use. Reads
  /// only chunks of the pool, whatever the words contain.
  WARPHEAP_DEVICE bool peek(std::uint64_t position, std::uint64_t& value) const {
    std::uint32_t chunk;
    if (!directory_.look(position >> pool_.slots_log2(), pool_.chunks(), chunk)) return false;
    const std::uint64_t found = slot(chunk, position);
    value = found - 1;
    return found != 0;
  }

 private:
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  WARPHEAP_HD std::uint64_t slots() const { return std::uint64_t{1} << pool_.slots_log2(); }
  WARPHEAP_DEVICE std::uint64_t& slot(std::uint32_t chunk, std::uint64_t position) const {
    return pool_.slots(chunk)[position & (slots() - 1)];
  }

  queue_ends* ends_ = nullptr;
  Directory directory_;
  Pool pool_;
};

/// A chunk and its place in the sequence of a queue's chunks, in one word: [ number | chunk + 1 ].
/// A word without a chunk, like 0, names none. Numbers are kept modulo 2^32: a lane would have to
/// sleep through four billion chunks to confuse two of them.
class numbered_chunk {
 public:
  WARPHEAP_HD static constexpr std::uint64_t encode(std::uint64_t number, std::uint32_t chunk) {
    return (number << 32) | (chunk + 1u);
  }
  WARPHEAP_HD static constexpr std::uint64_t without_chunk(std::uint64_t number) {
    return number << 32;
  }
  WARPHEAP_HD static constexpr bool names(std::uint64_t word, std::uint64_t number) {
    return word >> 32 == (number & 0xffffffffu) && static_cast<std::uint32_t>(word) != 0;
  }
  WARPHEAP_HD static constexpr std::uint32_t chunk_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word) - 1;
  }
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
