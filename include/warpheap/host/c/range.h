/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_RANGE_H
#define WARPHEAP_HOST_C_RANGE_H

/* Blocks in a range of offsets whose memory belongs to the caller: a buffer of a graphics API, a
 * file, an address range of another process. Needs no upstream, stream or CUDA. A block is freed by
 * its handle. Sizes and offsets are in bytes.
 *
 * One range may be used by one thread at a time, different ranges by different threads. */

#include <stddef.h>
#include <stdint.h>

#include "warpheap/host/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpheap_range warpheap_range;

typedef struct warpheap_range_block {
  uint64_t offset;
  uint64_t bytes;  /* the real size, a multiple of the granule; 0: no block */
  uint64_t handle; /* what warpheap_range_free takes; 0: no block */
} warpheap_range_block;

typedef struct warpheap_range_stats {
  uint64_t bytes_in_use;
  uint64_t blocks;
  uint64_t holes;
  uint64_t largest_hole_bytes;
} warpheap_range_stats;

/* Offsets from 0 up to, but not including, `bytes`, which is at most 2^46. The sizes and offsets of
 * blocks are multiples of `granule_bytes`, a power of two; 0 means 256. If the
 * range would have 2^32 granules or more, they are multiples of more, but at most of a 2^31th of
 * the range. */
WARPHEAP_API warpheap_status warpheap_range_create(uint64_t bytes, size_t granule_bytes,
                                                   warpheap_range** range);
WARPHEAP_API void warpheap_range_destroy(warpheap_range* range);

/* A block of at least `bytes` bytes (more than 0) at a multiple of `alignment`, a power of two.
 * WARPHEAP_OUT_OF_MEMORY if no hole fits, or if the process has no memory for the bookkeeping;
 * `*block` is then unchanged. O(1) */
WARPHEAP_API warpheap_status warpheap_range_allocate(warpheap_range* range, uint64_t bytes,
                                                     uint64_t alignment,
                                                     warpheap_range_block* block);
/* WARPHEAP_INVALID_ARGUMENT, with nothing changed, for a handle that does not belong to a live
 * block of this range, such as in a double free. Ranges number their blocks alike, so use a handle
 * only with its own range. O(1) */
WARPHEAP_API warpheap_status warpheap_range_free(warpheap_range* range, uint64_t handle);

/* O(blocks) */
WARPHEAP_API void warpheap_range_get_stats(const warpheap_range* range,
                                           warpheap_range_stats* stats);
/* Verifies the invariants. O(blocks) */
WARPHEAP_API warpheap_status warpheap_range_check(const warpheap_range* range);

#ifdef __cplusplus
}
#endif

#endif
