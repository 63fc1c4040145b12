// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file Makes any of the three kinds of index queue count: it then refuses values when it is full,
/// and says so when it is empty. Two bulk semaphores do the counting, one for values and one for
/// room. A static queue gets room back with each value that is taken. A virtualised one gets it
/// from the pool, a chunk at a time, for the reason that virtual_queue.hpp gives: values that have
/// been taken may bind up to a chunk less one slot.
///
/// All members whose first parameter is a group are collectives of that group; an operation of a
/// full warp costs three atomics on shared words. Progress: values are polled only after their
/// producers have drawn a position, and producers never wait for the consumers' groups; see
/// virtual_queue.hpp for the rest.

#include "warpheap/sync/bulk_semaphore.hpp"
#include "warpheap/sync/index_queue/static_queue.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

template <class Queue>
class bounded_queue {
 public:
  bounded_queue() = default;
  /// \param items word of a semaphore: the values in the queue
  /// \param room word of a semaphore: how many more values fit; if the queue is virtualised, the
  ///   word of its pool of chunks
  WARPHEAP_HD bounded_queue(const Queue& queue, std::uint64_t* items, std::uint64_t* room)
      : queue_(queue), items_(items), room_(room) {}

  WARPHEAP_DEVICE bulk_semaphore items() const { return bulk_semaphore(*items_); }
  WARPHEAP_DEVICE bulk_semaphore room() const { return bulk_semaphore(*room_); }
  WARPHEAP_HD const Queue& positions() const { return queue_; }

  /// Enqueues the calling lane's value; false if the queue is full.
  WARPHEAP_DEVICE bool push(std::uint64_t value) const {
    return push(simt::coalesced(items_), value);
  }

  /// Takes a value; false if there is none.
  WARPHEAP_DEVICE bool pop(std::uint64_t& value) const {
    const simt::group members = simt::coalesced(items_);
    std::uint32_t granted = 0;
    if (members.is_leader()) {
      granted = items().take_up_to(static_cast<std::uint32_t>(members.size()));
    }
    return pop_granted(members, members.broadcast(granted), value);
  }

  /// Enqueues a value for each member, as far as there is room. Returns whether the caller's was.
  WARPHEAP_DEVICE bool push(const simt::group& members, std::uint64_t value) const {
    const auto count = static_cast<std::uint32_t>(members.size());
    std::uint32_t accepted = 0;
    const std::uint64_t first = reserve(members, count, accepted);
    if (accepted == 0) return false;
    const auto rank = static_cast<std::uint32_t>(members.rank());
    if (rank < accepted) queue_.put(first + rank, value);
    finish_push(members, accepted);
    return rank < accepted;
  }

  /// Enqueues `first_value, first_value + 1, ...`, at most `count` values; all members pass the
  /// same arguments. Does not count the values as items: returns how many were accepted, and the
  /// caller must signal those.
  WARPHEAP_DEVICE std::uint32_t push_run(const simt::group& members, std::uint64_t first_value,
                                         std::uint32_t count) const {
    std::uint32_t accepted = 0;
    const std::uint64_t first = reserve(members, count, accepted);
    for (auto i = static_cast<std::uint32_t>(members.rank()); i < accepted;
         i += static_cast<std::uint32_t>(members.size())) {
      queue_.put(first + i, first_value + i);
    }
    members.sync();
    return accepted;
  }

  /// Takes the values of the `granted` items that the leader was granted, one for each of the first
  /// members. \pre `granted` is the same for all members
  WARPHEAP_DEVICE bool pop_granted(const simt::group& members, std::uint32_t granted,
                                   std::uint64_t& value) const {
    if (granted == 0) return false;
    std::uint64_t first = 0;
    if (members.is_leader()) first = queue_.draw_front(granted);
    first = members.broadcast(first);
    const auto rank = static_cast<std::uint32_t>(members.rank());
    if (rank < granted) {
      while (!queue_.poll(first + rank, value)) simt::backoff(pause);
    }
    members.sync();
    if constexpr (Queue::returns_room_by_value) {
      if (members.is_leader()) room().signal(granted);
    }
    return rank < granted;
  }

  /// Draws and prepares positions for as many of `count` values as there is room for: `accepted`
  /// positions, of which the first is returned. The leader's `count` applies. The caller must put
  /// values at all of them, and then signal these as items.
  WARPHEAP_DEVICE std::uint64_t reserve(const simt::group& members, std::uint32_t count,
                                        std::uint32_t& accepted) const {
    std::uint64_t first = 0;
    if (members.is_leader()) {
      accepted = room().take_up_to(count);
      if (accepted != 0) first = queue_.draw_back(accepted);
    }
    accepted = members.broadcast(accepted);
    first = members.broadcast(first);
    if (accepted != 0) queue_.prepare(members, first, accepted);
    return first;
  }

 private:
  static constexpr std::uint32_t pause = 100;  // nanoseconds

  WARPHEAP_DEVICE void finish_push(const simt::group& members, std::uint32_t accepted) const {
    members.sync();
    if (members.is_leader()) items().signal(accepted);
    members.sync();  // no member asks for a value before its own one is counted
  }

  Queue queue_;
  std::uint64_t* items_ = nullptr;
  std::uint64_t* room_ = nullptr;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
