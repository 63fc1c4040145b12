// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/reference/warp_arenas.hpp"
#include "manager_world.hpp"
#include "managers/fdg_malloc/setups.hpp"

#include "warpheap/heap/layers/warp_heaps_as_blocks.hpp"

#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// 64 entries of 16 bytes, and 52 SuperBlocks behind 2560 bytes more.
template <class M>
setup<M> blocks_of_warp_heaps() {
  return {.region_bytes = 1024 + 6144, .sizes = {16, 24}, .holds = {52 * 4, 52 * 2}};
}

/// 64 entries of 16 bytes, and an arena for each lane. What `begin` writes there is plain memory,
/// so others may not look at it before they were told.
template <class M>
setup<M> blocks_of_arenas() {
  using arenas = test::warp_arenas<>;
  constexpr int lanes = 8;
  return {.region_bytes = 1024 + lanes * (arenas::arena_bytes + 16),
          .sizes = {256, 512},
          .holds = {arenas::arena_bytes / 256, arenas::arena_bytes / 512}};
}

/// The lanes of a warp come in several branches, each of which may make a warp heap. One of them
/// stays; the others are gone.
class one_heap_a_warp : public heap_world {
 public:
  using heap_world::heap_world;

  void lane() {
    for (std::uint64_t i = 0; i < 2; ++i) must_take(heap.size(simt::thread_rank() + i));
  }

  std::string verdict() {
    std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    inspection found;
    heap.manager().inspect(found);
    if (found.blocks_in_use == shape.blocks) return wrong;
    return std::to_string(found.blocks_in_use) + " warp heaps are there, and each of " +
           std::to_string(shape.blocks) + " warps keeps one";
  }
};

/// No others: what a warp heap has in hand serves no other warp, so a heap is full before its end.
inline std::vector<named_case> warp_heap_of_each_cases(const any_setup& how) {
  return {case_of<one_heap_a_warp>("one_heap_a_warp", how)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
