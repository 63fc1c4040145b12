// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/child.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpheap::bench {
namespace {

child_outcome run_shell(const std::string& script, double limit_s) {
  return run_child("/bin/sh", {"-c", script}, limit_s);
}

TEST(Child, OutputAndStatusComeBack) {
  const child_outcome outcome = run_shell("echo a row; exit 3", 60);
  EXPECT_EQ(outcome.end, "done");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.output, "a row\n");
  EXPECT_EQ(outcome.reason, "exit status 3");
}

TEST(Child, LongOutputDoesNotBlockIt) {
  const child_outcome outcome = run_shell(
      "i=0; while [ $i -lt 5000 ]; do echo 0123456789012345678901234567890 >&2; "
      "echo 0123456789012345678901234567890; i=$((i+1)); done",
      60);
  EXPECT_EQ(outcome.end, "done");
  EXPECT_EQ(outcome.output.size(), 5000u * 32);
}

TEST(Child, CrashNamesTheSignalAndTheLastWords) {
  const child_outcome outcome = run_shell("echo first >&2; echo last words >&2; kill -9 $$", 60);
  EXPECT_EQ(outcome.end, "crashed");
  EXPECT_EQ(outcome.reason, "signal Killed: last words");
}

TEST(Child, HangEndsAtTheLimitWithAllThatItStarted) {
  const child_outcome outcome = run_shell("sleep 60 & sleep 60; wait", 0.3);
  EXPECT_EQ(outcome.end, "timeout");
  EXPECT_LT(outcome.wall_s, 30);
}

TEST(Child, ProgramThatIsNotThere) { EXPECT_EQ(run_child("/no/such/program", {}, 60).status, 127); }

}  // namespace
}  // namespace warpheap::bench
