// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the environment says about the heap behind malloc in kernels, and what holds without it.
#include "warpheap/malloc/settings.hpp"
#include "warpheap/core/units.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

malloc_settings read(const std::map<std::string, std::string>& environment) {
  return read_malloc_settings([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(malloc_settings, sizes_have_binary_units) {
  EXPECT_EQ(parse_bytes("X", "1"), 1u);
  EXPECT_EQ(parse_bytes("X", "536870912"), 512_MiB);
  EXPECT_EQ(parse_bytes("X", "512M"), 512_MiB);
  EXPECT_EQ(parse_bytes("X", "3KiB"), 3_KiB);
  EXPECT_EQ(parse_bytes("X", "2GiB"), 2_GiB);
  EXPECT_EQ(parse_bytes("X", "1T"), 1024_GiB);
  EXPECT_EQ(parse_bytes("X", "18446744073709551615"), SIZE_MAX);
}

TEST(malloc_settings, text_that_is_not_a_size_is_named) {
  for (const char* text : {"", "0", "-1", " 1", "1 ", "1.5G", "1X", "1iB", "MiB", "1MB", "0x10",
                           "18446744073709551616", "16777216T", "99999999999G"}) {
    try {
      parse_bytes("WARPHEAP_MALLOC_BYTES", text);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const invalid_argument& refused) {
      const std::string message = refused.what();
      EXPECT_NE(message.find("WARPHEAP_MALLOC_BYTES is '" + std::string(text) + "'"),
                std::string::npos)
          << message;
    }
  }
}

TEST(malloc_settings, the_environment_may_say_nothing) {
  for (const auto& environment : {std::map<std::string, std::string>{},
                                  {{"WARPHEAP_MALLOC_BYTES", ""},
                                   {"WARPHEAP_MALLOC_MANAGER", ""},
                                   {"WARPHEAP_MALLOC_REPORT", ""}}}) {
    const malloc_settings found = read(environment);
    EXPECT_EQ(found.bytes, 0u);
    EXPECT_EQ(found.manager, "");
    EXPECT_FALSE(found.report);
  }
}

TEST(malloc_settings, the_environment_chooses) {
  const malloc_settings found = read({{"WARPHEAP_MALLOC_BYTES", "1G"},
                                      {"WARPHEAP_MALLOC_MANAGER", "gallatin"},
                                      {"WARPHEAP_MALLOC_REPORT", "1"}});
  EXPECT_EQ(found.bytes, 1_GiB);
  EXPECT_EQ(found.manager, "gallatin");
  EXPECT_TRUE(found.report);
  EXPECT_FALSE(read({{"WARPHEAP_MALLOC_REPORT", "0"}}).report);
  EXPECT_THROW(read({{"WARPHEAP_MALLOC_REPORT", "yes"}}), invalid_argument);
  EXPECT_THROW(read({{"WARPHEAP_MALLOC_BYTES", "much"}}), invalid_argument);
}

TEST(malloc_settings, the_default_leaves_room_and_heeds_what_the_program_asked_cuda_for) {
  EXPECT_EQ(default_malloc_bytes(64_GiB, 8_MiB), 8_GiB);
  EXPECT_EQ(default_malloc_bytes(64_GiB, 16_GiB), 32_GiB);
  EXPECT_EQ(default_malloc_bytes(64_GiB, 40_GiB), 48_GiB) << "three quarters at most";
  EXPECT_EQ(default_malloc_bytes(64_GiB, SIZE_MAX), 48_GiB);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
