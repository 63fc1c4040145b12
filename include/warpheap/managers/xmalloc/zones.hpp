// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How XMalloc divides its heap: zones of equal size, each with a list of Memoryblocks of its own
/// behind a lock of its own. A heap that is too small for two has one, and none has more than a
/// word has bits.
///
/// With one list for all, blocks of a launch came and went one after the other: a launch of
/// the steady load took 9.9 s (docs/decisions/0055).

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class zones {
  using sizes = geometry<Config>;

 public:
  zones() = default;
  WARPHEAP_HD explicit zones(std::uint32_t units) : units_(units), log2_(least_log2) {
    while (units >> log2_ > sizes::most_zones) ++log2_;
    count_ = units >> log2_ == 0 ? 1 : units >> log2_;
  }

  /// No heap of this many units, or fewer, has more zones.
  WARPHEAP_HD static constexpr std::uint32_t most_of(std::uint32_t units) {
    const std::uint32_t fit = units >> least_log2;
    return fit == 0 ? 1 : fit < sizes::most_zones ? fit : sizes::most_zones;
  }

  WARPHEAP_HD std::uint32_t units() const { return units_; }
  WARPHEAP_HD std::uint32_t count() const { return count_; }
  /// The zone that a unit lies in.
  WARPHEAP_HD std::uint32_t of(std::uint32_t unit) const {
    const std::uint32_t zone = unit >> log2_;
    return zone < count_ ? zone : count_ - 1;
  }
  WARPHEAP_HD std::uint32_t begin(std::uint32_t zone) const { return zone << log2_; }
  /// The unit behind the last one. The last zone has what is left of the heap, too.
  WARPHEAP_HD std::uint32_t end(std::uint32_t zone) const {
    return zone + 1 == count_ ? units_ : begin(zone + 1);
  }
  WARPHEAP_HD std::uint32_t size(std::uint32_t zone) const { return end(zone) - begin(zone); }

 private:
  static constexpr int least_log2 = floor_log2(sizes::least_zone);

  std::uint32_t units_ = 0;
  std::uint32_t count_ = 1;
  int log2_ = 0;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
