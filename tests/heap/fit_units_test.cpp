// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Laying out as many units as fit: against a search that tries every number.
#include "warpheap/heap/fit_units.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A bitmap of the units, an array that grows in powers of two, and units of 48 bytes. Regions that
/// nobody touches: layouts only compute.
struct layout {
  std::uint32_t units = 0;
  std::byte* first = nullptr;

  void take(region_cursor& cursor, std::uint32_t count) {
    units = count;
    cursor.take<std::uint32_t>((count + 31) / 32);
    std::size_t slots = 1;
    while (slots < count) slots *= 2;
    cursor.take<std::uint16_t>(slots, 64);
    first = cursor.take<std::byte>(std::size_t{count} * 48, 256);
  }
};

region nowhere(std::size_t bytes) {
  return {reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40), bytes};
}

bool fits(std::size_t bytes, std::uint32_t count) {
  region_cursor cursor(nowhere(bytes), "layout");
  try {
    layout().take(cursor, count);
  } catch (const region_too_small&) {
    return false;
  }
  return true;
}

layout laid_out(std::size_t bytes, std::uint32_t least, std::uint32_t most) {
  layout result;
  lay_out_most(nowhere(bytes), "layout", least, most,
               [&](region_cursor& cursor, std::uint32_t count) { result.take(cursor, count); });
  return result;
}

TEST(lay_out_most, finds_the_largest_number_in_regions_of_any_size) {
  for (std::size_t bytes = 400; bytes < 20'000; bytes += 7) {
    std::uint32_t largest = 1;
    while (fits(bytes, largest + 1)) ++largest;
    const layout found = laid_out(bytes, 1, static_cast<std::uint32_t>(bytes));
    ASSERT_EQ(found.units, largest) << bytes;
    ASSERT_LE(found.first + std::size_t{found.units} * 48, nowhere(bytes).base + bytes);
  }
}

TEST(lay_out_most, keeps_within_its_bounds) {
  EXPECT_EQ(laid_out(1 << 20, 1, 5).units, 5u);
  EXPECT_EQ(laid_out(1 << 20, 5, 5).units, 5u);
  EXPECT_EQ(laid_out(1 << 20, 0, 0).units, 0u);
}

TEST(lay_out_most, says_what_the_fewest_units_need) {
  try {
    laid_out(500, 7, 100);
    FAIL() << "7 units do not fit in 500 bytes";
  } catch (const region_too_small& refused) {
    EXPECT_STREQ(refused.what(),
                 "a heap of 500 bytes is too small for layout: 336 bytes are to "
                 "start at its byte 256");
  }
}

TEST(region_cursor, refuses_what_has_more_bytes_than_a_number_can_tell) {
  region_cursor cursor(nowhere(4096), "layout");
  EXPECT_THROW(cursor.take<std::uint64_t>(SIZE_MAX / 8 + 2), region_too_small);
  EXPECT_EQ(cursor.left(1), 4096u);
  EXPECT_NO_THROW(cursor.take<std::uint64_t>(512));
}

TEST(lay_out_most, takes_few_layouts) {
  int layouts = 0;
  lay_out_most(nowhere(std::size_t{1} << 40), "layout", std::uint64_t{1}, std::uint64_t{1} << 40,
               [&](region_cursor& cursor, std::uint64_t bytes) {
                 ++layouts;
                 cursor.take<std::byte>(bytes);
               });
  EXPECT_LE(layouts, 42);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
