// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/heap/incident.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace {

constexpr caller first_lane{std::uint64_t{1} << 32 | std::uint64_t{34} << 22 | 7};
constexpr caller second_lane{std::uint64_t{2} << 32 | std::uint64_t{3} << 22};

TEST(incident, a_line_says_what_where_and_who) {
  const incident all{.what = incident::kind::overwritten,
                     .address = 0x105,
                     .block = 0x100,
                     .bytes = 5,
                     .other = 0x110,
                     .allocated = first_lane,
                     .freed = second_lane,
                     .noticed = second_lane};
  EXPECT_EQ(all.describe(),
            "bytes between blocks overwritten: 0x105, block 0x100 of 5 bytes, the next one is 0x110"
            "; allocated by block 1 thread 34 (lane 2) tag 7; freed by block 2 thread 3 (lane 3)"
            "; found in a call of block 2 thread 3 (lane 3)");
}

TEST(incident, what_is_not_known_is_not_said) {
  EXPECT_EQ((incident{.what = incident::kind::foreign_free, .address = 0x1f}.describe()),
            "free of a foreign pointer: 0x1f");
  EXPECT_EQ(caller{}.describe(), "nobody");
}

TEST(incident, a_wrong_free_is_itself_the_call_that_found_it) {
  const auto said = [](incident::kind what) {
    return incident{.what = what, .address = 0x1f, .noticed = second_lane}.describe();
  };
  const std::string lane = "block 2 thread 3 (lane 3)";
  EXPECT_EQ(said(incident::kind::double_free), "double free: 0x1f; freed again by " + lane);
  EXPECT_EQ(said(incident::kind::foreign_free),
            "free of a foreign pointer: 0x1f; freed by " + lane);
  EXPECT_EQ(said(incident::kind::interior_free),
            "free of a pointer into a block: 0x1f; freed by " + lane);
  EXPECT_EQ(said(incident::kind::underrun), "underrun: 0x1f; found in a call of " + lane);
}

TEST(incident_report, one_of_a_kind_is_said_in_the_singular) {
  incident_report report;
  report.unrecorded = 1;
  report.leaks.resize(21);
  for (leak_group& leak : report.leaks) {
    leak.bytes = 64;
    leak.blocks = 1;
  }
  const std::vector<std::string> lines = report.lines();
  ASSERT_EQ(lines.size(), 22u);
  EXPECT_EQ(lines[0], "1 further incident");
  EXPECT_EQ(lines[1], "leak: 1 block of 64 bytes");
  EXPECT_EQ(lines[21], "leak: 1 block of 1 further size, 64 bytes in all");
}

TEST(incident_report, what_is_not_listed_is_counted) {
  incident_report report;
  report.incidents.resize(23, incident{incident::kind::overrun});
  report.unrecorded = 4;
  report.leaks.resize(22);
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    report.leaks[i].bytes = 64;
    report.leaks[i].blocks = 22 - i;
  }
  const std::vector<std::string> lines = report.lines();
  ASSERT_EQ(lines.size(), 42u);
  EXPECT_EQ(lines[20], "7 further incidents");
  EXPECT_EQ(lines[41], "leak: 3 blocks of 2 further sizes, 192 bytes in all");
}

}  // namespace
WARPHEAP_END_NAMESPACE
