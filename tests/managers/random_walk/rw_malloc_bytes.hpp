// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/capacity.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The least heap in which `rw_malloc` has `units` units behind what a layer has `in_front`.
inline std::size_t rw_malloc_bytes(layout_bytes in_front, std::size_t units,
                                   const rw_malloc_config& of = {}) {
  const auto word_bits = static_cast<std::size_t>(of.word_bits);
  const std::size_t words = ceil_div(units, word_bits);
  const std::size_t bitmaps = 3 * words + ceil_div(words, word_bits);  // three, and crossing
  return in_front
      .array(64 + bitmaps * word_bits / 8, 1)  // behind the search, on the same lines
      .then(units * of.unit_bytes, of.unit_bytes);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
