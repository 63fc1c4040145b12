// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Those with offsets per multiprocessor took the longest; the counters search nothing.
template <reg_eff_config Config>
requires(Config.has_list()) struct launch_limit<reg_eff<Config>> {
  static constexpr double ms = Config.offsets == memory_offsets::one ? 1600 : 2900;
};
/// Chunks merge only as far as a request needs, and are then handed out whole unless they have room
/// for two (the paper's maximum fragmentation of 2): 112 bytes, 8 granules with the header, may get
/// up to 15. In a new heap all chunks are multiples of 8, so this costs nothing; after other sizes
/// it does. The least share is 8/15; 97 % were measured. list_heap_refill_test.cpp accounts for
/// every granule: what is missing is inside the blocks.
template <reg_eff_config Config>
requires(Config.has_list()) struct refill<reg_eff<Config>> {
  static constexpr std::uint64_t bytes = 112;
  static constexpr double share = 0.9;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
