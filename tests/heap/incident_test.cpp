// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/heap/incident.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace {

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
