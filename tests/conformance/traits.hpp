// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/capacity.hpp"
#include "conformance/scale.hpp"

#include "warpheap/heap/heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What the suite has to know of a manager beyond what it claims.
template <block_manager M>
struct default_traits {
  /// Smallest heap in which every request of a test can be met.
  static constexpr std::size_t least_heap_bytes = 0;
  /// `stats().blocks_in_use` is the number of blocks that callers hold.
  static constexpr bool counts_blocks = M::about.frees && M::about.uses_region;
  /// A heap whose blocks were all freed is as good as new.
  static constexpr bool whole_when_emptied = M::about.reuse == memory_reuse::all;
  /// Blocks of this size fill the heap to the same number every time; 0: blocks of any size do.
  static constexpr std::size_t refill_bytes = 0;
  /// A heap that was emptied holds this share of the blocks that it held when it was full: less
  /// than 1 only for a manager whose header says why.
  static constexpr double refill_share = 1.0;
  /// Blocks of a size that a full heap hands out again once all of them are free, if they were
  /// taken one after another.
  static constexpr std::uint64_t reused_together(std::size_t /*bytes*/) { return 1; }
  /// Blocks that fill a heap, and threads that churn in it, at most: fewer only for a manager whose
  /// null is a search among all blocks, or whose lanes all meet at one word.
  static constexpr std::uint64_t most_fill_blocks = std::uint64_t{1} << 20;
  static constexpr std::uint64_t most_churn_threads = std::uint64_t{1} << 20;
};

/// Specialised in tests/managers/NAME/conformance.cpp, or in traits.hpp there if tests of others
/// need it as well: to say what a new heap must hold, as managers do whose memory is the heap's,
/// and where a manager differs from the defaults.
///
///     static std::vector<capacity> capacities(const simt::device_properties& on);
template <usable_manager M>
struct manager_traits {};
template <block_manager M>
struct manager_traits<M> : default_traits<M> {};

/// What a manager claims, for another configuration of it.
constexpr capabilities renamed(capabilities about, const char* name) {
  about.name = name;
  return about;
}

/// The options of a heap that has to serve requests of up to `largest` bytes.
template <block_manager M>
typename M::options options_for(std::size_t largest) {
  typename M::options settings{};
  if constexpr (page_manager<M>) {
    settings.page_bytes = round_up<std::size_t>(largest, 16);
  }
  return settings;
}

/// The largest request of `wanted` bytes or less that the manager claims to serve.
template <block_manager M>
constexpr std::size_t served(std::size_t wanted) {
  return M::about.largest_block != 0 && M::about.largest_block < wanted ? M::about.largest_block
                                                                        : wanted;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
