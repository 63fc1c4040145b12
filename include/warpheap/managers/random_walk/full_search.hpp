// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The end of a walk that found nothing: a search of all places, the lanes that call together side
/// by side.
///
/// Progress: a bounded number of passes, each of which visits every place once; a lane waits for
/// the members of its group only, all of which run the same loops.

#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// Neither a page nor a run, where the number of one is expected.
inline constexpr std::uint32_t not_found = 0xffffffffu;

/// The order in which a group visits all places once: from a random one on, round and round, so
/// that groups which search at the same time look at different places.
class round_trip {
 public:
  /// A collective. \pre `places != 0`
  WARPHEAP_DEVICE round_trip(const simt::group& team, std::uint32_t places)
      : places_(places),
        start_(team.broadcast(scale_to(static_cast<std::uint32_t>(simt::noise() >> 32), places))) {
    // Each member believes what the others find in the places that they examine. So its
    // announcement has to come before their examinations, and not only before its own: a lane that
    // frees acquires from the one that examined its place, and must then see the announcements of
    // all.
    team.sync();
  }

  /// Place number `i` of the trip. \pre `i < places`
  WARPHEAP_DEVICE std::uint32_t place(std::uint32_t i) const {
    return place_in_round(start_, i, places_);
  }

 private:
  std::uint32_t places_;
  std::uint32_t start_;
};

/// Searches until a pass finds what the caller wants, or the heap is known to be exhausted.
///
/// The first pass reads; most searches end there. If it finds nothing, the passes that follow
/// examine every place in the way that `exhaustion` needs to believe them.
///
/// \param units what `exhaustion` is asked for and told
/// \param read, examine `std::uint32_t ()`: visit all places, by plain loads or by
///   read-modify-writes with acquire and release. What they found, or `not_found`.
template <class Read, class Examine>
WARPHEAP_DEVICE std::uint32_t search_all(exhaustion& memory, std::uint32_t units, const Read& read,
                                         const Examine& examine) {
  // What is freed behind a searcher's back is found in the next pass. Passes are limited because
  // others could free and take for ever.
  constexpr int most_passes = 16;
  std::uint32_t found = read();
  for (int pass = 1; pass < most_passes && found == not_found && !memory.is_out(units); ++pass) {
    const exhaustion::token mine = memory.announce();
    found = examine();
    if (found == not_found && memory.confirm(mine, units)) break;
  }
  return found;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
