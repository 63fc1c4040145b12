// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/group_runs_cases.hpp"

#include "warpheap/sync/group_runs.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"group_word", subject_kind::structure, group_word_cases<group_word>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
