// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/exhaustion_cases.hpp"

#include "warpheap/sync/exhaustion.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"exhaustion", subject_kind::structure, exhaustion_cases<exhaustion>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
