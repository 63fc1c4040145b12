// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/fdg_malloc/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{{"fdg_malloc", subject_kind::manager, fdg_cases<small_fdg_malloc>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
