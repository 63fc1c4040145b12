// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/xmalloc/setups.hpp"
#include "managers/xmalloc/turn_lock_cases.hpp"
#include "managers/xmalloc/zones_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{{"xmalloc", subject_kind::manager,
               cases_of_single_requests(single_requests<small_xmalloc>()), "", ""}},
    registrar{{"xmalloc_lock", subject_kind::structure,
               lock_cases<xmalloc_parts::memoryblocks<test::small_config>>(), "", ""}},
    registrar{manager_subject("xmalloc_coalesced", coalesced_requests<small_xmalloc>())},
    registrar{{"xmalloc_zones", subject_kind::manager,
               cases_of_zones(zoned_requests<zoned_xmalloc>()), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
