// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

#include "warpheap/host/stores/block_table.hpp"
#include "warpheap/host/stores/size_index.hpp"
#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

/// Blocks that were freed in a stream and that its work may still use. The stream itself may reuse
/// its own blocks at once; for other streams, an event must happen first.
///
/// A stream's blocks form batches in the order of the frees: an open one, and closed ones, each
/// with an event that was recorded after its last free. One event serves a whole batch. The event
/// is recorded during a call of the stream itself; only if the stream no longer calls, or if
/// another stream needs the memory now, does an event of all streams cover the batch.
///
/// Complexity: add, take and contains O(1) expected; retire O(1) per block.
class pending_blocks {
 public:
  using index = block_table::index;

  pending_blocks(policy_options options, stream_events& events)
      : options_(options), events_(events) {}
  pending_blocks(const pending_blocks&) = delete;
  pending_blocks& operator=(const pending_blocks&) = delete;
  ~pending_blocks() {
    for (auto& [key, q] : queues_) {
      for (const batch& closed : q.closed) events_.recycle(closed.event);
    }
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t blocks() const { return blocks_; }
  bool contains(address base) const { return table_.find(base) != block_table::none; }

  /// Whether any stream but this one has blocks here.
  bool others_than(stream_id key) const {
    for (const auto& [other, q] : queues_) {
      if (other != key && q.blocks != 0) return true;
    }
    return false;
  }

  /// Whether `add` of a block of this stream would record an event.
  bool closes_with_next(stream_id key) const {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return false;
    return found->second.open_blocks + 1 == batch_blocks || found->second.looks != 0;
  }

  /// `handle`, whose queue is `key`, freed a block. Closes the batch when it has become large or
  /// old, or when no later call can: only its own thread can refer to a per-thread stream.
  void add(stream_id key, stream_id handle, extent block) {
    queue& q = queues_.try_emplace(key, options_).first->second;
    if (q.open == block_table::none) q.open = new_list();
    const index which = table_.add_region(block);
    table_.hand_out(which);
    q.by_size.insert(table_, which);
    link(q.open, which);
    ++q.blocks;
    ++blocks_;
    bytes_ += block.bytes;
    if (++q.open_blocks == batch_blocks || q.looks != 0 || handle == stream_id::per_thread) {
      close(q, events_.record(handle));
    }
  }

  /// A block of `bytes` to `most` bytes that the stream itself freed, or an empty extent.
  extent take(stream_id key, std::size_t bytes, std::size_t most, std::size_t alignment) {
    const auto found = queues_.find(key);
    if (found == queues_.end() || found->second.blocks == 0) return {};
    queue& q = found->second;
    const index which =
        q.by_size.find(table_, bytes, effort::bounded, [] { return std::size_t{0}; });
    if (which == block_table::none) return {};
    const extent block = table_[which].range();
    if (block.bytes > most || block.base % alignment != 0) return {};
    forget(q, which);
    return block;
  }

  /// Passes the blocks of every batch whose event has happened to `release`. Closes batches that
  /// were found open many times: a stream that frees no more does not keep its blocks.
  template <class Release>
  void retire_happened(Release&& release) {
    for (auto& [key, q] : queues_) {
      if (q.open != block_table::none && ++q.looks == patience) {
        close(q, events_.record_absent(key));
      }
      while (!q.closed.empty() && events_.happened(q.closed.front().event)) {
        retire_front(q, release);
      }
    }
  }

  /// Passes all blocks to `release`, and for each stream that had some, the event after which they
  /// are unused to `fence(key, event)`, which owns the event from then on.
  template <class Release, class Fence>
  void retire_all(Release&& release, Fence&& fence) {
    for (auto& [key, q] : queues_) {
      if (q.blocks == 0 && q.closed.empty()) {
        retire_open(q, release);  // all of it was taken back
        continue;
      }
      if (q.open != block_table::none) close(q, events_.record_absent(key));
      fence(key, std::exchange(q.closed.back().event, nullptr));
      while (!q.closed.empty()) retire_front(q, release);
    }
    if (queues_.size() > idle_queues) queues_.clear();
  }

  /// Passes the blocks of one stream to `release`: the caller knows that this is safe.
  template <class Release>
  void retire_stream(stream_id key, Release&& release) {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return;
    queue& q = found->second;
    while (!q.closed.empty()) retire_front(q, release);
    retire_open(q, release);
  }

 private:
  static constexpr std::size_t batch_blocks = 32;
  static constexpr std::size_t idle_queues = 64;
  // Once a batch has been found open this many times, its stream counts as silent.
  static constexpr unsigned patience = 32;

  struct batch {
    event_handle event;
    index list;
  };

  struct queue {
    explicit queue(policy_options options) : by_size(options) {}

    size_index<5> by_size;
    std::deque<batch> closed;
    index open = block_table::none;
    std::size_t open_blocks = 0;  ///< blocks that were added to the open batch
    unsigned looks = 0;           ///< that found it open
    std::size_t blocks = 0;       ///< blocks in all batches
  };

  // A batch is a ring of records, linked by `left` and `right`, that starts at a record without a
  // block: a block can leave it without knowing which batch it is in.
  index new_list() {
    const index ring = table_.add_region({});
    table_[ring].left = ring;
    table_[ring].right = ring;
    return ring;
  }

  void link(index ring, index which) {
    const index last = table_[ring].left;
    table_[which].left = last;
    table_[which].right = ring;
    table_[last].right = which;
    table_[ring].left = which;
  }

  void forget(queue& q, index which) {
    q.by_size.remove(table_, which);
    const auto [left, right] = std::pair{table_[which].left, table_[which].right};
    table_[left].right = right;
    table_[right].left = left;
    bytes_ -= table_[which].bytes;
    --blocks_;
    --q.blocks;
    table_.take_back(table_[which].base);
    table_.forget(which);
  }

  void close(queue& q, event_handle after) {
    q.closed.push_back({after, q.open});
    forget_open(q);
  }

  static void forget_open(queue& q) {
    q.open = block_table::none;
    q.open_blocks = 0;
    q.looks = 0;
  }

  template <class Release>
  void empty_list(queue& q, index ring, Release& release) {
    while (table_[ring].right != ring) {
      const index which = table_[ring].right;
      const extent block = table_[which].range();
      forget(q, which);
      release(block);
    }
    table_.forget(ring);
  }

  template <class Release>
  void retire_open(queue& q, Release& release) {
    if (q.open == block_table::none) return;
    empty_list(q, q.open, release);
    forget_open(q);
  }

  template <class Release>
  void retire_front(queue& q, Release& release) {
    const batch done = q.closed.front();
    q.closed.pop_front();
    empty_list(q, done.list, release);
    if (done.event != nullptr) events_.recycle(done.event);
  }

  policy_options options_;
  stream_events& events_;
  block_table table_;
  std::unordered_map<stream_id, queue> queues_;
  std::size_t bytes_ = 0;
  std::size_t blocks_ = 0;
};

}  // namespace warpheap::host
