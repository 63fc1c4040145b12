// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/bulk_allocator/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{manager_subject("bulk_allocator", few_bins<bulk_allocator<small_pages>>())},
    registrar{manager_subject("bulk_allocator_nodes", few_nodes<bulk_allocator<small_pages>>())},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
