// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/scatter_alloc/setups.hpp"
#include "small.hpp"

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{manager_subject("scatter_alloc", flat_pages<test::small>())},
    registrar{manager_subject("scatter_alloc_two_levels", two_level_pages<test::two_levels>())},
    registrar{{"scatter_alloc_segments", subject_kind::manager,
               segment_cases(two_level_pages<test::two_levels>()), "", ""}},
    registrar{{"scatter_alloc_pages", subject_kind::manager,
               page_cases(many_flat_pages<test::small>()), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
