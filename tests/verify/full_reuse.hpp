// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "any_manager.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Whether memory that was freed serves requests of any size, and as many as before. A setup must
/// say in `freed.reason` why, if it does not.
inline bool serves_all_sizes(const any_setup& how) { return *how.freed.reason == 0; }

}  // namespace verify
WARPHEAP_END_NAMESPACE
