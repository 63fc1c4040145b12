// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

/// What a lane wants from Ouroboros, and what it remembers from turn to turn, in one register.
///
/// A lane may find no chunk because others hold what it looks for. When very many lanes look for
/// the last chunks of other sizes at once, each borrows what another one needs: without a limit
/// they would go on like that forever. So each lane has a limit of its own, and growing pauses.
class request {
 public:
  static constexpr std::uint32_t most_classes = 256;

  WARPHEAP_HD explicit request(std::uint32_t cls) : word_(cls) {}

  WARPHEAP_HD std::uint32_t cls() const { return word_ & 255u; }

  /// Whether the lane has waited in vain for others to grow.
  WARPHEAP_HD bool in_vain() const { return (word_ >> 8 & 1u) != 0; }
  WARPHEAP_HD void set_in_vain(bool now) { word_ = (word_ & ~256u) | (now ? 256u : 0u); }

  /// Others had what the lane looked for.
  WARPHEAP_HD void lose() { word_ += 1u << 16; }
  WARPHEAP_HD bool may_lose() const { return losses() < 64; }
  /// Nanoseconds before the next attempt: doubled with each loss, up to 25,600.
  WARPHEAP_HD std::uint32_t pause() const { return 200u << (losses() < 7 ? losses() : 7); }

 private:
  WARPHEAP_HD std::uint32_t losses() const { return word_ >> 16; }

  std::uint32_t word_;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
