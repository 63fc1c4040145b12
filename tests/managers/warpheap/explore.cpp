// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/warpheap/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{manager_subject("warpheap", few_chunks<warpheap_manager<small_chunks>>())};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
