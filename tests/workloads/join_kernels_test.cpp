// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where partitions begin, against std::partition_point.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/workloads/join/kernels.hpp"
#include "warpheap/workloads/join/keys.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(join_kernels, find_the_first_row_of_each_partition) {
  constexpr std::uint32_t bits = 3;
  // Partitions 1, 4 and 7 have rows.
  std::vector<std::uint32_t> keys;
  for (const std::uint32_t partition : {1u, 4u, 7u}) {
    for (std::uint32_t i = 0; i < 5 + partition; ++i) keys.push_back((partition << 29) + i);
  }
  const device_array<std::uint32_t> there(keys);
  const device_array<std::uint64_t> offsets((1u << bits) + 1);
  machine().launch(covering((1u << bits) + 1),
                   join::find_partitions{{keys.size(), there.get(), bits, offsets.get()}});
  const std::vector<std::uint64_t> found = offsets.read();
  for (std::uint64_t partition = 0; partition <= 1u << bits; ++partition) {
    const auto first = std::partition_point(keys.begin(), keys.end(), [&](std::uint32_t key) {
      return join::partition_of(key, bits) < partition;
    });
    EXPECT_EQ(found[partition], static_cast<std::uint64_t>(first - keys.begin())) << partition;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
