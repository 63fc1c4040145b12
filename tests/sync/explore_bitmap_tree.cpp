// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/bitmap_tree_cases.hpp"

#include "warpheap/sync/bitmap_runs.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"bitmap_tree", subject_kind::structure, bitmap_tree_cases<bitmap_tree>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
