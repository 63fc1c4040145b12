// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--small` makes the tests small enough for compute-sanitizer. With `--all-laps`, a test that
// counts laps makes all of them (`./dev nightly`).
#include "conformance/scale.hpp"

#include <gtest/gtest.h>
#include <string_view>

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--small") warpheap::test::small_run = true;
    if (std::string_view(arguments[i]) == "--all-laps") warpheap::test::all_laps = true;
  }
  return RUN_ALL_TESTS();
}
