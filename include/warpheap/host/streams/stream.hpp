// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace warpheap::host {

/// A queue of work on the device, by its handle (the value of a `cudaStream_t`).
enum class stream_id : std::uintptr_t {
  legacy_default = 0,
  /// CUDA's name for "the default stream of the calling thread": one handle, many streams.
  per_thread = 2,
  /// No stream: memory that was unused by every stream when it was freed, and that must be unused
  /// by every stream when it is handed out.
  none = ~std::uintptr_t{0},
};

/// A point in a stream's work.
using event_handle = void*;

/// What a pool must know about streams. Called under the pool's lock.
///
/// A stream may be destroyed as soon as no call with it is under way, and the driver crashes when
/// given the handle of a destroyed stream. A handle is therefore only used during the call in which
/// the user passes it; `record_absent` serves everything later.
class stream_events {
 public:
  virtual ~stream_events() = default;

  /// An event that happens once all work that is in the stream now is done.
  virtual event_handle record(stream_id stream) = 0;
  /// The same for a stream that was named in an earlier call and may have been destroyed. The event
  /// may happen later than necessary: only when other streams are done, too.
  virtual event_handle record_absent(stream_id stream) = 0;
  /// Whether the event has happened.
  virtual bool happened(event_handle event) = 0;
  /// Work that enters the stream from now on starts after the event. Does not block the caller.
  virtual void make_wait(stream_id stream, event_handle event) = 0;
  /// Blocks the calling thread until the event has happened.
  virtual void wait_for(event_handle event) = 0;
  /// The same, but gives up at `deadline`; false if the event has not happened by then. The wait
  /// ends at the deadline at the latest; with `time_point::max()` it ends when the work before the
  /// event does, and the device completes that without the caller.
  virtual bool wait_until(event_handle event, std::chrono::steady_clock::time_point deadline) {
    while (!happened(event)) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  /// Whether the stream's work is being captured into a graph, so that it cannot be waited for.
  virtual bool is_captured(stream_id /*stream*/) { return false; }
  /// The pool no longer needs the event.
  virtual void recycle(event_handle event) = 0;
};

/// For memory that no stream uses asynchronously: every event has already happened.
class no_events final : public stream_events {
 public:
  event_handle record(stream_id) override { return nullptr; }
  event_handle record_absent(stream_id) override { return nullptr; }
  bool happened(event_handle) override { return true; }
  void make_wait(stream_id, event_handle) override {}
  void wait_for(event_handle) override {}
  void recycle(event_handle) override {}
};

}  // namespace warpheap::host
