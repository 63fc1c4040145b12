// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Flat pages of 256 bytes with 8, 5 and 2 chunks, single pages, and runs of two.
template <class M>
setup<M> flat_pages() {
  return {.region_bytes = 4096, .sizes = {32, 100, 48, 200, 300}, .exact = false};
}

/// Pages of 1 KiB, most of them with two levels: 63 chunks of 16 bytes.
template <class M>
setup<M> two_level_pages() {
  return {.region_bytes = 5120, .sizes = {16, 100, 600}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
