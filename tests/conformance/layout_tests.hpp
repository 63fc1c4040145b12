// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/region.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A single lane does for each lane of a grid what that one has to do to make a heap empty.
template <class M>
struct format_in_order {
  M manager;
  std::uint64_t lanes;
  bool backwards;

  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = 0; i < lanes; ++i) {
      manager.format(backwards ? lanes - 1 - i : i, lanes);
    }
  }
};

// Heaps of many sizes, so that the ends of arrays are anywhere in a word and in a line. If an array
// is too short for what is written into it, or begins where another one is, the lane that comes
// last decides what is there.
CONFORMANCE_TEST(conformance, lanes_may_format_a_heap_of_any_size_in_any_order) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "a region");
  const std::vector<std::byte> rubbish(512_KiB, std::byte{0xcd});
  const device_array<std::byte> memory(rubbish);
  std::optional<TypeParam> manager;
  for (std::size_t bytes = 3000; bytes <= rubbish.size(); bytes += bytes / 3 + 56) {
    try {
      manager.emplace(region{memory.get(), bytes}, machine().properties(),
                      typename TypeParam::options{});
    } catch (const invalid_argument&) {
      continue;  // too small for the manager
    }
    std::vector<std::byte> first;
    for (const bool backwards : {false, true}) {
      memory.write(rubbish);
      // A copy of it may be a part of the heap, padding and all: the same object each time.
      machine().launch({1, 1}, format_in_order<TypeParam>{*manager, 7, backwards});
      const std::vector<std::byte> now = memory.read();
      if (first.empty()) first = now;
      ASSERT_TRUE(now == first) << "a region of " << bytes << " bytes";
      const auto end = static_cast<std::ptrdiff_t>(bytes);
      ASSERT_TRUE(std::equal(now.begin() + end, now.end(), rubbish.begin() + end)) << bytes;
    }
  }
  if (!manager) GTEST_SKIP() << "no heap of this manager is so small";
}

}  // namespace test
WARPHEAP_END_NAMESPACE
