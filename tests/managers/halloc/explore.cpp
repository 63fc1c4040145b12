// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/halloc/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{manager_subject("halloc", few_slabs<halloc<small_slabs>>())};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
