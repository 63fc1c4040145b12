/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_REPLAY_H
#define WARPHEAP_HOST_C_REPLAY_H

/* Allocation traces on a pool: how long their calls take and what the pool holds meanwhile. */

#include <stddef.h>
#include <stdint.h>

#include "warpheap/host/c/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sequence of calls: an operation >= 0 asks for that many bytes, and these are numbered from 0;
 * an operation < 0 frees number -1 - operation. `streams` has the stream of each operation, or is
 * null: then all are in stream 0. */
typedef struct warpheap_trace {
  const int64_t* operations;
  const uint64_t* streams;
  size_t count;
} warpheap_trace;

typedef struct warpheap_replay_result {
  uint64_t wall_ns;         /* of all calls, with what the loop and its clock cost */
  uint64_t cpu_ns;          /* the same in processor time: that of other programs is not in it */
  uint64_t failures;        /* requests that got no memory; their frees are left out */
  uint64_t peak_bytes;      /* the most bytes, as requested, in use at once */
  uint64_t span_bytes;      /* from the lowest byte handed out to the highest */
  double clock_overhead_ns; /* included in each latency; 0 if no call was timed */
} warpheap_replay_result;

/* Makes the calls of a trace. `latencies_ns` (one for each event) may be null: then no call is
 * timed, and `wall_ns` has no clock in it. */
WARPHEAP_API warpheap_status warpheap_replay(warpheap_pool* pool, const warpheap_trace* trace,
                                             int stop_at_failure, uint32_t* latencies_ns,
                                             warpheap_replay_result* result);

/* The state of a pool after an event. */
typedef struct warpheap_timeline_point {
  uint64_t event;
  uint64_t bytes_in_use;
  uint64_t reserved_bytes;
  uint64_t free_bytes;
  uint64_t largest_free_bytes;
  uint64_t free_blocks;
} warpheap_timeline_point;

/* Makes the calls of a trace and records `points` states at equal distances. Untimed. */
WARPHEAP_API warpheap_status warpheap_replay_timeline(warpheap_pool* pool,
                                                      const warpheap_trace* trace, size_t points,
                                                      warpheap_timeline_point* timeline);

/* Makes the calls of several traces at once, each from its own thread; `wall_ns` is the time from
 * the start of the first thread until the last one is done. */
WARPHEAP_API warpheap_status warpheap_replay_threads(warpheap_pool* pool,
                                                     const warpheap_trace* traces, size_t threads,
                                                     uint64_t* wall_ns, uint64_t* failures);

#ifdef __cplusplus
}
#endif

#endif
