/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_POOL_H
#define WARPHEAP_HOST_C_POOL_H

/* The pools of device memory for C and for everything that can call C. The shared library needs no
 * CUDA toolkit and no GPU to load; it finds the driver when a pool asks for device memory.
 *
 * Every function may be called from any thread, and one pool by many threads at once. Sizes are in
 * bytes. */

#include <stddef.h>
#include <stdint.h>

#include "warpheap/host/c/pool_stats.h"
#include "warpheap/host/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpheap_pool warpheap_pool;

/* 0 means the default. */
typedef struct warpheap_pool_options {
  size_t initial_bytes; /* taken at once; default 0 */
  size_t limit_bytes;   /* the most that is held; default: no limit */
  size_t region_bytes;  /* the smallest growth; default 2 MiB */
  size_t granule_bytes; /* every block's alignment, and its size is a multiple of it; default 256 */
  size_t spare_percent; /* held beyond the peak before pages move; default: the policy's */
  size_t parts;         /* each with a lock and memory of its own, for threads that allocate at once
                         * (host/pools/divided_pool.hpp); default 1 */
} warpheap_pool_options;

/* The names that warpheap_pool_create knows, with spaces between them. */
WARPHEAP_API const char* warpheap_pool_names(void);
WARPHEAP_API const char* warpheap_upstream_names(void);

/* Creates a pool of this policy over this upstream; `device` is the number of a CUDA device if the
 * upstream is one of CUDA's. `cuda_malloc` and `cuda_malloc_async` are also names of policies: the
 * driver's own allocators, for comparison, which have no upstream. Options may be null. */
WARPHEAP_API warpheap_status warpheap_pool_create(const char* policy, const char* upstream,
                                                  int device, const warpheap_pool_options* options,
                                                  warpheap_pool** pool);
/* Waits for the streams that used the pool and gives back everything, including blocks in use. */
WARPHEAP_API void warpheap_pool_destroy(warpheap_pool* pool);

/* `stream` is a cudaStream_t as a number; WARPHEAP_NO_STREAM means memory that no stream uses. */
#define WARPHEAP_NO_STREAM UINTPTR_MAX
/* A request of 0 bytes returns WARPHEAP_OK and null. */
WARPHEAP_API warpheap_status warpheap_pool_allocate(warpheap_pool* pool, size_t bytes,
                                                    size_t alignment, uintptr_t stream,
                                                    void** memory);
WARPHEAP_API warpheap_status warpheap_pool_deallocate(warpheap_pool* pool, void* memory,
                                                      uintptr_t stream);
/* The same two for callers that hold a lock which the work in the streams may need, such as
 * Python's: they take no memory from the upstream, do not call the driver and never wait. Null, or
 * 0, means that nothing was done, for whatever reason: the functions above do it or say what is
 * wrong. A null pool is allowed. */
WARPHEAP_API void* warpheap_pool_allocate_quickly(warpheap_pool* pool, size_t bytes,
                                                  size_t alignment, uintptr_t stream);
WARPHEAP_API int warpheap_pool_deallocate_quickly(warpheap_pool* pool, void* memory,
                                                  uintptr_t stream);
/* Keeps the first `bytes` bytes of a block; sets `taken` to the number of bytes taken back. */
WARPHEAP_API warpheap_status warpheap_pool_truncate(warpheap_pool* pool, void* memory, size_t bytes,
                                                    size_t* taken);
/* 0 if `memory` is not a live block. */
WARPHEAP_API size_t warpheap_pool_usable_bytes(warpheap_pool* pool, void* memory);
WARPHEAP_API void warpheap_pool_get_stats(warpheap_pool* pool, warpheap_pool_stats* stats);
/* Gives back memory that no block needs, as long as more than `keep_bytes` bytes stay held: regions
 * without a block and, if the upstream has pages, whole pages of holes. Returns the bytes given
 * back. */
WARPHEAP_API size_t warpheap_pool_trim(warpheap_pool* pool, size_t keep_bytes);
/* Verifies the invariants. O(blocks) */
WARPHEAP_API warpheap_status warpheap_pool_check(warpheap_pool* pool);

#ifdef __cplusplus
}
#endif

#endif
