// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_array.hpp"

#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Nothing is in use, and the manager's invariants hold.
inline void expect_nothing_left(const heap<>& subject) {
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
  EXPECT_EQ(subject.stats().bytes_in_use, 0u);
  EXPECT_TRUE(subject.validate().violations.empty());
}

}  // namespace test
WARPHEAP_END_NAMESPACE
