// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/metered_heap.hpp"
#include "bench/workloads/join/requests.hpp"
#include "bench/workloads/tables/digest_kernel.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/workloads/join/kernels.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::join {

using warpheap::join::join_slices;

struct count_matches {
  bench::match_counting in;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t count = 0;
    auto sink = [&](const simt::group&, bool found, std::uint64_t, const join_data::match&) {
      if (found) ++count;
    };
    join_slices(in.input, sink);
    in.counts[simt::thread_rank()] = count;
  }
};

struct write_matches {
  bench::match_writing in;
  WARPHEAP_DEVICE void operator()() const {
    join_data::match* to = in.matches + in.offsets[simt::thread_rank()];
    auto sink = [&](const simt::group&, bool found, std::uint64_t, const join_data::match& match) {
      if (found) *to++ = match;
    };
    join_slices(in.input, sink);
  }
};

struct hash_of_match {
  WARPHEAP_DEVICE std::uint64_t operator()(const join_data::match& match) const {
    return mix64(mix64(std::uint64_t{match.key} << 32 | match.build) + match.probe);
  }
};

using kernels =
    type_list<warpheap::join::mix_keys, warpheap::join::find_partitions, count_matches,
              write_matches, warpheap::join::prepare_chains, metered<warpheap::join::page_matches>,
              warpheap::join::count_chains, warpheap::join::gather_matches,
              warpheap::join::free_chains, tables::digest_rows<join_data::match, hash_of_match>>;

}  // namespace lanes::join
WARPHEAP_END_NAMESPACE
