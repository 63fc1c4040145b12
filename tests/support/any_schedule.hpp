// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A schedule of each strategy in turn, in either memory: ThreadSanitizer has to see it as it is.
inline simt::schedule any_schedule(std::uint64_t seed) {
  constexpr simt::strategy ways[]{simt::strategy::sticky, simt::strategy::uniform,
                                  simt::strategy::pct};
  return {ways[seed % 3], seed,
          race_checked || seed / 3 % 2 == 0 ? simt::memory_model::sequential
                                            : simt::memory_model::weak};
}

}  // namespace test
WARPHEAP_END_NAMESPACE
