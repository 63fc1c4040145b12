// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/bits.hpp"

/// Compiles when the installed headers are found and serve device code.
__global__ void count_bits(unsigned* word) { *word = warpheap::popcount(*word); }
