// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "small_heap.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// The handle of an explored heap for code that fills blocks itself: the heap's own books, which
/// check contents, do not know them.
struct pages_of {
  any_heap* heap;

  void* malloc(std::size_t bytes) const { return heap->manager().malloc(bytes); }
  void free(void* block) const { heap->manager().free(block); }
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
