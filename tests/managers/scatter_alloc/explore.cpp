// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/scatter_alloc/setups.hpp"

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using flat = scatter_alloc<scatter_config{.page_bytes = 256,
                                          .region_pages = 2,
                                          .super_blocks = 3,
                                          .least_block_pages = 4,
                                          .rejecting_level = 2,
                                          .probed_regions = 2}>;
using two_levels = scatter_alloc<scatter_config{.page_bytes = 1024,
                                                .region_pages = 2,
                                                .super_blocks = 1,
                                                .least_block_pages = 2,
                                                .rejecting_level = 2,
                                                .probed_regions = 1}>;

const registrar added[]{
    registrar{manager_subject("scatter_alloc", flat_pages<flat>())},
    registrar{manager_subject("scatter_alloc_two_levels", two_level_pages<two_levels>())},
    registrar{{"scatter_alloc_segments", subject_kind::manager,
               segment_cases(two_level_pages<two_levels>()), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
