// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/capacity.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The least heap in which `rw_malloc` has `units` units behind what a layer has `in_front`.
inline std::size_t rw_malloc_bytes(layout_bytes in_front, std::size_t units,
                                   std::size_t unit_bytes) {
  return in_front
      .array(1, 64)              // search
      .array(3 * units / 8, 1)   // used, last and bundled
      .array(units / 32 / 8, 1)  // crossing
      .then(units * unit_bytes, unit_bytes);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
