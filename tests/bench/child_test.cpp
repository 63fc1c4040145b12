// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The test program is run again as its own child: GoogleTest's flags choose what the child does.
#include "bench/host/child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

namespace warpheap::bench {
namespace {

// What children do. Disabled, so that they run only when they are asked for.
TEST(DISABLED_Child, Speaks) { std::cout << "a row" << std::endl; }
TEST(DISABLED_Child, Dies) {
  std::cerr << "first line\nlast words\n" << std::flush;
  std::raise(SIGKILL);
}
TEST(DISABLED_Child, Sleeps) { std::this_thread::sleep_for(std::chrono::seconds(60)); }
TEST(DISABLED_Child, Fails) { FAIL() << "on purpose"; }

child_outcome run_child(const std::string& test, double limit_s) {
  return run_again({"--gtest_also_run_disabled_tests", "--gtest_filter=DISABLED_Child." + test},
                   limit_s);
}

TEST(Child, OutputAndStatusComeBack) {
  const child_outcome outcome = run_child("Speaks", 60);
  EXPECT_EQ(outcome.end, "done");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("a row\n"), std::string::npos);
  EXPECT_EQ(run_child("Fails", 60).status, 1);
}

TEST(Child, CrashNamesTheSignalAndTheLastWords) {
  const child_outcome outcome = run_child("Dies", 60);
  EXPECT_EQ(outcome.end, "crashed");
  EXPECT_EQ(outcome.reason, "signal Killed: last words");
}

TEST(Child, HangEndsAtTheLimit) {
  const child_outcome outcome = run_child("Sleeps", 0.3);
  EXPECT_EQ(outcome.end, "timeout");
  EXPECT_LT(outcome.wall_s, 30);
}

}  // namespace
}  // namespace warpheap::bench
