// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/warpheap/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"warpheap", subject_kind::manager, all_cases<warpheap_manager<small_chunks>>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
