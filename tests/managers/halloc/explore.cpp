// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/halloc/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"halloc", subject_kind::manager, halloc_cases(few_slabs<halloc<small_slabs>>()), "", ""}};
const registrar single{manager_subject("halloc_one_slab", few_slabs<halloc<small_slabs>>(1))};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
