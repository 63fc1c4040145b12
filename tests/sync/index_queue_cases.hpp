// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of the index queues: values go round, and the queue is full and empty in turn.

#include "scenario.hpp"

#include "small_index_queues.hpp"

#include <array>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Each lane puts up to three values of its own into a queue that holds eight of them. A value
/// stands for a word that its producer has written before: the lane that takes it sees that.
template <class Memory>
class queue_world {
 public:
  static constexpr simt::grid shape{2, 4};
  static constexpr int rounds = 3;
  static constexpr std::uint32_t values = 8 * rounds;

  void reset(std::uint64_t /*seed*/) {
    memory_.format();
    written_ = {};
    taken_ = {};
    put_ = 0;
    popped_ = 0;
    wrong_.clear();
  }

 protected:
  static std::uint64_t own_value(int round) {
    return simt::thread_rank() * rounds + static_cast<std::uint64_t>(round);
  }
  bool push(std::uint64_t value) {
    simt::atomic_ref(written_[value]).store(1, simt::order::relaxed);
    const bool in = memory_.queue().push(value);
    put_ += in ? 1 : 0;
    return in;
  }
  bool pop(std::uint64_t& value) {
    if (!memory_.queue().pop(value)) return false;
    ++popped_;
    if (value >= values) {
      wrong_ = "a value that nobody has put: " + std::to_string(value);
    } else {
      ++taken_[value];
      if (simt::atomic_ref(written_[value]).load(simt::order::relaxed) != 1) {
        wrong_ = "a value came without what its producer has written";
      }
    }
    return true;
  }
  std::string common_verdict() {
    if (!wrong_.empty()) return wrong_;
    const auto queue = memory_.queue();
    const std::int64_t length = put_ - popped_;
    const auto bound = static_cast<std::int64_t>(queue.positions().bound());
    if (queue.items().read().count != length ||
        queue.room().read().count != static_cast<std::int64_t>(Memory::capacity) - bound) {
      return "the counts are " + std::to_string(queue.items().read().count) + " and " +
             std::to_string(queue.room().read().count) + ", and the length is " +
             std::to_string(length);
    }
    return memory_.problem(static_cast<std::uint64_t>(length));
  }

  Memory memory_;
  std::array<std::uint32_t, values> written_{};
  std::array<untracked<int>, values> taken_{};
  untracked<std::int64_t> put_ = 0;
  untracked<std::int64_t> popped_ = 0;
  std::string wrong_;
};

/// Each lane puts its value, waiting for room, and takes any, waiting for one, three times: so long
/// that a directory comes round.
template <class Memory>
class circulate : public queue_world<Memory> {
 public:
  void lane() {
    for (int round = 0; round < this->rounds; ++round) {
      // Ends: a lane that has put waits to take, so there is room for the others before long.
      while (!this->push(this->own_value(round))) simt::backoff(1);
      std::uint64_t value = 0;
      while (!this->pop(value)) simt::backoff(1);
    }
  }
  std::string verdict() {
    for (const int times : this->taken_) {
      if (times != 1) this->wrong_ = "a value was taken " + std::to_string(times) + " times";
    }
    return this->common_verdict();
  }
};

/// Four lanes put values while there is room, and four take them.
template <class Memory>
class full_and_empty : public queue_world<Memory> {
 public:
  void lane() {
    for (int round = 0; round < this->rounds; ++round) {
      std::uint64_t value = 0;
      if (simt::thread_rank() % 2 == 0) {
        this->push(this->own_value(round));
      } else {
        this->pop(value);
      }
    }
  }
  std::string verdict() { return this->common_verdict(); }
};

/// Four tokens circulate, and no lane counts room: each lane takes one and puts it back.
template <class Directory>
class tokens {
 public:
  static constexpr simt::grid shape{2, 4};
  static constexpr std::uint64_t count = 4;

  void reset(std::uint64_t /*seed*/) {
    pool().format();
    queue().format(0, 1, 0);
    there_ = {true, true, true, true};
    wrong_ = nullptr;
  }
  void lane() {
    if (simt::thread_rank() < count) put(simt::thread_rank());
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t position = queue().draw_front(1);
      std::uint64_t token = 0;
      // Ends: at most seven others wait for tokens, and each puts its token back.
      while (!queue().poll(position, token)) simt::backoff(1);
      if (token >= count || !there_[token]) {
        wrong_ = "a token that is not there was taken";
        return;
      }
      there_[token] = false;
      simt::backoff(1);
      there_[token] = true;
      put(token);
    }
  }
  std::string verdict() {
    if (wrong_ != nullptr) return wrong_;
    return queue().size() == count ? "" : "a token was lost";
  }

 private:
  /// Of two slots: 3 * (4 / 2) + 3 chunks are needed, and a directory of 4 / 2 + 2.
  using chunks = test::small_pool<4, 1>;
  using queue_type = sync::virtual_queue<Directory, chunks>;

  void put(std::uint64_t token) {
    const simt::group self = simt::coalesced(nullptr).match(simt::thread_rank());
    const std::uint64_t position = queue().draw_back(1);
    queue().prepare(self, position, 1);
    queue().put(position, token);
  }
  chunks pool() { return chunks(&pool_, nullptr); }
  queue_type queue() { return {&ends_, Directory(entries_.data(), 2), pool()}; }

  sync::queue_ends ends_{};
  std::array<std::uint64_t, 4> entries_{};
  typename chunks::memory pool_{};
  std::array<bool, count> there_{};
  const char* wrong_ = nullptr;
};

/// One lane publishes chunk 1 and retires it, another one publishes chunk 5, which has the same
/// place in a directory of four and may come first.
template <class Directory>
class laps {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    given_ = 0;
    wrong_ = nullptr;
    directory().format(0, 1, 0);
  }
  void lane() {
    const std::uint32_t chunk = simt::thread_rank() == 0 ? 1 : 5;
    directory().publish(chunk, chunk);
    std::uint32_t found = 0;
    if (!directory().find(chunk, found) || found != chunk) wrong_ = "a chunk is not found";
    if (chunk == 1) directory().retire(simt::coalesced(nullptr), chunk, chunk, pool{this});
  }
  std::string verdict() {
    if (wrong_ != nullptr) return wrong_;
    return given_ == 1 ? "" : "another chunk was given back";
  }

 private:
  struct pool {
    laps* home;
    void give(std::uint32_t chunk) const { home->given_ = chunk; }
  };
  Directory directory() { return Directory(entries_.data(), 2); }

  std::array<std::uint64_t, 4> entries_{};
  std::uint32_t given_ = 0;
  const char* wrong_ = nullptr;
};

template <class Directory>
std::vector<named_case> array_directory_cases() {
  return {case_of<tokens<Directory>>("tokens"), case_of<laps<Directory>>("laps")};
}

template <class Memory>
std::vector<named_case> index_queue_cases() {
  return {case_of<circulate<Memory>>("circulate"),
          case_of<full_and_empty<Memory>>("full_and_empty")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
