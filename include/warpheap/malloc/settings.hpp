// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How large the heap behind `malloc` in kernels is, and which manager it has: what the environment
/// says, or else a size that leaves room for the program's own memory.

#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/core/parse_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

WARPHEAP_BEGIN_NAMESPACE

struct malloc_settings {
  /// 0: `default_malloc_bytes`.
  std::size_t bytes = 0;
  /// Empty: the first of `malloc_managers`.
  std::string manager;
  /// Tell on stderr what was taken, and at exit what became of it.
  bool report = false;
};

/// What the environment says.
/// \param lookup `const char*(const char* name)`: `std::getenv`, or what a test has in its place
/// \throws invalid_argument with the variable and its value
template <class Lookup>
malloc_settings read_malloc_settings(const Lookup& lookup) {
  malloc_settings found;
  if (const char* bytes = lookup("WARPHEAP_MALLOC_BYTES"); bytes != nullptr && *bytes != 0) {
    found.bytes = parse_bytes("WARPHEAP_MALLOC_BYTES", bytes);
  }
  if (const char* manager = lookup("WARPHEAP_MALLOC_MANAGER")) found.manager = manager;
  if (const char* report = lookup("WARPHEAP_MALLOC_REPORT")) {
    const std::string_view text = report;
    if (!text.empty() && text != "0" && text != "1") {
      throw invalid_argument("WARPHEAP_MALLOC_REPORT is '" + std::string(text) +
                             "': expected 0 or 1");
    }
    found.report = text == "1";
  }
  return found;
}

/// An eighth of the memory that is free, or twice what the program has asked CUDA's heap to be
/// (managers round sizes up differently), whichever is more; at most three quarters of what is
/// free.
inline std::size_t default_malloc_bytes(std::size_t free_bytes, std::size_t builtin_heap_bytes) {
  const std::size_t wanted =
      std::max(free_bytes / 8, 2 * std::min(builtin_heap_bytes, SIZE_MAX / 2));
  return std::min(wanted, free_bytes / 4 * 3);
}

WARPHEAP_END_NAMESPACE
