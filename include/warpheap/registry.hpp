// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The single list of managers and their default configurations. The survey and the tool are
/// generated from it. Tests fail until the explorer has each of them, too, as small as possible,
/// and until each has run its contract's conformance suite (tests/managers/NAME).

#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"
#include "warpheap/managers/bump/bump.hpp"
#include "warpheap/managers/cuda/cuda.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/kma/kma.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <array>

WARPHEAP_BEGIN_NAMESPACE

// Baselines, then published ones by year (variants of a paper together), then the default manager.
using portable_managers = type_list<                                                             //
    bump<bump_config{.counters = bump_counters::one}>,                                           //
    bump<bump_config{.counters = bump_counters::warp}>,                                          //
    bump<bump_config{.counters = bump_counters::sharded}>,                                       //
    xmalloc<>,                                                                                   //
    scatter_alloc<>,                                                                             //
    fdg_malloc<>,                                                                                //
    kma<>,                                                                                       //
    halloc<>,                                                                                    //
    reg_eff<reg_eff_config{.keeps = book_keeping::counter}>,                                     //
    reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>,                            //
    reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 2}>,                  //
    reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 1}>,                  //
    reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .header_words = 2}>,   //
    reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .header_words = 1}>,   //
    dynasoar<>,                                                                                  //
    bulk_allocator<>,                                                                            //
    ouroboros<ouroboros_config{.queue = queue_kind::static_array, .item = item_kind::pages}>,    //
    ouroboros<ouroboros_config{.queue = queue_kind::static_array, .item = item_kind::chunks}>,   //
    ouroboros<ouroboros_config{.queue = queue_kind::virtual_array, .item = item_kind::pages}>,   //
    ouroboros<ouroboros_config{.queue = queue_kind::virtual_array, .item = item_kind::chunks}>,  //
    ouroboros<ouroboros_config{.queue = queue_kind::virtual_list, .item = item_kind::pages}>,    //
    ouroboros<ouroboros_config{.queue = queue_kind::virtual_list, .item = item_kind::chunks}>,   //
    gallatin<>,                                                                                  //
    rw<>, rw_bm<>, corw<>, crw<>, rw_malloc<>,                                                   //
    warpheap_manager<>>;

/// A manager that exists, but not on this machine.
struct missing_manager {
  capabilities about;
  const char* reason;
};

#if WARPHEAP_CUDA_MODEL
using managers = decltype(portable_managers::append(type_list<builtin>{}));
inline constexpr std::array<missing_manager, 0> missing_managers{};
#else
using managers = portable_managers;
inline constexpr std::array<missing_manager, 1> missing_managers{
    {{builtin_about, "CUDA's built-in allocator exists on a CUDA GPU only"}}};
#endif

namespace detail {
/// Does not compile with a manager that models no contract.
template <usable_manager... Managers>
struct usable_managers {};
}  // namespace detail
static_assert(sizeof(managers::apply<detail::usable_managers>) != 0);

WARPHEAP_END_NAMESPACE
