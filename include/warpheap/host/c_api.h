/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_API_H
#define WARPHEAP_HOST_C_API_H

/* The pools of device memory for C and for everything that can call C. The shared library needs no
 * CUDA toolkit and no GPU to load; it finds the driver when a pool asks for device memory.
 *
 * Every function may be called from any thread, and one pool by many threads at once. Functions
 * that return a status leave their results alone unless it is WARPHEAP_OK, and
 * warpheap_last_error() says what was wrong. Sizes are in bytes. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WARPHEAP_API __attribute__((visibility("default")))

typedef enum warpheap_status {
  WARPHEAP_OK = 0,
  WARPHEAP_OUT_OF_MEMORY = 1,
  WARPHEAP_INVALID_ARGUMENT = 2, /* also a block that is not in use: double and foreign frees */
  WARPHEAP_ERROR = 3             /* the driver failed, or an invariant does not hold */
} warpheap_status;

typedef struct warpheap_pool warpheap_pool;

/* 0 means the default. */
typedef struct warpheap_pool_options {
  size_t initial_bytes; /* taken at once; default 0 */
  size_t limit_bytes;   /* the most that is held; default no limit */
  size_t region_bytes;  /* the smallest growth; default 64 MiB */
  size_t granule_bytes; /* every block's alignment, and its size is a multiple of it; default 256 */
  size_t spare_percent; /* held beyond the peak before pages move; default: the policy's */
} warpheap_pool_options;

/* As struct pool_stats in stats.hpp. */
typedef struct warpheap_pool_stats {
  uint64_t bytes_in_use;
  uint64_t peak_bytes;
  uint64_t blocks;
  uint64_t peak_blocks;
  uint64_t allocations;
  uint64_t deallocations;
  uint64_t failures;
  uint64_t last_failed_bytes;
  uint64_t reserved_bytes;
  uint64_t peak_reserved_bytes;
  uint64_t regions;
  uint64_t pending_bytes;
  uint64_t pending_blocks;
  uint64_t moved_bytes;
} warpheap_pool_stats;

/* What the last failed call of this thread had to say. Valid until its next call. */
WARPHEAP_API const char* warpheap_last_error(void);

/* The names that warpheap_pool_create knows, with spaces between them. */
WARPHEAP_API const char* warpheap_pool_names(void);
WARPHEAP_API const char* warpheap_upstream_names(void);

/* A pool of this policy over this upstream; `device` is a CUDA device's number where the upstream
 * is one of CUDA's. `cuda_malloc` and `cuda_malloc_async` are also names of policies: the driver's
 * own allocators, for comparison, which have no upstream. Options may be null. */
WARPHEAP_API warpheap_status warpheap_pool_create(const char* policy, const char* upstream,
                                                  int device, const warpheap_pool_options* options,
                                                  warpheap_pool** pool);
/* Waits for the streams that used the pool and gives everything back, blocks in use included. */
WARPHEAP_API void warpheap_pool_destroy(warpheap_pool* pool);

/* `stream` is a cudaStream_t as a number; WARPHEAP_NO_STREAM means memory that no stream uses. */
#define WARPHEAP_NO_STREAM UINTPTR_MAX
/* 0 bytes give null and WARPHEAP_OK. */
WARPHEAP_API warpheap_status warpheap_pool_allocate(warpheap_pool* pool, size_t bytes,
                                                    size_t alignment, uintptr_t stream,
                                                    void** memory);
WARPHEAP_API warpheap_status warpheap_pool_deallocate(warpheap_pool* pool, void* memory,
                                                      uintptr_t stream);
/* Keeps the first `bytes` bytes of a block; `taken` gets the bytes that came back. */
WARPHEAP_API warpheap_status warpheap_pool_truncate(warpheap_pool* pool, void* memory, size_t bytes,
                                                    size_t* taken);
/* 0 for what is no block in use. */
WARPHEAP_API size_t warpheap_pool_usable_bytes(warpheap_pool* pool, void* memory);
WARPHEAP_API void warpheap_pool_get_stats(warpheap_pool* pool, warpheap_pool_stats* stats);
/* Gives back what no block needs while more than `keep_bytes` stay held: regions without a block,
 * whole pages of holes where the upstream has pages. Returns the bytes. */
WARPHEAP_API size_t warpheap_pool_trim(warpheap_pool* pool, size_t keep_bytes);
/* Verifies the invariants. O(blocks) */
WARPHEAP_API warpheap_status warpheap_pool_check(warpheap_pool* pool);

/* A sequence of calls, as struct trace_view in replay.hpp: an operation >= 0 asks for that many
 * bytes, one below 0 frees allocation number -1 - operation. `streams` may be null. */
typedef struct warpheap_trace {
  const int64_t* operations;
  const uint64_t* streams;
  size_t count;
} warpheap_trace;

typedef struct warpheap_replay_result {
  uint64_t wall_ns;
  uint64_t failures;
  uint64_t peak_bytes; /* as requested */
  uint64_t span_bytes; /* from the lowest byte handed out to the highest */
  double clock_overhead_ns; /* in each latency */
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

/* Makes the calls of a trace and writes `points` states down, equally far apart. Untimed. */
WARPHEAP_API warpheap_status warpheap_replay_timeline(warpheap_pool* pool,
                                                      const warpheap_trace* trace, size_t points,
                                                      warpheap_timeline_point* timeline);

/* Makes the calls of several traces at once, each from a thread of its own, and gives the time
 * until the last one is done. */
WARPHEAP_API warpheap_status warpheap_replay_threads(warpheap_pool* pool,
                                                     const warpheap_trace* traces, size_t threads,
                                                     uint64_t* wall_ns, uint64_t* failures);

/* What PyTorch's pluggable allocator calls. The pool of a device is set once, before its first use;
 * a null pool ends that. Out of memory is a C++ exception (warpheap::out_of_memory): PyTorch checks
 * no pointer. */
WARPHEAP_API warpheap_status warpheap_torch_use(int device, warpheap_pool* pool);
WARPHEAP_API void* warpheap_torch_allocate(ptrdiff_t bytes, int device, void* stream);
WARPHEAP_API void warpheap_torch_deallocate(void* memory, ptrdiff_t bytes, int device,
                                            void* stream);
/* The block is used in this stream too; its free waits for the work that is there then. */
WARPHEAP_API void warpheap_torch_record_stream(void* memory, void* stream);

#ifdef __cplusplus
}
#endif

#endif
