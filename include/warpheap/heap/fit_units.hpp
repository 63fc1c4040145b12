// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/region.hpp"

#include <concepts>

WARPHEAP_BEGIN_NAMESPACE

/// Lays a manager out in `memory` with as many units as fit beside the metadata that they need.
///
/// \param least, most bounds of the number of units. If not even `least` fit, the layout is tried
///   with these, so that the exception states what they need.
/// \param lay_out `void (region_cursor&, Count units)`: takes everything that `units` units need
///   from the cursor, the units included. More units must never need less. Called for trials, too;
///   the last call is the one that counts.
/// \throws region_too_small if `least` units do not fit
/// \pre `least <= most`
///
/// Exact; O(log (most - least)) layouts.
template <std::unsigned_integral Count, class LayOut>
requires std::invocable<const LayOut&, region_cursor&, Count>
void lay_out_most(const region& memory, const char* owner, Count least, Count most,
                  const LayOut& lay_out) {
  const auto fits = [&](Count units) {
    region_cursor trial(memory, owner);
    try {
      lay_out(trial, units);
    } catch (const region_too_small&) {
      return false;
    }
    return true;
  };
  // Invariant: `least` units fit, or are the fewest; more than `most` do not fit.
  while (least < most) {
    const auto middle = static_cast<Count>(most - (most - least) / 2);
    if (fits(middle)) {
      least = middle;
    } else {
      most = static_cast<Count>(middle - 1);
    }
  }
  region_cursor cursor(memory, owner);
  lay_out(cursor, least);
}

WARPHEAP_END_NAMESPACE
