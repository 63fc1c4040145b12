// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The simplest of the index queues of M. Winter et al., "Ouroboros" (ICS 2020): a ring in an array
/// of fixed size.
///
/// All index queues work by tickets. A producer draws a position at the back and puts its value
/// there; a consumer draws a position at the front and polls it until the value has come. Tickets
/// of a whole group cost one atomic, and each waits only for its own slot. The queue itself
/// does not count: its users know, from a semaphore or from the nature of their values, that
/// - a consumer's ticket is drawn only when a value for it exists or will come, and
/// - no more values are in the queue than it has room for.
///
/// A slot is one word, [ turn | value ], so that each lap of the ring knows its own values:
///
///     turn 2L:   empty, waits for the value of lap L        (all zero: empty, lap 0)
///     turn 2L+1: holds the value of lap L
///
/// Turns wrap around. They remain distinct as long as fewer than 2^(turn bits - 1) laps are drawn
/// and not finished: with 32-bit slots, `value_bits <= capacity_log2` ensures that for any number
/// of lanes below 2^30; with 64-bit slots, values below 2^40 leave turns for eight million laps.
///
/// Progress: drawing is wait-free. `poll` never waits. `put` waits only for the consumer of the
/// previous lap, which has a value to take and never waits.
///
/// Orders: a slot is written with release and read with acquire, so a value brings along what its
/// producer did before. Positions are drawn relaxed: a number orders nothing.

#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

/// Where the next producer and the next consumer draw their tickets. Each has its own cache line,
/// because both are hot.
struct alignas(128) queue_ends {
  alignas(128) std::uint64_t front;
  alignas(128) std::uint64_t back;
};

/// \tparam Slot 32- or 64-bit word
template <std::unsigned_integral Slot>
requires(sizeof(Slot) == 4 || sizeof(Slot) == 8) class static_queue {
 public:
  /// A slot has room for the next value as soon as its value has been taken.
  static constexpr bool returns_room_by_value = true;

  static_queue() = default;

  /// \param slots `2^capacity_log2` words
  /// \param value_bits values are below `2^value_bits`
  WARPHEAP_HD static_queue(queue_ends* ends, Slot* slots, int capacity_log2, int value_bits)
      : ends_(ends), slots_(slots), capacity_log2_(capacity_log2), value_bits_(value_bits) {}

  /// Slots that a queue of at least `values` values needs, as a power of two.
  WARPHEAP_HD static constexpr int log2_of_slots(std::uint64_t values) {
    return ceil_log2<std::uint64_t>(values < 2 ? 2 : values);
  }

  /// Empties the queue. Called by every lane of a grid of `count` lanes.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) {
      ends_->front = 0;
      ends_->back = 0;
    }
    for (std::uint64_t i = rank; i < capacity(); i += count) slots_[i] = 0;
  }

  WARPHEAP_DEVICE std::uint64_t capacity() const { return std::uint64_t{1} << capacity_log2(); }

  /// The first of `count` positions for values.
  WARPHEAP_DEVICE std::uint64_t draw_back(std::uint64_t count) const {
    return simt::atomic_ref(ends_->back).fetch_add(count, simt::order::relaxed);
  }
  /// The first of `count` positions to take values from.
  WARPHEAP_DEVICE std::uint64_t draw_front(std::uint64_t count) const {
    return simt::atomic_ref(ends_->front).fetch_add(count, simt::order::relaxed);
  }

  /// Ensures that slots exist for the positions that `members` has drawn: here they always do.
  WARPHEAP_DEVICE void prepare(const simt::group& /*members*/, std::uint64_t /*first*/,
                               std::uint64_t /*count*/) const {}

  /// Puts `value` at a position that the caller has drawn.
  WARPHEAP_DEVICE void put(std::uint64_t position, Slot value) const {
    const simt::atomic_ref slot(slots_[position & (capacity() - 1)]);
    const Slot empty = empty_at(position);
    // Acquire pairs with the release in `poll`: the previous consumer has read what this
    // overwrites.
    while (slot.load(simt::order::acquire) != empty) simt::backoff(pause);
    slot.store(static_cast<Slot>(empty | one_turn() | value), simt::order::release);
  }

  /// Takes the value at a position that the caller has drawn, if it has come.
  WARPHEAP_DEVICE bool poll(std::uint64_t position, Slot& value) const {
    const simt::atomic_ref slot(slots_[position & (capacity() - 1)]);
    const Slot empty = empty_at(position);
    const Slot found = slot.load(simt::order::acquire);
    const Slot mask = static_cast<Slot>(one_turn() - 1);
    if ((found & static_cast<Slot>(~mask)) != static_cast<Slot>(empty | one_turn())) return false;
    value = found & mask;
    slot.store(static_cast<Slot>(empty + 2 * one_turn()), simt::order::release);
    return true;
  }

  /// The number of values, while the queue is not in use.
  WARPHEAP_DEVICE std::uint64_t size() const { return ends_->back - ends_->front; }
  WARPHEAP_DEVICE std::uint64_t first() const { return ends_->front; }
  /// The room that is bound, while the queue is not in use.
  WARPHEAP_DEVICE std::uint64_t bound() const { return size(); }

  /// Reads the value at a position between front and back, while the queue is not in use.
  WARPHEAP_DEVICE bool peek(std::uint64_t position, Slot& value) const {
    const Slot found = slots_[position & (capacity() - 1)];
    value = static_cast<Slot>(found & (one_turn() - 1));
    return static_cast<Slot>(found - value) == static_cast<Slot>(empty_at(position) | one_turn());
  }

 private:
  static constexpr std::uint32_t pause = 100;  // nanoseconds

  // Otherwise these would stay in registers for as long as a queue is in use.
  WARPHEAP_DEVICE int capacity_log2() const { return simt::as_needed(capacity_log2_); }
  WARPHEAP_DEVICE int value_bits() const { return simt::as_needed(value_bits_); }
  WARPHEAP_DEVICE Slot one_turn() const { return static_cast<Slot>(Slot{1} << value_bits()); }
  WARPHEAP_DEVICE Slot empty_at(std::uint64_t position) const {
    return static_cast<Slot>(static_cast<Slot>(position >> capacity_log2()) << (value_bits() + 1));
  }

  queue_ends* ends_ = nullptr;
  Slot* slots_ = nullptr;
  int capacity_log2_ = 0;
  int value_bits_ = 0;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
