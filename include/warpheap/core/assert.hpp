// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// `WARPHEAP_ASSERT(condition)`: states a precondition. Debug builds of the CPU model end the
/// program with a message if it does not hold. On a GPU and in release builds nothing is evaluated.

#include "warpheap/core/config.hpp"

#if WARPHEAP_CUDA_MODEL || defined(NDEBUG)
// Unevaluated, and yet a use: a parameter that only a precondition names counts as used.
#define WARPHEAP_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#include <cstdio>
#include <cstdlib>

namespace warpheap {
[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, condition);
  std::abort();
}
}  // namespace warpheap

#define WARPHEAP_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : ::warpheap::assertion_failed(#condition, __FILE__, __LINE__))
#endif
