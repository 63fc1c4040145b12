// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Each size up to `largest` has the smallest of the classes, in their order, that holds it.
template <class ClassOf, class BytesOf>
void expect_smallest_classes(std::size_t largest, std::uint32_t classes, const ClassOf& class_of,
                             const BytesOf& bytes_of) {
  for (std::size_t bytes = 1; bytes <= largest; ++bytes) {
    const std::uint32_t cls = class_of(bytes);
    ASSERT_LT(cls, classes) << bytes;
    ASSERT_GE(bytes_of(cls), bytes);
    if (cls != 0) {
      ASSERT_LT(bytes_of(cls - 1), bytes);
    }
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
