// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/bits.hpp"
#include "warpheap/core/error.hpp"

/// Succeeds when the installed headers are found and work.
int main() {
  static_assert(warpheap::kth_set_bit(0b1011U, 2) == 3);
  const warpheap::invalid_argument error{"what"};
  return error.what()[0] == 'w' && warpheap::popcount(0xffU) == 8 ? 0 : 1;
}
