// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Several sizes meet where memory ends.
///
/// Lanes take blocks and free none, so memory only gets less. Whatever a single lane can still
/// allocate when all lanes have ended was therefore there at every moment, and no order of the
/// requests explains why a lane was refused it: that is the verdict. A manager that has come to
/// believe that it is exhausted would deny it, so the requests that were served are counted, too.
/// Blocks are held at the end of every schedule, bundles, runs and chunks among them, and the
/// invariants are checked with them.

#include "any_manager.hpp"
#include "scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Added to the cases of every manager.
void add_end_of_memory_cases(const any_setup& how, std::vector<named_case>& cases);

/// Among them, those in which no lane frees, so that even a manager that misses blocks beside frees
/// finds all.
std::vector<named_case> cases_without_frees(const any_setup& how);
/// Among them, for managers that are exact beside frees: lanes free blocks of a full heap and want
/// as many again, so none is refused. Lanes that come together free and allocate through one.
std::vector<named_case> cases_beside_frees(const any_setup& how);

/// A lane wants the last of the sizes. Two lanes of a warp and one of another want the first, of
/// which `blocks` were freed: what the large one reclaims may be gone to a small one when it comes
/// back.
std::unique_ptr<scenario> large_among_small(const any_setup& how, int blocks);

/// One block of the first size is free. Two warps take and free it, or blocks of the other sizes in
/// its place, and want the same size at different times: what one leaves empty serves another size
/// while lanes that are late still want it for the former one. Whatever became of them, the lane
/// that ends last is served.
std::unique_ptr<scenario> sizes_take_turns(const any_setup& how);

}  // namespace verify
WARPHEAP_END_NAMESPACE
