// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "warpheap/host/c/replay.h"
#include "warpheap/host/extent.hpp"
#include "warpheap/host/replay/tick_clock.hpp"
#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

/// A sequence of calls, and its results, as c/replay.h describes them.
using trace_view = warpheap_trace;
using replay_result = warpheap_replay_result;

/// The stream of each event, as the trace has them.
struct streams_of_events {
  const std::uint64_t* streams;
  stream_id operator()(std::size_t event) const { return stream_id{streams[event]}; }
};

/// One stream for all events. A program that uses one reads it from nowhere, and a word for each
/// event would push the pool's bookkeeping out of the caches.
struct stream_of_all {
  stream_id stream;
  stream_id operator()(std::size_t /*event*/) const { return stream; }
};

inline stream_id first_stream(const trace_view& trace) {
  return trace.streams != nullptr && trace.count != 0 ? stream_id{*trace.streams}
                                                      : stream_id::legacy_default;
}

inline bool has_one_stream(const trace_view& trace) {
  return trace.streams == nullptr ||
         std::all_of(trace.streams, trace.streams + trace.count,
                     [&](std::uint64_t stream) { return stream == *trace.streams; });
}

struct replay_options {
  /// Room for the nanoseconds of each call. If null, only the total is timed, and no clock is read
  /// in between.
  std::uint32_t* latencies = nullptr;
  bool stop_at_failure = false;
};

// A function, so that no register is kept for the test while a request gets its memory.
[[gnu::cold, gnu::noinline]] inline bool ends_replay(replay_options options, trace_view trace,
                                                     std::size_t event) {
  return options.stop_at_failure && trace.operations[event] != 0;
}

/// The calls alone, each timed if `Timed`: everything else that a replay reports is computed before
/// or afterwards, so that a replay takes only the time of its calls. `sizes[n]` is the size of
/// allocation n, whose memory is kept in `blocks[n]`. Returns the number of calls made.
///
/// Trace, options and callables are copies, so that they stay in registers: the allocator might
/// write to the target of a reference, so each event would have to read it again.
template <bool Timed, class StreamOf, class Allocate, class Deallocate, class Look>
[[gnu::noinline]] std::size_t make_calls(trace_view trace, StreamOf stream_of,
                                         replay_options options, const tick_clock* clock,
                                         void** blocks, const std::size_t* sizes, Allocate allocate,
                                         Deallocate deallocate, Look& look) {
  void** next = blocks;
  for (std::size_t event = 0; event < trace.count; ++event) {
    const std::int64_t operation = trace.operations[event];
    const stream_id stream = stream_of(event);
    std::uint64_t before = 0;
    std::uint64_t ticks = 0;
    if (operation >= 0) {
      const auto bytes = static_cast<std::size_t>(operation);
      if constexpr (Timed) before = tick_clock::now();
      void* const memory = allocate(bytes, stream);
      if constexpr (Timed) ticks = tick_clock::now() - before;
      *next++ = memory;
      if (memory == nullptr && ends_replay(options, trace, event)) return event + 1;
    } else {
      void* const freed = blocks[-1 - operation];
      if (freed != nullptr) {
        if constexpr (Timed) before = tick_clock::now();
        deallocate(freed, sizes[-1 - operation], stream);
        if constexpr (Timed) ticks = tick_clock::now() - before;
      }
    }
    if constexpr (Timed) {
      options.latencies[event] = static_cast<std::uint32_t>(
          std::min<double>(clock->nanoseconds(ticks), std::numeric_limits<std::uint32_t>::max()));
    }
    look(event);
  }
  return trace.count;
}

/// Makes the calls of a trace from this thread. `allocate(bytes, stream)` returns memory or null;
/// `deallocate(memory, bytes, stream)`. `look(event)` is called after each event, untimed. Blocks
/// that the trace does not free are freed at the end, untimed. \pre each operation < 0 frees an
/// earlier allocation, and none is freed twice
template <class Allocate, class Deallocate, class Look>
replay_result replay(const trace_view& trace, const replay_options& options, Allocate&& allocate,
                     Deallocate&& deallocate, Look&& look) {
  const auto asks = [](std::int64_t operation) { return operation >= 0; };
  // The right size at once: a vector that grows frees large blocks of the process's heap, and
  // the C library then takes blocks of that size from where they cannot grow in place: the pool's
  // tables would be copied as they grow, which a program without this vector does not pay for.
  std::vector<std::size_t> sizes(static_cast<std::size_t>(
      std::count_if(trace.operations, trace.operations + trace.count, asks)));
  std::copy_if(trace.operations, trace.operations + trace.count, sizes.begin(), asks);
  std::vector<void*> blocks(sizes.size());
  std::optional<tick_clock> clock;
  replay_result result{};
  if (options.latencies != nullptr) {
    clock.emplace();
    result.clock_overhead_ns = clock->overhead_nanoseconds();
  }
  const auto make_all = [&](auto stream_of) {
    return clock ? make_calls<true>(trace, stream_of, options, &*clock, blocks.data(), sizes.data(),
                                    allocate, deallocate, look)
                 : make_calls<false>(trace, stream_of, options, nullptr, blocks.data(),
                                     sizes.data(), allocate, deallocate, look);
  };
  const bool is_one = has_one_stream(trace);
  const std::uint64_t cpu_start = processor_nanoseconds();
  const auto start = std::chrono::steady_clock::now();
  const std::size_t events = is_one ? make_all(stream_of_all{first_stream(trace)})
                                    : make_all(streams_of_events{trace.streams});
  result.wall_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count());
  result.cpu_ns = processor_nanoseconds() - cpu_start;

  std::uint64_t in_use = 0;
  address lowest = std::numeric_limits<address>::max();
  address highest = 0;
  std::size_t asked = 0;
  for (std::size_t event = 0; event < events; ++event) {
    const std::int64_t operation = trace.operations[event];
    if (operation < 0) {
      const auto freed = static_cast<std::size_t>(-1 - operation);
      if (blocks[freed] != nullptr) in_use -= sizes[freed];
      blocks[freed] = nullptr;
      continue;
    }
    void* const made = blocks[asked];
    const std::size_t bytes = sizes[asked++];
    if (made == nullptr) {
      result.failures += bytes != 0;
      continue;
    }
    in_use += bytes;
    result.peak_bytes = std::max(result.peak_bytes, in_use);
    lowest = std::min(lowest, reinterpret_cast<address>(made));
    highest = std::max(highest, reinterpret_cast<address>(made) + bytes);
  }
  result.span_bytes = highest > lowest ? highest - lowest : 0;
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    if (blocks[n] != nullptr) deallocate(blocks[n], sizes[n], stream_id::legacy_default);
  }
  return result;
}

}  // namespace warpheap::host
