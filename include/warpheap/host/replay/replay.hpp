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

inline stream_id stream_of(const trace_view& trace, std::size_t event) {
  return trace.streams != nullptr ? stream_id{trace.streams[event]} : stream_id::legacy_default;
}

struct replay_options {
  /// Room for the nanoseconds of each call, or null: then only the whole is timed, and no clock is
  /// read in between.
  std::uint32_t* latencies = nullptr;
  bool stop_at_failure = false;
};

/// Makes the calls of a trace from this thread.
/// `allocate(bytes, stream)` returns memory or null; `deallocate(memory, bytes, stream)`.
/// `look(event)` is called after each event, untimed. Blocks that the trace does not free are
/// freed at the end, untimed.
template <class Allocate, class Deallocate, class Look>
replay_result replay(const trace_view& trace, const replay_options& options, Allocate&& allocate,
                     Deallocate&& deallocate, Look&& look) {
  struct block {
    void* memory;
    std::size_t bytes;
  };
  std::optional<tick_clock> clock;
  if (options.latencies != nullptr) clock.emplace();
  const auto now = [&] { return clock ? tick_clock::now() : 0; };
  std::vector<block> blocks;
  blocks.reserve(static_cast<std::size_t>(std::count_if(
      trace.operations, trace.operations + trace.count, [](std::int64_t o) { return o >= 0; })));
  replay_result result{};
  if (clock) result.clock_overhead_ns = clock->overhead_nanoseconds();
  std::uint64_t in_use = 0;
  address lowest = std::numeric_limits<address>::max();
  address highest = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t event = 0; event < trace.count; ++event) {
    const std::int64_t operation = trace.operations[event];
    const stream_id stream = stream_of(trace, event);
    std::uint64_t ticks = 0;
    if (operation >= 0) {
      const auto bytes = static_cast<std::size_t>(operation);
      const std::uint64_t before = now();
      void* memory = allocate(bytes, stream);
      ticks = now() - before;
      blocks.push_back({memory, bytes});
      if (memory != nullptr) {
        in_use += bytes;
        result.peak_bytes = std::max(result.peak_bytes, in_use);
        lowest = std::min(lowest, reinterpret_cast<address>(memory));
        highest = std::max(highest, reinterpret_cast<address>(memory) + bytes);
      } else if (bytes != 0) {
        ++result.failures;
        if (options.stop_at_failure) break;
      }
    } else {
      block& freed = blocks[static_cast<std::size_t>(-1 - operation)];
      if (freed.memory != nullptr) {
        const std::uint64_t before = now();
        deallocate(freed.memory, freed.bytes, stream);
        ticks = now() - before;
        in_use -= freed.bytes;
        freed.memory = nullptr;
      }
    }
    if (clock) {
      options.latencies[event] = static_cast<std::uint32_t>(
          std::min<double>(clock->nanoseconds(ticks), std::numeric_limits<std::uint32_t>::max()));
    }
    look(event);
  }
  result.wall_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count());
  result.span_bytes = highest > lowest ? highest - lowest : 0;
  for (const block& left : blocks) {
    if (left.memory != nullptr) deallocate(left.memory, left.bytes, stream_id::legacy_default);
  }
  return result;
}

}  // namespace warpheap::host
