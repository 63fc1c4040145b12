// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--small` makes the tests small enough for compute-sanitizer.
#include "conformance/scale.hpp"

#include <gtest/gtest.h>
#include <string_view>

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--small") warpheap::test::small_run = true;
  }
  return RUN_ALL_TESTS();
}
