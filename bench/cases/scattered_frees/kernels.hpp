// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/scattered_frees/requests.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/permutation.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::scattered_frees {

/// Apart from the kernel of frees, because drawing the places takes longer than a free.
struct pick_blocks {
  bench::block_picking in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.picks) return;
    const std::uint64_t place = permutation(in.count, in.seed)(i);
    in.picked[i] = in.addresses[place];
    in.addresses[place] = 0;
  }
};

using kernels = type_list<pick_blocks>;

}  // namespace lanes::scattered_frees
WARPHEAP_END_NAMESPACE
