// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Divides 32-bit numbers by a divisor that is known only at run time, with one multiplication and
/// two shifts, exactly for every dividend (T. Granlund, P. Montgomery, "Division by invariant
/// integers using multiplication", PLDI 1994, figure 4.1).
class divisor {
 public:
  divisor() = default;

  /// \pre `value != 0`
  WARPHEAP_HD constexpr explicit divisor(std::uint32_t value) : value_(value) {
    const int shift = ceil_log2(value);
    // m' = floor(2^32 * (2^shift - d) / d) + 1 fits in 32 bits for every d.
    multiplier_ =
        static_cast<std::uint32_t>(((((std::uint64_t{1} << shift) - value) << 32) / value) + 1);
    shift_first_ = shift < 1 ? static_cast<std::uint8_t>(shift) : std::uint8_t{1};
    shift_rest_ = shift < 1 ? std::uint8_t{0} : static_cast<std::uint8_t>(shift - 1);
  }

  WARPHEAP_HD constexpr std::uint32_t value() const { return value_; }

  /// floor(n / value())
  WARPHEAP_HD constexpr std::uint32_t quotient(std::uint32_t n) const {
    const auto high =
        static_cast<std::uint32_t>((static_cast<std::uint64_t>(multiplier_) * n) >> 32);
    return (high + ((n - high) >> shift_first_)) >> shift_rest_;
  }

 private:
  std::uint32_t value_ = 1;
  std::uint32_t multiplier_ = 1;
  std::uint8_t shift_first_ = 0;
  std::uint8_t shift_rest_ = 0;
};

/// The same for dividends below 2^31, with a multiplication and a shift of either side: two words
/// that lanes load. (The multiplier is that of 31-bit dividends, which fits in 32 bits.)
struct short_divisor {
  std::uint32_t multiplier;
  std::uint32_t shift;

  /// \pre `0 < value <= 2^31`
  WARPHEAP_HD static constexpr short_divisor of(std::uint32_t value) {
    const int shift = ceil_log2(value);
    return {static_cast<std::uint32_t>((std::uint64_t{1} << (31 + shift)) / value + 1),
            static_cast<std::uint32_t>(shift)};
  }
  /// floor(n / value) \pre `n < 2^31`
  WARPHEAP_HD constexpr std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>((std::uint64_t{n} * 2 * multiplier) >> 32) >> shift;
  }

  WARPHEAP_HD friend constexpr bool operator==(const short_divisor& a, const short_divisor& b) {
    return a.multiplier == b.multiplier && a.shift == b.shift;
  }
};

WARPHEAP_END_NAMESPACE
