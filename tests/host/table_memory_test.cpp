// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the memory of a table leaves behind when it cannot grow (stores_test.cpp tests the rest).
#include "warpheap/host/stores/table_memory.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include "mapped_bytes.hpp"
#include "warpheap/core/units.hpp"

namespace warpheap::host {
namespace {

/// Whether a table grows while the system gives the process no memory, but addresses.
bool grows_without_memory(table_memory& table, std::size_t from, std::size_t to) {
  rlimit usual{};
  getrlimit(RLIMIT_DATA, &usual);
  const rlimit none{1, usual.rlim_max};  // the kernel takes 0 for no limit
  setrlimit(RLIMIT_DATA, &none);
  const bool grew = table.grow(from, to);
  setrlimit(RLIMIT_DATA, &usual);
  return grew;
}

TEST(table_memory, addresses_that_cannot_become_memory_go_back) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs memory of its own";
  table_memory table;
  const std::size_t before = mapped_bytes();
  if (grows_without_memory(table, 0, 1_GiB)) {
    GTEST_SKIP() << "the system does not limit memory apart from addresses";
  }
  EXPECT_EQ(table.place(), nullptr);
  EXPECT_LT(mapped_bytes(), before + 512_MiB);
  EXPECT_TRUE(table.grow(0, 8_MiB));
}

TEST(table_memory, a_table_that_cannot_grow_leaves_no_addresses_behind) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs memory of its own";
  table_memory table;
  ASSERT_TRUE(table.grow(0, 8_MiB));
  const std::size_t before = mapped_bytes();
  if (grows_without_memory(table, 8_MiB, 1_GiB)) {
    GTEST_SKIP() << "the system does not limit memory apart from addresses";
  }
  EXPECT_NE(table.place(), nullptr);
  EXPECT_LT(mapped_bytes(), before + 512_MiB);
}

TEST(table_memory, has_no_addresses_beside_its_own) {
  const std::size_t before = mapped_bytes();
  table_memory table;
  ASSERT_TRUE(table.grow(0, 8_MiB));
  EXPECT_EQ(mapped_bytes(), before + 8_MiB);
}

}  // namespace
}  // namespace warpheap::host
