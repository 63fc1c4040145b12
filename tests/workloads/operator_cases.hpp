// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "workloads/group_by_world.hpp"
#include "workloads/join_world.hpp"

#include "scenario.hpp"

#include "warpheap/managers/random_walk/corw.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A heap of `count` pages of corw.
template <std::uint32_t PageBytes>
any_setup heap_of_pages(std::size_t count) {
  constexpr std::size_t metadata_bytes = 256;
  return setup<corw<>>{.region_bytes = metadata_bytes + count * PageBytes,
                       .options = {.page_bytes = PageBytes},
                       .sizes = {PageBytes},
                       .holds = {static_cast<int>(count)}};
}

template <class Kernel>
std::vector<named_case> join_cases() {
  return {case_of<join_world<Kernel>>("enough_pages", heap_of_pages<64>(12)),
          case_of<join_world<Kernel>>("three_pages", heap_of_pages<64>(3))};
}

template <class Split>
std::vector<named_case> group_by_cases() {
  return {case_of<group_by_world<Split, 2, 4>>("enough_pages", heap_of_pages<32>(16)),
          case_of<group_by_world<Split, 2, 4>>("three_pages", heap_of_pages<32>(3)),
          case_of<group_by_world<Split, 1, 34>>("two_warps", heap_of_pages<32>(20))};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
