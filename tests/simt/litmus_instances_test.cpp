// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is made of the outcomes that a GPU shows: which of them are wrong, and what is printed.
#include "litmus_instances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ::testing::HasSubstr;

const outcomes interleaved{{0, 0}, {0, 1}, {1, 1}};
const outcomes weak{{1, 0}};

instance_counts counts() {
  return {.seen = {{{0, 0}, 70}, {{1, 0}, 1}, {{1, 1}, 29}},
          .instances = 100,
          .meetings = 8,
          .alone = 1};
}

TEST(litmus_instances, a_weak_outcome_is_wrong_unless_it_is_allowed) {
  EXPECT_EQ(wrong_with(counts(), interleaved, weak), "");
  EXPECT_EQ(wrong_with(counts(), interleaved, {}), "{1, 0} is forbidden and was seen 1 times; ");
}

TEST(litmus_instances, runs_that_show_nothing_are_wrong) {
  instance_counts lost = counts();
  lost.instances = 101;
  EXPECT_THAT(wrong_with(lost, interleaved, weak), HasSubstr("lost"));
  instance_counts alike = counts();
  alike.seen = {{{0, 0}, 100}};
  EXPECT_THAT(wrong_with(alike, interleaved, weak), HasSubstr("never ran at once"));
  instance_counts alone = counts();
  alone.alone = 5;
  EXPECT_THAT(wrong_with(alone, interleaved, weak), HasSubstr("never met"));
}

TEST(litmus_instances, a_code_has_all_that_an_outcome_is_made_of) {
  for (const int x : {0, 1, 2, 3}) {
    const litmus state = seen_code::state(seen_code::of(0b00'11'10'01, x, 3 - x));
    EXPECT_EQ(four_registers(state), (outcome{1, 2, 3, 0}));
    EXPECT_EQ((outcome{state.x.final(), state.y.final()}), (outcome{x, 3 - x}));
  }
  EXPECT_EQ(seen_code::state(seen_code::of(0, 20, 0)).x.final(), 3);
}

TEST(litmus_instances, no_two_words_have_one_place) {
  for (const bool scattered : {false, true}) {
    for (const bool together : {false, true}) {
      const instances how{.teams = 3,
                          .per_team = 16,
                          .laps = 2,
                          .seed = 1,
                          .scattered = scattered,
                          .together = together};
      std::set<std::uint32_t> places;
      for (std::uint32_t i = 0; i < how.count(); ++i) {
        places.insert(how.place(i, 0));
        places.insert(how.place(i, 1));
      }
      EXPECT_EQ(places.size(), 2 * how.count());
      EXPECT_LT(*places.rbegin(), 2 * how.places());
    }
  }
}

TEST(litmus_instances, what_was_seen_is_printed) {
  ::testing::internal::CaptureStdout();
  print("a test", counts(), interleaved, weak);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("a test: 100 instances"));
  EXPECT_THAT(text, HasSubstr("interleaved {0, 0} seen: 70"));
  EXPECT_THAT(text, HasSubstr("interleaved {0, 1} allowed, NOT seen: 0"));
  EXPECT_THAT(text, HasSubstr("weak        {1, 0} seen: 1"));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
