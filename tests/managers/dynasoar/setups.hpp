// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Three types: four slots of 16 bytes a block, two of 32, one of 64.
using small_dynasoar = dynasoar<dynasoar_config{.smallest_bytes = 16, .slots = 4}>;

/// Room for all that the cases ask for, and little more.
template <class M>
setup<M> small_blocks() {
  return {.region_bytes = 1152 + 18 * 76, .sizes = {16, 32, 64}};
}

/// Most blocks have one slot, or two: each malloc and free opens or closes one.
template <class M>
setup<M> single_slots() {
  return {.region_bytes = 1152 + 20 * 76, .sizes = {64, 32}};
}

/// Two or three blocks, which change their type all the time, and more requests than slots.
template <class M>
setup<M> few_blocks() {
  return {.region_bytes = 1152 + 3 * 76, .sizes = {32, 16}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
