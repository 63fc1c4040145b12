// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

/// A word that tells a search whether it may have missed something that moved:
///
///     [ moves that have ended: 32 | moves in progress: 32 ]
///
/// A lane that moves something from one place to another, where it is hidden meanwhile, announces
/// that before it takes it out of the first place, and concludes it once it is in the second. A
/// search that found nothing in both places missed nothing if no move was in progress before it and
/// the word is the same after it.
struct moves {
  using word_ref = simt::atomic_ref<std::uint64_t>;

  static constexpr std::uint64_t begins = 1;
  /// One more has ended, and one fewer is in progress.
  static constexpr std::uint64_t ends = (std::uint64_t{1} << 32) - 1;
  /// One fewer is in progress, and no more have ended: for things that were taken for good. A
  /// search that has missed them has missed nothing.
  static constexpr std::uint64_t ends_for_good = ~std::uint64_t{0};

  /// Relaxed, so the thing must then be taken out with release: a search that finds it gone, by an
  /// acquire of that, sees the announcement. Returns the word as it was.
  WARPHEAP_DEVICE static std::uint64_t announce(const word_ref& word) {
    return word.fetch_add(begins, simt::order::relaxed);
  }
  /// Release pairs with the acquire of `look`: a search that sees the end sees where the thing is
  /// now.
  WARPHEAP_DEVICE static void conclude(const word_ref& word) {
    word.fetch_add(ends, simt::order::release);
  }
  /// The word before a search, and after it.
  WARPHEAP_DEVICE static std::uint64_t look(const word_ref& word) {
    return word.load(simt::order::acquire);
  }

  WARPHEAP_HD static constexpr std::uint32_t in_progress(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  WARPHEAP_HD static constexpr std::uint32_t ended(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
