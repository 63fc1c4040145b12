// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <concepts>

WARPHEAP_BEGIN_NAMESPACE

/// ceil(numerator / denominator). \pre `denominator != 0`, and no overflow at the top of `Word`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word ceil_div(Word numerator, Word denominator) {
  return static_cast<Word>(numerator / denominator + (numerator % denominator != 0));
}

/// The smallest multiple of `step` that is >= `value`; any step but 0.
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word round_up(Word value, Word step) {
  return static_cast<Word>(ceil_div(value, step) * step);
}

/// The largest multiple of `step` that is <= `value`; any step but 0.
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word round_down(Word value, Word step) {
  return static_cast<Word>(value - value % step);
}

/// The smallest multiple of `step` that is >= `value`, without a division. \pre `step` is a power
/// of two, and no overflow at the top of `Word`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word align_up(Word value, Word step) {
  return static_cast<Word>((value + (step - 1)) & ~(step - 1));
}

/// The largest multiple of `step` that is <= `value`, without a division. \pre `step` is a power of
/// two
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word align_down(Word value, Word step) {
  return static_cast<Word>(value & ~(step - 1));
}

WARPHEAP_END_NAMESPACE
