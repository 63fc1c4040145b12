/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_POOL_STATS_H
#define WARPHEAP_HOST_C_POOL_STATS_H

#include <stdint.h>

/* What a pool has done and holds. Sizes are in bytes, as handed out: a policy rounds a request up
 * to a granule or to a size of its own, and all of that is unavailable to others. */
typedef struct warpheap_pool_stats {
  uint64_t bytes_in_use;
  uint64_t peak_bytes;  /* the most of bytes_in_use since the pool was made */
  uint64_t blocks;      /* handed out and not freed */
  uint64_t peak_blocks; /* the most of blocks */
  uint64_t allocations;
  uint64_t deallocations;
  uint64_t failures;          /* requests that ended with "out of memory" */
  uint64_t last_failed_bytes; /* the size of the last of these */
  uint64_t reserved_bytes;    /* taken from the upstream */
  uint64_t peak_reserved_bytes;
  uint64_t regions;       /* blocks of the upstream that are held */
  uint64_t pending_bytes; /* freed, and not yet known to be unused by their stream */
  uint64_t pending_blocks;
  uint64_t moved_bytes; /* of pages that went from holes to where a request fits */
} warpheap_pool_stats;

#endif
