// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "workloads/operator_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar join_added{
    {"workload_join", subject_kind::structure, join_cases<join::page_matches>(), "", ""}};
const registrar group_by_added{{"workload_group_by", subject_kind::structure,
                                group_by_cases<group_by::page_split<2>>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
