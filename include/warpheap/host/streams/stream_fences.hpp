// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

/// Events that must have happened before a stream may use memory that other streams freed. At most
/// one per stream: a later event of a stream happens after its earlier ones.
///
/// Complexity: O(streams) if the stream has not waited for an event yet, else O(1).
class stream_fences {
 public:
  explicit stream_fences(stream_events& events) : events_(events) {}
  stream_fences(const stream_fences&) = delete;
  stream_fences& operator=(const stream_fences&) = delete;
  ~stream_fences() {
    for (const fence& f : fences_) events_.recycle(f.event);
  }

  /// Whether no stream has to wait for anything, as far as is known.
  bool empty() const { return fences_.empty(); }

  /// From now on, every stream but `key` must wait for this event. Takes ownership of the event.
  void raise(stream_id key, event_handle event) {
    std::erase_if(fences_, [&](const fence& old) {
      if (old.key == key) events_.recycle(old.event);
      return old.key == key;
    });
    fences_.push_back({key, event, ++serial_});
  }

  /// Makes `handle`, known as `key`, wait for the events that it has not waited for yet; blocks the
  /// caller if it is `stream_id::none`.
  void pass(stream_id key, stream_id handle) {
    if (fences_.empty()) return;
    lower_happened();
    std::uint64_t& seen = passed_[key];
    for (const fence& f : fences_) {
      if (f.serial <= seen || f.key == key) continue;
      if (handle == stream_id::none) {
        events_.wait_for(f.event);
      } else {
        events_.make_wait(handle, f.event);
      }
    }
    seen = serial_;
  }

  /// Blocks until every event has happened.
  void wait_for_all() {
    for (const fence& f : fences_) events_.wait_for(f.event);
    lower_happened();
  }

  /// The same, but gives up at `deadline`; false if an event has not happened by then.
  bool wait_until(std::chrono::steady_clock::time_point deadline) {
    const bool all = std::all_of(fences_.begin(), fences_.end(), [&](const fence& f) {
      return events_.wait_until(f.event, deadline);
    });
    lower_happened();
    return all;
  }

 private:
  struct fence {
    stream_id key;
    event_handle event;
    std::uint64_t serial;
  };

  void lower_happened() {
    std::erase_if(fences_, [&](const fence& f) {
      if (!events_.happened(f.event)) return false;
      events_.recycle(f.event);
      return true;
    });
    if (fences_.empty()) passed_.clear();
  }

  stream_events& events_;
  std::vector<fence> fences_;
  std::unordered_map<stream_id, std::uint64_t> passed_;
  std::uint64_t serial_ = 0;
};

}  // namespace warpheap::host
