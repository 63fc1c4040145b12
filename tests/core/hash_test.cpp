// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/hash.hpp"

#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <vector>

namespace warpheap {
namespace {

TEST(hash, mix64_has_the_published_values) {
  // The first numbers of SplitMix64 from state 0, as its authors' reference prints them.
  random_sequence random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafull);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4ull);
  EXPECT_EQ(random.next(), 0x06c45d188009454full);
  EXPECT_EQ(mix64(0), 0u);
}

TEST(hash, every_input_bit_reaches_every_output_bit) {
  constexpr int samples = 2000;
  random_sequence random(3);
  std::vector<int> flips(64 * 64);
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t word = random.next();
    for (int in = 0; in < 64; ++in) {
      const std::uint64_t changed = mix64(word) ^ mix64(word ^ (std::uint64_t{1} << in));
      for (int out = 0; out < 64; ++out) flips[in * 64 + out] += changed >> out & 1;
    }
  }
  // Six standard deviations of a fair coin: one of 4096 counts exceeds them in 10^5 seeds.
  const double allowed = 6 * std::sqrt(samples * 0.25);
  for (int i = 0; i < 64 * 64; ++i) {
    EXPECT_NEAR(flips[i], samples / 2.0, allowed)
        << "input bit " << i / 64 << ", output bit " << i % 64;
  }
}

}  // namespace
}  // namespace warpheap
