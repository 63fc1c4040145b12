/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "warpheap/host/c/range.h"

warpheap_status take(warpheap_range* range, warpheap_range_block* block) {
  return warpheap_range_allocate(range, 1000, 1, block);
}
