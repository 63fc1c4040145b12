// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

/// Adds what all members want to `counter`, by one atomic in the order `how`. Returns where the
/// caller's own share begins: after the shares of the members with a lower lane number. A
/// collective. \pre the members together want less than 2^32
WARPHEAP_DEVICE inline std::uint64_t bump_together(const simt::group& members,
                                                   std::uint64_t& counter, std::uint32_t wanted,
                                                   simt::order how) {
  const auto sum = sum_over(members, wanted);
  std::uint64_t start = 0;
  if (members.is_leader()) start = simt::atomic_ref(counter).fetch_add(sum.total, how);
  // A broadcast orders nothing; this orders the members after what the leader has acquired.
  if (how != simt::order::relaxed) members.sync();
  return members.broadcast(start) + sum.before;
}

}  // namespace sync
WARPHEAP_END_NAMESPACE
