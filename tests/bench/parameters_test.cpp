// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace warpheap::bench {
namespace {

using texts = std::map<std::string, std::string>;

parameters of_alloc(const texts& given) {
  return parameters_of(*find_case("alloc"), given, 1 << 20);
}

/// The message of the refusal; empty if nothing is refused.
std::string refusal(const std::string& name, const texts& given) {
  try {
    parameters_of(*find_case(name), given, 1 << 20);
  } catch (const usage_error& refused) {
    return refused.what();
  }
  return {};
}

TEST(Parameters, StandardsOfTheCaseAndTheProgram) {
  const parameters chosen = of_alloc({});
  EXPECT_FALSE(chosen.one_a_warp);
  EXPECT_EQ(chosen.threads, 1024u);
  EXPECT_EQ(chosen.size_min, 16u);
  EXPECT_EQ(chosen.size_max, 16u);
  EXPECT_EQ(chosen.heap_bytes, 1u << 20);
  EXPECT_EQ(chosen.iterations, 10u);
  EXPECT_EQ(chosen.free_percent, 100);
}

TEST(Parameters, GivenValues) {
  const parameters chosen = of_alloc({{"mode", "warp"},
                                      {"threads", "64"},
                                      {"size_min", "16"},
                                      {"size_max", "128"},
                                      {"distribution", "powers"},
                                      {"free_percent", "0.5"},
                                      {"seed", "18446744073709551615"}});
  EXPECT_TRUE(chosen.one_a_warp);
  EXPECT_EQ(chosen.threads, 64u);
  EXPECT_EQ(chosen.size_max, 128u);
  EXPECT_EQ(chosen.sizes, distribution::powers);
  EXPECT_EQ(chosen.free_percent, 0.5);
  EXPECT_EQ(chosen.seed, ~std::uint64_t{0});
}

TEST(Parameters, OneBoundAloneIsTheSize) {
  EXPECT_EQ(of_alloc({{"size_min", "256"}}).size_max, 256u);
  EXPECT_EQ(of_alloc({{"size_max", "8"}}).size_min, 8u);
}

TEST(Parameters, RefusalsNameTheValueAndWhatIsPossible) {
  EXPECT_EQ(refusal("alloc", {{"threads", "0"}}),
            "--threads is '0': a whole number from 1 to 1073741824 is needed");
  EXPECT_EQ(refusal("alloc", {{"heap_bytes", "12x"}}),
            "--heap-bytes is '12x': a whole number from 1 to 18446744073709551615 is needed");
  EXPECT_EQ(refusal("alloc", {{"seed", "-1"}}),
            "--seed is '-1': a whole number from 0 to 18446744073709551615 is needed");
  EXPECT_EQ(refusal("alloc", {{"mode", "block"}}), "--mode is 'block': thread or warp is needed");
  for (const char* percent : {"0", "101", "nan", "1e", "5%"}) {
    EXPECT_EQ(refusal("alloc", {{"free_percent", percent}}),
              "--free-percent is '" + std::string(percent) +
                  "': a number above 0 and up to 100 is needed");
  }
  EXPECT_EQ(refusal("alloc", {{"size_min", "64"}, {"size_max", "32"}}),
            "--size-min is 64, above --size-max, which is 32");
  EXPECT_EQ(refusal("alloc", {{"size_min", "16"}, {"size_max", "48"}, {"distribution", "powers"}}),
            "--distribution powers needs powers of two as --size-min and --size-max, 48 is none");
  EXPECT_EQ(refusal("alloc", {{"size_min", "1"}, {"size_max", "8589934592"}}),
            "--size-min 1 and --size-max 8589934592 are 4 GiB or more apart");
}

TEST(Parameters, OfAnotherCaseAreRefused) {
  EXPECT_EQ(refusal("init", {{"threads", "1"}}),
            "the case 'init' has no parameter 'threads'; it has: heap_bytes, iterations");
  EXPECT_EQ(refusal("graph_init", {}), "the case 'graph_init' needs --graph FILE.csr");
}

TEST(Cases, HaveDistinctNamesAndKnownParameters) {
  std::set<std::string> known;
  for (const parameter_info& info : known_parameters()) known.insert(info.name);
  std::set<std::string> names;
  for (const case_entry& entry : all_cases()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    for (const auto& [name, standard] : entry.standards) {
      EXPECT_TRUE(known.contains(name)) << entry.name << " " << name;
    }
  }
  EXPECT_EQ(find_case("no such case"), nullptr);
}

}  // namespace
}  // namespace warpheap::bench
