// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Memory is added while lanes ask for it: the cases of managers that grow.

#include "any_manager.hpp"
#include "scenario.hpp"

#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// \param how begins with a part of its region, and `grows` says what is left: at least
///   `growth_room` steps
std::vector<named_case> growth_cases(const any_setup& how);

/// Steps that the cases add.
inline constexpr int growth_room = 17;

}  // namespace verify
WARPHEAP_END_NAMESPACE
