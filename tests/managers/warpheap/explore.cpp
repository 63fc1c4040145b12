// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/warpheap/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"warpheap", subject_kind::manager, all_cases<warpheap_manager<small_chunks>>(), "", ""}};
const registrar patient{{"warpheap_patient", subject_kind::manager,
                         manager_cases(exact_chunks<warpheap_manager<patient_lanes>>()), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
