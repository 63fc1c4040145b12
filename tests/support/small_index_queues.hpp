// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The three index queues in plain memory, as small as they go, for tests on the CPU model.

#include "warpheap/sync/index_queue/array_directory.hpp"
#include "warpheap/sync/index_queue/bounded_queue.hpp"
#include "warpheap/sync/index_queue/list_directory.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A few small chunks, handed out in turn.
template <int ChunksLog2, int SlotsLog2>
class small_pool {
 public:
  static constexpr int chunks_log2 = ChunksLog2;
  static constexpr std::uint32_t count_of_chunks = 1u << chunks_log2;
  static constexpr std::uint32_t slots_each = 1u << SlotsLog2;
  struct memory {
    sync::queue_ends ends;
    std::array<std::uint32_t, count_of_chunks> ring;
    std::array<std::array<std::uint64_t, slots_each>, count_of_chunks> slots;
    std::array<std::uint32_t, count_of_chunks> finished;
    /// For each chunk, whether the pool has it.
    std::array<bool, count_of_chunks> in_pool;
    bool twice;
  };

  small_pool() = default;
  /// \param room takes the slots of chunks that come back, if it is not null
  small_pool(memory* own, std::uint64_t* room) : own_(own), room_(room) {}

  /// All chunks but chunk 0, which the queue starts with, are in the pool; memory holds rubbish.
  void format() const {
    free_chunks().format(0, 1);
    own_->twice = false;
    own_->in_pool = {};
    for (auto& slots : own_->slots) slots.fill(0xdead);
    for (std::uint32_t c = 1; c < count_of_chunks; ++c) put(c);
  }

  static constexpr int slots_log2() { return SlotsLog2; }
  std::uint64_t* slots(std::uint32_t chunk) const { return own_->slots[chunk].data(); }
  std::uint32_t* finished(std::uint32_t chunk) const { return &own_->finished[chunk]; }
  std::uint32_t take() const {
    const std::uint64_t ticket = free_chunks().draw_front(1);
    std::uint32_t chunk = 0;
    while (!free_chunks().poll(ticket, chunk)) simt::backoff(1);
    own_->in_pool[chunk] = false;
    return chunk;
  }
  void give(std::uint32_t chunk) const {
    if (own_->in_pool[chunk]) own_->twice = true;
    own_->slots[chunk].fill(0xdead);
    put(chunk);
    if (room_ != nullptr) sync::bulk_semaphore(*room_).signal(slots_each);
  }
  static constexpr std::uint32_t chunks() { return count_of_chunks; }
  std::uint64_t count() const { return free_chunks().size(); }
  bool given_twice() const { return own_->twice; }

 private:
  sync::static_queue<std::uint32_t> free_chunks() const {
    return {&own_->ends, own_->ring.data(), chunks_log2, chunks_log2};
  }
  void put(std::uint32_t chunk) const {
    own_->in_pool[chunk] = true;
    free_chunks().put(free_chunks().draw_back(1), chunk);
  }

  memory* own_ = nullptr;
  std::uint64_t* room_ = nullptr;
};

/// What the memories share: the counts.
/// \tparam Ends, Bounded of the project, or copies of them with a mistake
template <class Queue, template <class> class Bounded = sync::bounded_queue,
          class Ends = sync::queue_ends>
class queue_memory {
 public:
  using queue_type = Queue;
  static constexpr std::uint64_t capacity = 8;

 protected:
  void format_counts() {
    items_ = sync::bulk_semaphore::initial(0);
    room_ = sync::bulk_semaphore::initial(capacity);
  }
  Ends ends_;
  std::uint64_t items_ = 0;
  std::uint64_t room_ = 0;
};

template <class Queue = sync::static_queue<std::uint64_t>,
          template <class> class Bounded = sync::bounded_queue, class Ends = sync::queue_ends>
class ring_memory : public queue_memory<Queue, Bounded, Ends> {
 public:
  void format() {
    this->format_counts();
    positions().format(0, 1);
  }
  Bounded<Queue> queue() { return {positions(), &this->items_, &this->room_}; }
  std::string problem(std::uint64_t length) {
    return positions().size() == length ? "" : "the ends do not fit the length";
  }

