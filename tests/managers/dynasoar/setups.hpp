// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Three types: a block has four slots of 16 bytes, two of 32, or one of 64.
using small_dynasoar = dynasoar<dynasoar_config{.smallest_bytes = 16, .slots = 4}>;

/// Room for all that the cases ask for, and little more: 19 blocks of 64 bytes, behind the counts,
/// a line for each of seven trees, and 12 bytes per block.
template <class M>
setup<M> small_blocks() {
  return {.region_bytes = 1280 + 19 * 64, .sizes = {16, 32, 64}, .holds = {19 * 4, 19 * 2, 19}};
}

/// Most blocks have one slot, or two: each malloc and free opens or closes one.
template <class M>
setup<M> single_slots() {
  return {.region_bytes = 1280 + 21 * 64, .sizes = {64, 32}, .holds = {21, 21 * 2}};
}

/// Three blocks, which change their type all the time, and more requests than slots.
template <class M>
setup<M> few_blocks() {
  return {.region_bytes = 1152 + 3 * 64, .sizes = {32, 16}, .holds = {3 * 2, 3 * 4}, .fits = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
