// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A bijection of the 64-bit words in which every input bit flips every output bit with a
/// probability near one half: two rounds of multiply and xor-shift (constants: D. Stafford's
/// "Mix13" variant of the MurmurHash3 finalizer).
WARPHEAP_HD constexpr std::uint64_t mix64(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return word ^ (word >> 31);
}

WARPHEAP_END_NAMESPACE
