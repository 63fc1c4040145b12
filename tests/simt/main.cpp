// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Besides the tests: `explorer-test --trace STRATEGY SEED` prints the trace of one schedule, so
// that a test can compare this process with another one.
#include "traced_schedule.hpp"

#include <gtest/gtest.h>
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int count, char** arguments) {
  if (count == 4 && std::string_view(arguments[1]) == "--trace") {
    const auto how = static_cast<warpheap::simt::strategy>(std::atoi(arguments[2]));
    const std::string trace =
        warpheap::test::traced_schedule({how, std::strtoull(arguments[3], nullptr, 10)});
    std::fputs(trace.c_str(), stdout);
    return 0;
  }
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
