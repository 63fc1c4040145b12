// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// How long a launch of the steady load on a GPU may take: three at once, 262,144 lanes each, of a
/// heap of 1 GiB. Specialised in tests/managers/NAME/steady_limit.hpp for a manager whose header
/// says, after "Steady load", why its algorithm takes longer; check_limits.py compares both, and
/// the limit with what was measured.
template <class M>
struct launch_limit {
  static constexpr double ms = 100;
};

/// Blocks of `bytes`, at most 4096, fill a heap that was emptied to at least this share of what it
/// held when it was new. Specialised in the same place, for a manager whose larger blocks may lie
/// so that fewer fit.
template <class M>
struct refill {
  static constexpr std::uint64_t bytes = 4096;
  static constexpr double share = 1;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
