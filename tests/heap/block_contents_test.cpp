// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Clearing and copying blocks of all lengths around a piece, and nothing behind them.
#include "warpheap/heap/block_contents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace {

constexpr std::size_t longest = 600;
constexpr std::byte rubbish{0xa5};

struct alignas(least_alignment) room {
  std::array<std::byte, longest + 1> bytes{};
};

/// Byte `i` of what is copied; never rubbish nor zero, and no two neighbouring pieces are equal.
std::byte at(std::size_t i) { return static_cast<std::byte>(1 + (i * 7 + i / 128) % 128); }

class block_contents_of : public ::testing::TestWithParam<std::size_t> {};

TEST_P(block_contents_of, are_cleared_and_nothing_behind_them) {
  room block;
  block.bytes.fill(rubbish);
  block_contents::clear(block.bytes.data(), GetParam());
  for (std::size_t i = 0; i <= longest; ++i) {
    ASSERT_EQ(block.bytes[i], i < GetParam() ? std::byte{0} : rubbish) << "byte " << i;
  }
}

TEST_P(block_contents_of, are_copied_and_nothing_behind_them) {
  room from;
  room to;
  for (std::size_t i = 0; i <= longest; ++i) from.bytes[i] = at(i);
  to.bytes.fill(rubbish);
  block_contents::copy(to.bytes.data(), from.bytes.data(), GetParam());
  for (std::size_t i = 0; i <= longest; ++i) {
    ASSERT_EQ(to.bytes[i], i < GetParam() ? at(i) : rubbish) << "byte " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(lengths, block_contents_of,
                         ::testing::Values(0, 1, 15, 16, 17, 95, 96, 97, 127, 128, 129, 191, 192,
                                           255, 256, 300, 384, longest));

}  // namespace
WARPHEAP_END_NAMESPACE
