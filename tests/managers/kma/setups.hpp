// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Superblocks of four slots of 16 bytes, or two, or one, and buckets for both multiprocessors.
template <class M>
setup<M> small_kma() {
  return {.region_bytes = 4096, .sizes = {16, 24, 64}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
