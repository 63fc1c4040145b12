// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/cuda/driver_version.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {
namespace {

TEST(driver_version, is_the_number_in_the_line) {
  EXPECT_EQ(driver_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04"
                              "  Release Build  (builder@host)  Tue Mar  4 18:32:53 UTC 2026"),
            "580.159.04");
  EXPECT_EQ(driver_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat"),
            "535.104.05");
  EXPECT_EQ(driver_version_in("\tversion\t.5 12 535.104.05\n"), "535.104.05");
}

TEST(driver_version, is_empty_where_none_is_told) {
  EXPECT_EQ(driver_version_in(""), "");
  EXPECT_EQ(driver_version_in("GCC version:  gcc version 12 (Debian)"), "");
}

}  // namespace
}  // namespace simt
WARPHEAP_END_NAMESPACE
