// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/team.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// A warp shares an item with this many targets or more; a lane does a smaller one alone.
/// Otherwise, a few vertices with many targets would determine how long a launch takes.
inline constexpr std::uint64_t warp_work = 256;

/// Does item number `thread_rank()` of `count`, alone or together with the other lanes of the warp.
/// All lanes of a launch of at least `count` lanes must call this.
/// \param work_of `(item)`: the number of targets that the item will look at
/// \param act `(team, item)`: does an item
template <class WorkOf, class Act>
WARPHEAP_DEVICE void share_out(std::uint64_t count, const WorkOf& work_of, const Act& act) {
  const simt::group warp = simt::warp();
  const std::uint64_t item = simt::thread_rank();
  const bool mine = item < count;
  const bool large = mine && work_of(item) >= warp_work;
  if (mine && !large) act(containers::lane_alone{}, item);
  warp.sync();
  for (simt::lane_mask left = warp.ballot(large); !left.empty();
       left = left.without(left.lowest())) {
    act(warp, warp.shuffle(item, left.lowest()));
  }
}

}  // namespace graph
WARPHEAP_END_NAMESPACE
