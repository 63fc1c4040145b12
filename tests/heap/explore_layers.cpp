// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heap/arena_cases.hpp"
#include "heap/checked_cases.hpp"
#include "heap/quarantine_cases.hpp"
#include "heap/setups.hpp"
#include "heap/warp_heaps_as_blocks_cases.hpp"

#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/checked/quarantine.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/heap/layers/with_large.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{{"checked", subject_kind::manager, checked_cases<checked<layer_base, small_log>>(),
               "", ""}},
    registrar{{"checked_quarantine", subject_kind::manager,
               quarantine_cases<checked<layer_base, small_quarantine>>(), "", ""}},
    registrar{{"quarantine", subject_kind::structure, slots_of_quarantine<checking::quarantine>(),
               "", ""}},
    registrar{
        {"warp_heaps_as_blocks", subject_kind::manager,
         warp_heap_of_each_cases(blocks_of_warp_heaps<warp_heaps_as_blocks<small_fdg_malloc>>()),
         "", ""}},
    registrar{
        {"warp_heaps_as_blocks_of_arenas", subject_kind::manager,
         warp_heap_of_each_cases(blocks_of_arenas<warp_heaps_as_blocks<test::warp_arenas<>>>()), "",
         ""}},
    registrar{{"arena", subject_kind::manager, arena_cases<arena_blocks<layer_base>>(), "", ""}},
    registrar{manager_subject("counted", counted_setup<counted<layer_base>>())},
    registrar{manager_subject("with_large", large_setup<with_large<few_pages, few_pages>>())},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
