/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WARPHEAP_HOST_C_TORCH_H
#define WARPHEAP_HOST_C_TORCH_H

/* The functions that PyTorch's pluggable allocator calls. */

#include <stddef.h>
#include <stdint.h>

#include "warpheap/host/c/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the pool of a device, once, before its first use; a null pool removes it. */
WARPHEAP_API warpheap_status warpheap_torch_use(int device, warpheap_pool* pool);
/* Throws a C++ exception (warpheap::out_of_memory) when out of memory: PyTorch checks no pointer.
 */
WARPHEAP_API void* warpheap_torch_allocate(ptrdiff_t bytes, int device, void* stream);
WARPHEAP_API void warpheap_torch_deallocate(void* memory, ptrdiff_t bytes, int device,
                                            void* stream);
/* The block is also used in this stream: its free waits for the work that is in the stream by then.
 */
WARPHEAP_API void warpheap_torch_record_stream(void* memory, void* stream);

#ifdef __cplusplus
}
#endif

#endif
