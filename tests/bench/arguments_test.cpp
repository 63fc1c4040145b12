// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/arguments.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace warpheap::bench {
namespace {

using words = std::vector<std::string>;

parameters of_alloc(const words& given) {
  return parse_parameters(*find_case("alloc"), given, 1 << 20);
}

/// The message of the refusal; empty if nothing is refused.
std::string refusal(const std::string& name, const words& given) {
  try {
    parse_parameters(*find_case(name), given, 1 << 20);
  } catch (const usage_error& refused) {
    return refused.what();
  }
  return {};
}

TEST(Parameters, StandardsOfTheCaseAndTheProgram) {
  const parameters chosen = of_alloc({});
  EXPECT_EQ(chosen[given::mode], "thread");
  EXPECT_EQ(chosen[given::threads], 1024u);
  EXPECT_EQ(chosen[given::size_min], 16u);
  EXPECT_EQ(chosen[given::size_max], 16u);
  EXPECT_EQ(chosen[given::heap_bytes], 1u << 20);
  EXPECT_EQ(chosen[given::iterations], 10u);
  EXPECT_EQ(chosen[given::free_percent], 100);
}

TEST(Parameters, ThoseThatACaseDoesNotHaveAreAsIfTheyWereNotThere) {
  const parameters chosen = parse_parameters(*find_case("init"), {}, 1 << 20);
  EXPECT_EQ(chosen[given::mode], "thread");
  EXPECT_EQ(chosen[given::free_percent], 100);
  EXPECT_EQ(chosen[given::threads], 0u);
  EXPECT_EQ(chosen.find("threads"), nullptr);
}

TEST(Parameters, GivenValues) {
  const parameters chosen = of_alloc({"--mode", "warp", "--threads=64", "--size-min", "16",
                                      "--size-max", "128", "--distribution", "powers",
                                      "--free-percent", "0.5", "--seed", "9223372036854775807"});
  EXPECT_EQ(chosen[given::mode], "warp");
  EXPECT_EQ(chosen[given::threads], 64u);
  EXPECT_EQ(chosen[given::size_max], 128u);
  EXPECT_EQ(chosen[given::distribution], "powers");
  EXPECT_EQ(chosen[given::free_percent], 0.5);
  EXPECT_EQ(chosen[given::seed], most_whole);
}

TEST(Parameters, OneBoundAloneIsTheSizeAndSoIsTheAlias) {
  EXPECT_EQ(of_alloc({"--size-min=256"})[given::size_max], 256u);
  EXPECT_EQ(of_alloc({"--size-max=8"})[given::size_min], 8u);
  EXPECT_EQ(of_alloc({"--size=8"})[given::size_min], 8u);
  EXPECT_EQ(of_alloc({"--size=8"})[given::size_max], 8u);
}

TEST(Parameters, RefusalsNameTheValueAndWhatIsPossible) {
  const auto has = [](const words& given, const std::string& text) {
    const std::string message = refusal("alloc", given);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  const auto is_beyond = [&](const std::string& name, const std::string& value,
                             const std::string& range) {
    has({name + "=" + value}, name + ": " + value + " is not a whole number from " + range);
  };
  is_beyond("--threads", "0", "1 to 1073741824");
  is_beyond("--threads", "-4", "1 to 1073741824");
  is_beyond("--heap-bytes", "12x", "1 to 9223372036854775807");
  is_beyond("--seed", "-1", "0 to 9223372036854775807");
  has({"--mode", "block"}, "--mode: block not in {thread,warp}");
  for (const char* percent : {"0", "101", "nan", "1e", "5%"}) {
    has({"--free-percent", percent},
        "--free-percent: " + std::string(percent) + " is not a number above 0 and up to 100");
  }
  has({"--size-min=64", "--size-max=32"}, "--size-min is 64, above --size-max, which is 32");
  has({"--size-min=16", "--size-max=48", "--distribution=powers"},
      "--distribution powers needs powers of two as --size-min and --size-max, 48 is not one");
  has({"--size-min=1", "--size-max=8589934592"},
      "--size-min 1 and --size-max 8589934592 are 4 GiB or more apart");
}

TEST(Parameters, OfAnotherCaseAreRefused) {
  const std::string message = refusal("init", {"--threads=1"});
  EXPECT_NE(message.find("--threads=1"), std::string::npos) << message;
  EXPECT_NE(message.find("the case 'init' takes --heap-bytes, --iterations"), std::string::npos);
  EXPECT_EQ(refusal("graph_init", {}), "the case 'graph_init' needs --graph");
}

TEST(Cases, AreSortedAndDistinct) {
  for (std::size_t i = 1; i < all_cases().size(); ++i) {
    EXPECT_LT(all_cases()[i - 1].name, all_cases()[i].name);
  }
  EXPECT_EQ(find_case("no such case"), nullptr);
}

TEST(Cases, EveryFieldIsDeclaredOnceAndDescribed) {
  std::set<std::string> names;
  for (const field_info* known : all_fields()) {  // throws if a name is declared twice
    EXPECT_TRUE(names.insert(known->name).second) << known->name;
    EXPECT_STRNE(known->about, "") << known->name;
  }
  for (const case_entry& entry : all_cases()) EXPECT_FALSE(entry.about.empty()) << entry.name;
}

}  // namespace
}  // namespace warpheap::bench
