// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/team.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// The number of values below `value` among `count` ascending ones. O(log count).
WARPHEAP_DEVICE inline std::uint32_t count_below(const std::uint32_t* values, std::uint32_t count,
                                                 std::uint32_t value) {
  std::uint32_t low = 0;
  while (count != 0) {
    const std::uint32_t half = count / 2;
    const bool above = values[low + half] < value;
    low = above ? low + half + 1 : low;
    count = above ? count - half - 1 : half;
  }
  return low;
}

/// Whether `value` is one of `count` ascending values. O(log count).
WARPHEAP_DEVICE inline bool is_among(const std::uint32_t* values, std::uint32_t count,
                                     std::uint32_t value) {
  const std::uint32_t place = count_below(values, count, value);
  return place < count && values[place] == value;
}

/// Moves the values for which `keep(i, value)` holds to the front, in their order, and returns
/// their number. A collective. In place: a value is written after all members have read theirs, and
/// never beyond what was read.
/// \param read returns value i; each member calls it with ascending i
/// \param write sets value i; each member calls it with ascending i
template <containers::team Team, class Read, class Keep, class Write>
WARPHEAP_DEVICE std::uint32_t compact(const Team& members, std::uint32_t count, Read&& read,
                                      const Keep& keep, Write&& write) {
  const auto step = static_cast<std::uint32_t>(members.size());
  std::uint32_t kept = 0;
  for (std::uint32_t begin = 0; begin < count; begin += step) {
    const std::uint32_t i = begin + static_cast<std::uint32_t>(members.rank());
    std::uint32_t value = 0;
    bool stays = false;
    if (i < count) {
      value = read(i);
      stays = keep(i, value);
    }
    const auto sum = containers::sum_over(members, stays ? 1u : 0u);
    members.sync();
    if (stays) write(kept + sum.before, value);
    kept += sum.total;
  }
  members.sync();
  return kept;
}

}  // namespace graph
WARPHEAP_END_NAMESPACE
