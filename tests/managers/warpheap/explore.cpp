// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/warpheap/offer_cases.hpp"
#include "managers/warpheap/setups.hpp"

#include "warpheap/managers/warpheap/offers.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"warpheap", subject_kind::manager, all_cases<warpheap_manager<small_chunks>>(), "", ""}};
const registrar patient{
    {"warpheap_patient", subject_kind::manager,
     exact_cases<warpheap_manager<patient_lanes>>(exact_chunks<warpheap_manager<patient_lanes>>()),
     "", ""}};
const registrar ordered{{"warpheap_ordered", subject_kind::manager,
                         exact_cases<warpheap_manager<ordered_lanes>>(
                             ordered_chunks<warpheap_manager<ordered_lanes>>()),
                         "", ""}};
// Lanes that look as often as those of users, and some of which may not look at listed words.
const registrar undisturbed{{"warpheap_undisturbed", subject_kind::manager,
                             cases_without_frees(exact_chunks<warpheap_manager<small_chunks>>()),
                             "", ""}};
const registrar waiting{{"warpheap_waiting", subject_kind::manager,
                         growth_for_all_cases<warpheap_manager<waiting_lanes>,
                                              warpheap_class_exhaustion<waiting_lanes>>(),
                         "", ""}};
const registrar offers{
    {"warpheap_offers", subject_kind::structure, offer_cases<warpheap_offers>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
