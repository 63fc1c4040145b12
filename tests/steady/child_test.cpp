// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "child.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(child, says_how_it_ended) {
  EXPECT_EQ(run_child({"/bin/sh", "-c", "exit 3"}, 30), 3);
  EXPECT_EQ(run_child({"/bin/sh", "-c", "kill -TERM $$"}, 30), 128 + SIGTERM);
  EXPECT_EQ(run_child({"/no/such/program"}, 30), 127);
}

TEST(child, is_killed_when_its_time_is_over) {
  EXPECT_EQ(run_child({"/bin/sleep", "60"}, 0.01), std::nullopt);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
