// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/bulk_allocator/buddy_tree_cases.hpp"
#include "managers/bulk_allocator/bulk_allocator_cases.hpp"
#include "managers/bulk_allocator/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using small = bulk_allocator<small_pages>;

const registrar added[]{
    registrar{manager_subject("bulk_allocator", few_bins<small>())},
    registrar{manager_subject("bulk_allocator_nodes", few_nodes<small>())},
    registrar{{"bulk_allocator_whole", subject_kind::manager, whole_again_cases<small>(), "", ""}},
    registrar{
        {"buddy_tree", subject_kind::structure, buddy_cases<bulk_parts::buddy_tree>(), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
