// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's units and blocks: which are shared out, come back, and wait in buffers.

#include "managers/gallatin/world.hpp"

#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Units are shared out to the last one.
std::vector<named_case> gallatin_share_cases(const gallatin_makers& with);

/// Units and blocks come back, and are found again.
std::vector<named_case> gallatin_return_cases(const gallatin_makers& with);

template <class Family>
std::vector<named_case> gallatin_share_cases() {
  return gallatin_share_cases(gallatin_makers::of<Family>());
}
template <class Family>
std::vector<named_case> gallatin_return_cases() {
  return gallatin_return_cases(gallatin_makers::of<Family>());
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
