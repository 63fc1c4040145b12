// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/host/c/replay.h"

#include "../replay_pool.hpp"
#include "pool.hpp"

using namespace warpheap::host;

extern "C" {

warpheap_status warpheap_replay(warpheap_pool* pool, const warpheap_trace* trace,
                                int stop_at_failure, uint32_t* latencies_ns,
                                warpheap_replay_result* result) {
  return guarded(
      [&] { *result = replay_pool(*pool->pool, *trace, stop_at_failure != 0, latencies_ns); });
}

warpheap_status warpheap_replay_timeline(warpheap_pool* pool, const warpheap_trace* trace,
                                         size_t points, warpheap_timeline_point* timeline) {
  return guarded([&] { replay_timeline(*pool->pool, *trace, points, timeline); });
}

warpheap_status warpheap_replay_threads(warpheap_pool* pool, const warpheap_trace* traces,
                                        size_t threads, uint64_t* wall_ns, uint64_t* failures) {
  return guarded([&] {
    replay_threads({traces, threads}, wall_ns, failures, [&](const warpheap_trace& trace) {
      return replay_pool(*pool->pool, trace, false, nullptr).failures;
    });
  });
}

}  // extern "C"
