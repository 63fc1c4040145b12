// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/gallatin/segment_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{{"gallatin_segments", subject_kind::manager,
                       gallatin_segment_cases<gallatin_family<gallatin_config, gallatin>>(), "",
                       ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
