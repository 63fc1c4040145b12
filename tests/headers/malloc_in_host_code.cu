// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must not compile: only lanes allocate.
#include <warpheap/warpheap.hpp>

void* host_code(const warpheap::heap<>& heap) { return heap.ref().malloc(16); }
