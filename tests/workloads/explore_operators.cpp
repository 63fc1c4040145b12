// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "workloads/group_by_world.hpp"
#include "workloads/join_world.hpp"

#include "scenario.hpp"

#include "warpheap/managers/random_walk/corw.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// What corw keeps beside its pages.
constexpr std::size_t metadata_bytes = 256;

template <std::uint32_t PageBytes>
any_setup pages(std::size_t count) {
  return setup<corw<>>{.region_bytes = metadata_bytes + count * PageBytes,
                       .options = {.page_bytes = PageBytes},
                       .sizes = {PageBytes}};
}

const registrar join{{"workload_join",
                      subject_kind::structure,
                      {case_of<join_world>("enough_pages", pages<64>(12)),
                       case_of<join_world>("three_pages", pages<64>(3))},
                      "",
                      ""}};
const registrar group_by{{"workload_group_by",
                          subject_kind::structure,
                          {case_of<group_by_world<2, 4>>("enough_pages", pages<32>(16)),
                           case_of<group_by_world<2, 4>>("three_pages", pages<32>(3)),
                           case_of<group_by_world<1, 34>>("two_warps", pages<32>(20))},
                          "",
                          ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
