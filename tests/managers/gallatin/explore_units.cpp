// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/gallatin/unit_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using family = gallatin_family<gallatin_config, gallatin>;

const registrar common{manager_subject("gallatin", gallatin_with<family::small>(12))};
const registrar shares{
    {"gallatin_shares", subject_kind::manager, gallatin_share_cases<family>(), "", ""}};
const registrar returns{
    {"gallatin_returns", subject_kind::manager, gallatin_return_cases<family>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
