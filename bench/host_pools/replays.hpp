// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <memory>
#include <vector>

#include "calls.hpp"
#include "threads.hpp"
#include "warpheap/host/c/replay.h"
#include "warpheap/host/upstreams/reserved_upstream.hpp"
#include "warpheap/pool.hpp"

namespace warpheap::bench::host_pools {

/// What the library's replay says that a call takes: nanoseconds of processor time, on a fresh
/// pool. Ends the program if the library refuses.
inline double time_of_replay(const trace& t, std::uint64_t range) {
  // As the tool makes it: a stream for each event.
  const std::vector<std::uint64_t> streams(t.operations.size());
  const warpheap_trace events{t.operations.data(), streams.data(), t.operations.size()};
  warpheap_pool_options options{};
  options.initial_bytes = range;
  options.limit_bytes = range;
  warpheap_pool* pool = nullptr;
  warpheap_replay_result result{};
  if (warpheap_pool_create("tlsf", "reserved", 0, &options, &pool) != WARPHEAP_OK ||
      warpheap_replay(pool, &events, 0, nullptr, &result) != WARPHEAP_OK || result.failures != 0) {
    std::fprintf(stderr, "the replay failed: %s\n", warpheap_last_error());
    std::exit(1);
  }
  warpheap_pool_destroy(pool);
  return static_cast<double>(result.cpu_ns) / static_cast<double>(t.operations.size());
}

/// The loop that a user would write around the pool's own functions.
[[gnu::noinline]] inline void make_calls_plainly(warpheap::pool& pool, const trace& t,
                                                 std::vector<void*>& blocks) {
  std::size_t asked = 0;
  for (const std::int64_t operation : t.operations) {
    if (operation >= 0) {
      blocks[asked++] = pool.try_allocate(static_cast<std::size_t>(operation), granule,
                                          host::stream_id::legacy_default);
    } else {
      pool.deallocate(blocks[static_cast<std::size_t>(-1 - operation)],
                      host::stream_id::legacy_default);
    }
  }
}

/// What a call takes in that loop.
inline double time_of_loop(const trace& t, std::uint64_t range) {
  const auto pool = std::make_unique<warpheap::pool>(
      std::make_shared<host::reserved_upstream>(), std::make_shared<host::no_events>(),
      host::pool_options{.initial_bytes = range, .limit_bytes = range});
  std::vector<void*> blocks(t.asks);
  const std::uint64_t start = host::processor_nanoseconds();
  make_calls_plainly(*pool, t, blocks);
  const double span = nanoseconds_since(start);
  return span / static_cast<double>(t.operations.size());
}

}  // namespace warpheap::bench::host_pools
