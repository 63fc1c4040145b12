/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_STATUS_H
#define WARPHEAP_HOST_C_STATUS_H

/* What the C functions return. Functions that return a status do not touch their results unless it
 * is WARPHEAP_OK, and warpheap_last_error() says what was wrong. */

#ifdef __cplusplus
extern "C" {
#endif

#define WARPHEAP_API __attribute__((visibility("default")))

typedef enum warpheap_status {
  WARPHEAP_OK = 0,
  WARPHEAP_OUT_OF_MEMORY = 1,
  WARPHEAP_INVALID_ARGUMENT = 2, /* also double frees and frees of foreign pointers */
  WARPHEAP_ERROR = 3             /* the driver failed, or an invariant does not hold */
} warpheap_status;

/* The message of the last call of this thread that failed. Valid until the thread's next call. */
WARPHEAP_API const char* warpheap_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
