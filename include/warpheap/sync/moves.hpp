// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

/// A word that tells a search whether it may have missed something that moved:
///
///     [ moves that have ended: 32 | moves in progress: 32 ]
///
/// A lane that moves something from one place to another, where it is hidden meanwhile, adds
/// `begins` before it takes it out of the first place, and `ends` once it is in the second. A
/// search that found nothing in both places missed nothing if no move was in progress before it and
/// the word is the same after it.
///
/// Orders: `begins` may be relaxed if the thing is then taken out with release: a search that finds
/// it gone, by an acquire of that, sees the announcement. `ends` releases and pairs with the
/// acquire of the search's first look at the word: a search that sees the end sees where the thing
/// is now.
struct moves {
  static constexpr std::uint64_t begins = 1;
  /// One more has ended, and one fewer is in progress.
  static constexpr std::uint64_t ends = (std::uint64_t{1} << 32) - 1;
  /// One fewer is in progress, and no more have ended: for things that were taken for good. A
  /// search that has missed them has missed nothing.
  static constexpr std::uint64_t ends_for_good = ~std::uint64_t{0};

  WARPHEAP_HD static constexpr std::uint32_t in_progress(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  WARPHEAP_HD static constexpr std::uint32_t ended(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
