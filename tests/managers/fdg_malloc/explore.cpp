// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/fdg_malloc/setups.hpp"

#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using small = fdg_malloc<fdg_config{.least_superblock_bytes = 64, .most_superblock_bytes = 64}>;
const registrar added{{"fdg_malloc", subject_kind::manager, fdg_cases<small>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