 private:
  Queue positions() { return {&this->ends_, slots_.data(), 3, 40}; }
  std::array<std::uint64_t, 8> slots_;
};
using static_memory = ring_memory<>;

/// As many chunks as a queue with room for eight needs.
using four_chunks = small_pool<2, 2>;

/// \tparam Derived has `directory()`
template <class Derived, class Queue, template <class> class Bounded>
class virtual_memory : public queue_memory<Queue, Bounded> {
 public:
  using queue_type = Queue;

  void format() {
    this->format_counts();
    pool().format();
    positions().format(0, 1, 0);
  }
  /// As if `number` chunks had been filled and emptied: chunk 0 is the next one.
  void start_at(std::uint64_t number) {
    format();
    this->ends_.front = number * four_chunks::slots_each;
    this->ends_.back = this->ends_.front;
    static_cast<Derived*>(this)->start_directory_at(number);
  }
  Bounded<Queue> queue() { return {positions(), &this->items_, &this->room_}; }

  /// Chunks: those with values, the one that takes values or is ready to, and one ahead of it.
  std::string problem(std::uint64_t length) {
    const queue_type q = positions();
    if (q.size() != length) return "the ends do not fit the length";
    if (pool().given_twice()) return "a chunk was given back twice";
    const std::uint64_t last = (q.first() + length) / 4;
    const std::uint64_t held = last + ((q.first() + length) % 4 == 0 ? 0 : 1) - q.first() / 4 + 1;
    const std::uint64_t in_use = four_chunks::count_of_chunks - pool().count();
    if (in_use < held - 1 || in_use > held + 1) {
      return std::to_string(in_use) + " chunks are in use for " + std::to_string(length) +
             " values from position " + std::to_string(q.first());
    }
    return "";
  }

  four_chunks pool() { return four_chunks(&pool_, &this->room_); }

 private:
  queue_type positions() {
    return {&this->ends_, static_cast<Derived*>(this)->directory(), pool()};
  }
  four_chunks::memory pool_;
};

template <class Directory = sync::array_directory,
          class Queue = sync::virtual_queue<Directory, four_chunks>,
          template <class> class Bounded = sync::bounded_queue>
class array_memory
    : public virtual_memory<array_memory<Directory, Queue, Bounded>, Queue, Bounded> {
 public:
  Directory directory() { return {entries_.data(), four_chunks::chunks_log2}; }

  void start_directory_at(std::uint64_t number) {
    for (std::uint64_t n = number; n < number + four_chunks::count_of_chunks; ++n) {
      entries_[n % four_chunks::count_of_chunks] = sync::numbered_chunk::without_chunk(n);
    }
    entries_[number % four_chunks::count_of_chunks] = sync::numbered_chunk::encode(number, 0);
  }

 private:
  std::array<std::uint64_t, four_chunks::count_of_chunks> entries_;
};

/// With two fingers, so that walks are needed.
template <class Directory = sync::list_directory,
          class Queue = sync::virtual_queue<Directory, four_chunks>,
          template <class> class Bounded = sync::bounded_queue>
class chain_memory
    : public virtual_memory<chain_memory<Directory, Queue, Bounded>, Queue, Bounded> {
 public:
  Directory directory() { return {&anchor_, links_.data(), fingers_.data(), 1, 3}; }

  void start_directory_at(std::uint64_t number) {
    anchor_.head = sync::numbered_chunk::encode(number, 0);
    anchor_.published = number + 1;
    // The tag of a link: the queue, and 27 bits of the number.
    links_[0] = (std::uint64_t{3} << 27 | (number & ((1u << 27) - 1))) << 32;
    fingers_ = {};
    fingers_[number % 2] = anchor_.head;
  }

 private:
  typename Directory::anchor anchor_;
  std::array<std::uint64_t, four_chunks::count_of_chunks> links_;
  std::array<std::uint64_t, 2> fingers_;
};
using list_memory = chain_memory<>;

}  // namespace test
WARPHEAP_END_NAMESPACE
