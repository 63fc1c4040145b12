// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/divisor.hpp"

#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

namespace warpheap {
namespace {

/// Tries divisors up to `small`, and the neighbours of powers of two below 2^bits.
template <class Try>
void for_small_divisors_and_powers(std::uint32_t small, int bits, const Try& try_one) {
  for (std::uint32_t d = 1; d <= small; ++d) try_one(d);
  for (int bit = 1; bit < bits; ++bit) {
    for (const int step : {-1, 0, 1}) try_one((1u << bit) + static_cast<std::uint32_t>(step));
  }
}

/// Dividends at which a wrong reciprocal shows first: around multiples of `d`, and the ends.
void expect_exact(std::uint32_t d, random_sequence& random) {
  const divisor by(d);
  ASSERT_EQ(by.value(), d);
  std::vector<std::uint32_t> dividends{0, 1, UINT32_MAX, UINT32_MAX - 1, 1u << 31};
  const std::uint32_t most = UINT32_MAX / d;
  for (const std::uint32_t q : {1u, 2u, most / 2, most - 1, most, random.below(most)}) {
    for (const int step : {-1, 0, 1}) dividends.push_back(q * d + static_cast<std::uint32_t>(step));
  }
  for (int i = 0; i < 8; ++i) dividends.push_back(static_cast<std::uint32_t>(random.next()));
  for (const std::uint32_t n : dividends) ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
}

TEST(divisor, is_exact_for_small_divisors_and_the_neighbours_of_powers_of_two) {
  random_sequence random(1);
  for_small_divisors_and_powers(100000, 32, [&](std::uint32_t d) { expect_exact(d, random); });
  expect_exact(UINT32_MAX, random);
}

TEST(divisor, is_exact_for_random_divisors_of_every_length) {
  random_sequence random(2);
  for (int i = 0; i < 200000; ++i) {
    const auto d = static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
    if (d != 0) expect_exact(d, random);
  }
}

TEST(divisor, is_exact_for_every_16_bit_dividend) {
  for (std::uint32_t d = 1; d <= 1024; ++d) {
    const divisor by(d);
    for (std::uint32_t n = 0; n <= 0xffff; ++n) ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
  }
}

TEST(divisor, without_a_value_divides_by_one) {
  const divisor one;
  for (const std::uint32_t n : {0u, 1u, 12345u, UINT32_MAX}) EXPECT_EQ(one.quotient(n), n);
}

/// The same for the divisor of dividends below 2^31.
void expect_short_exact(std::uint32_t d, random_sequence& random) {
  constexpr std::uint32_t end = 1u << 31;
  const short_divisor by = short_divisor::of(d);
  std::vector<std::uint32_t> dividends{0, 1, end - 1, end / 2, end / d * d - 1};
  const std::uint32_t most = (end - 1) / d;
  for (const std::uint32_t q : {0u, 1u, most / 2, most}) {
    for (const int step : {-1, 0, 1}) dividends.push_back(q * d + static_cast<std::uint32_t>(step));
  }
  for (int i = 0; i < 4; ++i) dividends.push_back(static_cast<std::uint32_t>(random.next() >> 33));
  for (const std::uint32_t n : dividends) {
    if (n >= end) continue;
    ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
  }
}

TEST(short_divisor, is_exact_below_two_to_the_31) {
  random_sequence random(3);
  for_small_divisors_and_powers(20000, 31, [&](std::uint32_t d) { expect_short_exact(d, random); });
  expect_short_exact(1u << 31, random);
  for (int i = 0; i < 20000; ++i) {
    const auto d = static_cast<std::uint32_t>(random.next() >> (33 + random.below(31)));
    if (d != 0) expect_short_exact(d, random);
  }
}

TEST(short_divisor, equals_one_of_the_same_value_alone) {
  EXPECT_EQ(short_divisor::of(48), short_divisor::of(48));
  EXPECT_FALSE(short_divisor::of(48) == short_divisor::of(47));  // another multiplier
  EXPECT_FALSE(short_divisor::of(4) == short_divisor::of(8));    // another shift
}

}  // namespace
}  // namespace warpheap
