// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// When a search gives up.
enum class exhaustion_rule {
  /// After the random walk all words are searched in turn: null means that nothing was free at a
  /// moment of the call, or that others freed and took all the time in a few searches of all words
  /// (`search_rounds`).
  exact,
  /// The paper's rule (section 3.2.3): null after so many futile probes that, with 99 % confidence,
  /// fewer than `low_water_ppm` of a million pages are free. Some callers get null while pages
  /// are left.
  statistical,
};

/// Probes of single pages until a walk gives up, by `rule`, at a share of `low_water_ppm` free
/// pages in a million. A probe of a word of w pages counts w times.
constexpr std::uint32_t probes_until_exhausted(exhaustion_rule rule, std::uint32_t low_water_ppm) {
  const double share = low_water_ppm * 1e-6;
  // Statistical: 2.326^2 (1-L) / L, rounded down as in the paper (1,076 at 0.5 %). Exact:
  // ln(1e4)/L, so that one call in ten thousand continues to the full search, which groups share,
  // while that share is free.
  return static_cast<std::uint32_t>(
      rule == exhaustion_rule::statistical ? 2.326 * 2.326 * (1 - share) / share : 9.21 / share);
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
