/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_MALLOC_H
#define WARPHEAP_MALLOC_H

/**
 * \file
 * Settings of the heap that serves `malloc` and `free` of kernels on each device. A program need
 * not set anything (docs/drop-in.md). Plain C, for programs of any standard; link them with the
 * target warpheap::malloc.
 */

#include <stddef.h>
#include <stdint.h>

#ifndef WARPHEAP_MALLOC_API
/* Each executable and each shared library has its own functions, for its own device code. */
#define WARPHEAP_MALLOC_API __attribute__((visibility("hidden")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The state of the heap of the current device. */
typedef struct warpheap_malloc_statistics {
  /** Bytes of the heap; 0: there is none. */
  uint64_t heap_bytes;
  /** Bytes of the largest block that it can serve. */
  uint64_t largest_block;
  uint64_t blocks_in_use;
  /** Bytes that these blocks occupy. */
  uint64_t bytes_in_use;
  /** Requests that returned null because the heap was exhausted. */
  uint64_t failures;
  /** Requests beyond largest_block. */
  uint64_t impossible;
  /** Requests of this executable's or library's kernels that found no heap. */
  uint64_t unserved;
} warpheap_malloc_statistics;

/**
 * Creates the heap of the current device, instead of the one that its first kernel would create.
 *
 * \param bytes size of the heap; 0: $WARPHEAP_MALLOC_BYTES, or the default
 * \param manager "warpheap" or "gallatin"; null or empty: $WARPHEAP_MALLOC_MANAGER, or "warpheap"
 * \return 0; else 1, and warpheap_malloc_error() says why: bytes is too small or more than the
 * device has, the manager is unknown, or the device has its heap already. O(what the manager keeps)
 */
WARPHEAP_MALLOC_API int warpheap_malloc_use(size_t bytes, const char* manager);

/**
 * Fills *result for the current device. Do not call it while kernels allocate. O(size of the heap /
 * block), on the device.
 * \return 0; else 1, and warpheap_malloc_error() says why
 */
WARPHEAP_MALLOC_API int warpheap_malloc_get_statistics(warpheap_malloc_statistics* result);

/**
 * Gives the heap of the current device, which is created if there is none, to device code that was
 * linked while the program runs (nvJitLink, cuLink). Call it once for each such module, before its
 * first kernel.
 *
 * \param state device address of the module's variable `warpheap_malloc_state`
 * \param bytes size of that variable, as cuModuleGetGlobal returns it
 * \return 0; else 1, and warpheap_malloc_error() says why: the module was linked with another
 * version of warpheap, or the heap cannot be created. O(1) if there is a heap
 */
WARPHEAP_MALLOC_API int warpheap_malloc_attach(void* state, size_t bytes);

/** Bytes of a `warpheap_malloc_state`. O(1). */
WARPHEAP_MALLOC_API size_t warpheap_malloc_state_bytes(void);

/** The message of this thread's latest call that returned 1. Valid until its next call. */
WARPHEAP_MALLOC_API const char* warpheap_malloc_error(void);

#ifdef __cplusplus
}
#endif

#endif
