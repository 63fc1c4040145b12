// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/xmalloc/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{manager_subject("xmalloc", single_requests<small_xmalloc>())},
    registrar{manager_subject("xmalloc_coalesced", coalesced_requests<small_xmalloc>())},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
