// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/assert.hpp"

#include <gtest/gtest.h>

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WARPHEAP_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WARPHEAP_ADDRESS_SANITIZER 1
#endif
#if defined(WARPHEAP_ADDRESS_SANITIZER) && defined(NDEBUG)
#error "AddressSanitizer's build is the one of CI that checks preconditions: it needs them"
#endif

#if defined(NDEBUG)
TEST(assertions, evaluate_nothing_in_a_release_build) {
  int evaluated = 0;
  const auto fails = [&] { return ++evaluated == 2; };
  WARPHEAP_ASSERT(fails());
  EXPECT_EQ(evaluated, 0);
}
#else
TEST(assertions, end_the_program_and_say_what_does_not_hold) {
  const int pages = 3;
  WARPHEAP_ASSERT(pages == 3);
  EXPECT_DEATH(WARPHEAP_ASSERT(pages == 4), "assert_test.cpp:.* does not: pages == 4");
}
#endif

}  // namespace
