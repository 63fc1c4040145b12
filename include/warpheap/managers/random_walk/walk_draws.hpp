// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The random places that a walk visits.

#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A bit of a word of a bitmap.
struct bit_place {
  std::uint32_t word;
  int bit;
};

/// The random places that a walk visits, one after another. A lane keeps this object during a call;
/// the places are derived from one word of `simt::noise`.
class walk_draws {
 public:
  /// For the calling lane alone.
  WARPHEAP_DEVICE walk_draws() : random_(simt::noise()) {}
  /// The same for all members. A collective.
  WARPHEAP_DEVICE explicit walk_draws(const simt::group& team)
      : random_(team.broadcast(simt::noise())) {}

  /// One of `places` places: pages, or words.
  WARPHEAP_DEVICE std::uint32_t next(std::uint32_t places) { return random_.below(places); }

  /// One of `words` words, and the bit of it that a search begins with: lanes that meet in a word
  /// then rarely want the same page. \param width bits of a word
  WARPHEAP_DEVICE bit_place next_bit(std::uint32_t words, std::uint32_t width) {
    const std::uint64_t draw = random_.next();
    return {scale_to(static_cast<std::uint32_t>(draw >> 32), words),
            static_cast<int>(draw % width)};
  }

 private:
  random_sequence random_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
