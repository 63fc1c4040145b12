// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/dynasoar/objects_cases.hpp"
#include "managers/dynasoar/setups.hpp"

#include "warpheap/managers/dynasoar/objects.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar small{manager_subject("dynasoar", small_blocks<small_dynasoar>())};
const registrar single{manager_subject("dynasoar_single_slots", single_slots<small_dynasoar>())};
const registrar tight{manager_subject("dynasoar_tight", few_blocks<small_dynasoar>())};

using objects = dynasoar_objects<object_types>;
const registrar of_types{
    {"dynasoar_objects", subject_kind::manager, object_cases<objects>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
