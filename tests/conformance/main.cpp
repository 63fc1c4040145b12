// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--small` makes the tests small enough for compute-sanitizer. With `--all-laps`, a test that
// counts laps makes all of them (`./dev nightly`).
#include "conformance/scale.hpp"

#include <gtest/gtest.h>
#include <cstdio>
#include <string_view>

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (int i = 1; i < count; ++i) {
    const std::string_view flag = arguments[i];
    if (flag == "--small") {
      warpheap::test::small_run = true;
    } else if (flag == "--all-laps") {
      warpheap::test::all_laps = true;
    } else {
      std::fprintf(stderr, "unknown argument '%s': --small and --all-laps are known\n",
                   arguments[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
