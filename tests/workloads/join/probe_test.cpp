// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fenced.hpp"
#include "machine.hpp"

#include "warpheap/workloads/join/probe.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

struct counted_matches {
  std::uint32_t* count;
  std::uint32_t* last;
  void operator()(const simt::group& together, bool found, std::uint64_t /*row*/,
                  const join_data::match& match) const {
    // So that lanes without a match load it, if they do, here as on a GPU.
    simt::atomic_ref(*last).store(match.probe, simt::order::relaxed);
    const auto all = static_cast<std::uint32_t>(together.ballot(found).count());
    if (together.is_leader()) *count += all;
  }
};

// A warp has more lanes than there are rows.
TEST(join_probe, reads_no_row_behind_the_last) {
  constexpr std::uint32_t chunk_rows = 4;
  const fenced<std::uint32_t> keys({5, 5, 5});  // mixed, of the first of two partitions
  const fenced<std::uint32_t> values({7, 8, 9});
  const fenced<std::uint64_t> offsets({0, 3, 3});
  const join_data::join_side side{keys.data(), values.data(), offsets.data()};
  std::uint32_t count = 0;
  std::uint32_t last = 0;
  machine().launch({1, 32, join_data::shared_bytes_of(chunk_rows)}, [&] {
    counted_matches sink{&count, &last};
    join::join_slices({side, side, 1, chunk_rows, 4}, sink);
  });
  EXPECT_EQ(count, 9u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
