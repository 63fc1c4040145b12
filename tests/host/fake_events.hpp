// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

inline constexpr stream_id one{0x100};
inline constexpr stream_id two{0x200};
inline constexpr stream_id three{0x300};

/// Stands in for a device: each stream's work is a number that grows, and the test decides how
/// far the stream has come. Remembers the waits that were requested. A stream may be destroyed, and
/// then its handle must not be used.
class fake_events final : public stream_events {
 public:
  /// How much of each stream's work must be done.
  using event = std::map<stream_id, std::uint64_t>;

  /// The stream gets one more piece of work.
  void submit(stream_id stream) { ++submitted[stream]; }
  void finish(stream_id stream) { finished[stream] = submitted[stream]; }
  void destroy(stream_id stream) { destroyed.insert(stream); }
  /// A new stream has the handle of a destroyed one. The driver gives it away only when the work of
  /// the old one is done, and so all that it waited for.
  void create(stream_id stream) {
    if (destroyed.erase(stream) == 0) return;
    finish(stream);
    std::erase_if(waited, [&](const auto& wait) {
      const auto [user, other] = wait.first;
      if (user == stream) finished[other] = std::max(finished[other], wait.second);
      return user == stream;
    });
  }

  event_handle record(stream_id stream) override {
    ++calls;
    expect_alive(stream);
    return made({{stream, submitted[stream]}});
  }
  event_handle record_absent(stream_id) override {
    ++calls;
    return made(submitted);
  }
  bool happened(event_handle handle) override {
    ++calls;
    for (const auto& [stream, work] : *static_cast<event*>(handle)) {
      if (finished[stream] < work) return false;
    }
    return true;
  }
  void make_wait(stream_id stream, event_handle handle) override {
    ++calls;
    expect_alive(stream);
    for (const auto& [other, work] : *static_cast<event*>(handle)) {
      auto& seen = waited[{stream, other}];
      seen = std::max(seen, work);
    }
  }
  void wait_for(event_handle handle) override {
    ++calls;
    for (const auto& [stream, work] : *static_cast<event*>(handle)) {
      finished[stream] = std::max(finished[stream], work);
    }
    ++blocked;
  }
  bool wait_until(event_handle handle, std::chrono::steady_clock::time_point deadline) override {
    last_deadline = deadline;
    if (stuck && deadline != std::chrono::steady_clock::time_point::max()) {
      ++gave_up;
      return happened(handle);
    }
    wait_for(handle);
    return true;
  }
  bool is_captured(stream_id stream) override {
    ++calls;
    return captured.contains(stream);
  }
  void recycle(event_handle handle) override {
    ++calls;
    --live;
    delete static_cast<event*>(handle);
  }

  /// Whether `user` may touch what `freer` freed after `work` things.
  bool is_safe(stream_id user, stream_id freer, std::uint64_t work) {
    return user == freer || finished[freer] >= work || waited[{user, freer}] >= work;
  }

  std::map<stream_id, std::uint64_t> submitted;
  std::map<stream_id, std::uint64_t> finished;
  std::map<std::pair<stream_id, stream_id>, std::uint64_t> waited;
  std::set<stream_id> destroyed;
  std::set<stream_id> captured;
  /// Work never finishes before a deadline.
  bool stuck = false;
  int gave_up = 0;
  std::chrono::steady_clock::time_point last_deadline{};
  int live = 0;
  int calls = 0;  ///< of any of the functions that call the driver
  int recorded = 0;
  int blocked = 0;

 private:
  event_handle made(event what) {
    ++live;
    ++recorded;
    return new event(std::move(what));
  }
  void expect_alive(stream_id stream) const {
    EXPECT_FALSE(destroyed.contains(stream)) << "the driver would crash";
    EXPECT_NE(stream, stream_id::none) << "the driver would crash: it is not a handle";
  }
};

}  // namespace warpheap::host
