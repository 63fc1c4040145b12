// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace join {

/// Keys are multiplied by an odd number before they are joined. This is a bijection of the 32-bit
/// words, and the high bits depend on all bits of the key. The highest ones select the partition,
/// those below them the place in the partition's hash table.
inline constexpr std::uint32_t key_factor = 0x9e3779b1u;

/// The factor's inverse modulo 2^32, by Newton's method: each step doubles the number of correct
/// bits.
WARPHEAP_HD constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;  // right in three bits
  for (int right = 3; right < 32; right *= 2) inverse *= 2 - odd * inverse;
  return inverse;
}

WARPHEAP_HD constexpr std::uint32_t mix_key(std::uint32_t key) { return key * key_factor; }
WARPHEAP_HD constexpr std::uint32_t key_of(std::uint32_t mixed) {
  return mixed * inverse_of(key_factor);
}
static_assert(key_of(mix_key(0xdeadbeefu)) == 0xdeadbeefu);

/// \pre `bits <= 31`
WARPHEAP_HD constexpr std::uint64_t partition_of(std::uint32_t mixed, std::uint32_t bits) {
  return std::uint64_t{mixed} >> (32 - bits);
}

/// One of `2^place_bits` places. \pre `0 < place_bits` and `partition_bits + place_bits <= 32`
WARPHEAP_HD constexpr std::uint32_t place_of(std::uint32_t mixed, std::uint32_t partition_bits,
                                             std::uint32_t place_bits) {
  return mixed << partition_bits >> (32 - place_bits);
}

}  // namespace join
WARPHEAP_END_NAMESPACE
