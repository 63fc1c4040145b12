// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/types.hpp"

#include <gtest/gtest.h>
#include <cstdint>

namespace warpheap::simt {
namespace {

TEST(grid, covers_exactly_what_is_asked_for) {
  EXPECT_EQ(grid::covering(0).blocks, 0u);
  for (const std::uint64_t threads : {1ull, 255ull, 256ull, 257ull, 1ull << 20}) {
    const grid shape = grid::covering(threads);
    const std::uint64_t all = std::uint64_t{shape.blocks} * shape.threads_per_block;
    EXPECT_GE(all, threads);
    EXPECT_LT(all - threads, shape.threads_per_block);
    EXPECT_EQ(shape.threads_per_block, threads < 256 ? threads : 256);
  }
}

}  // namespace
}  // namespace warpheap::simt
