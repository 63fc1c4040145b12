// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's segments: runs of them beside units, and their release.

#include "managers/gallatin/world.hpp"

#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

std::vector<named_case> gallatin_segment_cases(const gallatin_makers& with);

template <class Family>
std::vector<named_case> gallatin_segment_cases() {
  return gallatin_segment_cases(gallatin_makers::of<Family>());
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
