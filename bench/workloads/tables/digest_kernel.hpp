// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/workloads/tables/digest.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::tables {

/// \tparam Hash gives the hash of a row
template <class Row, class Hash>
struct digest_rows {
  bench::result_digest<Row> in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    sync::add_up(simt::warp(), in.sum, i < in.count ? Hash()(in.rows[i]) : 0);
  }
};

}  // namespace lanes::tables
WARPHEAP_END_NAMESPACE
