// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The cases that every manager is explored in. A manager becomes a subject with
/// `const registrar added{manager_subject("name", setup<my_manager<...>>{.region_bytes = 4096})};`

#include "manager_world.hpp"

#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// All cases that the manager's capabilities allow.
std::vector<named_case> manager_cases(const any_setup& how);

inline subject manager_subject(const std::string& name, const any_setup& how) {
  return {name, subject_kind::manager, manager_cases(how), "", ""};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
