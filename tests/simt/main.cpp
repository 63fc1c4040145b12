// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Besides the tests: `explorer-test trace STRATEGY SEED` prints the trace of one schedule, so that
// a test can compare this process with another one.
#include "bench/host/argument_checks.hpp"

#include "traced_schedule.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>

int main(int count, char** arguments) {
  using warpheap::bench::whole;
  ::testing::InitGoogleTest(&count, arguments);  // takes its own arguments away
  CLI::App app("Tests of the explorer.");
  std::uint32_t how = 0;
  warpheap::simt::schedule order;
  CLI::App* const trace = app.add_subcommand("trace", "print the trace of one schedule");
  trace->add_option("STRATEGY", how)->required()->check(whole(0, 2));
  trace->add_option("SEED", order.seed)
      ->required()
      ->check(whole(0, std::numeric_limits<std::uint64_t>::max()));
  CLI11_PARSE(app, count, arguments);
  if (!trace->parsed()) return RUN_ALL_TESTS();
  order.how = static_cast<warpheap::simt::strategy>(how);
  std::fputs(warpheap::test::traced_schedule(order).c_str(), stdout);
  return 0;
}
