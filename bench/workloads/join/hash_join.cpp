// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/join/hash_join.hpp"

#include "bench/host/metered_request.hpp"
#include "bench/workloads/tables/digest.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/workloads/join/keys.hpp"

#include <algorithm>
#include <numeric>

namespace warpheap::bench {

using namespace join_data;

namespace {

// A quarter of what a block holds, so that most partitions fit although they differ in size.
constexpr std::uint64_t mean_partition_rows = hash_join::most_chunk_rows / 4;
constexpr int most_partition_bits = 20;

std::uint32_t bits_for(std::uint64_t build_rows) {
  const int bits = ceil_log2(ceil_div(std::max<std::uint64_t>(build_rows, 2), mean_partition_rows));
  return static_cast<std::uint32_t>(std::clamp(bits, 1, most_partition_bits));
}

/// Each row is stored as given, with its key mixed, and sorted; the sort needs as much as a copy.
std::uint64_t memory_for(std::uint64_t rows) { return rows * 4 * sizeof(std::uint64_t); }

}  // namespace

hash_join::side::side(machine& on, const table& from, std::uint32_t partition_bits)
    : rows(from.rows()),
      given(on, from),
      mixed(on, rows),
      ordered(on, rows),
      offsets(on, (std::uint64_t{1} << partition_bits) + 1) {}

double hash_join::side::partition(machine& on, std::uint32_t partition_bits) {
  constexpr int key_bits = 32;
  double ms = on.launch(rows, key_mixing{rows, given.keys.data(), mixed.data()});
  if (rows != 0) {
    const columns from{mixed.data(), given.values.data()};
    ms +=
        on.sort(from, ordered.data(), rows, key_bits - static_cast<int>(partition_bits), key_bits);
  }
  return ms +
         on.launch((std::uint64_t{1} << partition_bits) + 1,
                   partition_search{rows, ordered.keys.data(), partition_bits, offsets.data()});
}

hash_join::hash_join(machine& on, const table& build, const table& probe)
    : on_((require_memory(on, "a join", build.rows() + probe.rows(),
                          memory_for(build.rows() + probe.rows())),
           on)),
      partition_bits_(bits_for(build.rows())),
      build_(on, build, partition_bits_),
      probe_(on, probe, partition_bits_),
      blocks_(std::clamp<std::uint64_t>(
          on.info().resident_threads / threads_per_block, 1,
          std::max<std::uint64_t>(ceil_div<std::uint64_t>(probe.rows(), threads_per_block), 1))) {}

double hash_join::partition() {
  return build_.partition(on_, partition_bits_) + probe_.partition(on_, partition_bits_);
}

join_input hash_join::input() const {
  // One or more slices per block. Each slice of a partition builds the partition's table again.
  const std::uint64_t slice_rows = round_up<std::uint64_t>(
      std::clamp<std::uint64_t>(ceil_div(probe_.rows, blocks_), 1, most_slice_rows),
      threads_per_block);
  return {build_.view(), probe_.view(), partition_bits_, most_chunk_rows,
          static_cast<std::uint32_t>(slice_rows)};
}

template <class Request>
double hash_join::launch(launcher& where, const Request& request) const {
  return where.launch_blocks(blocks_, threads_per_block, shared_bytes_of(most_chunk_rows), request);
}

pooled_array<match> hash_join::two_pass() {
  const pooled_array<std::uint64_t> offsets(on_, lanes() + 1);
  launch(on_, match_counting{input(), offsets.data()});
  on_.exclusive_scan(offsets.data(), offsets.size());
  pooled_array<match> matches(on_, offsets.at(lanes()));
  launch(on_, match_writing{input(), offsets.data(), matches.data()});
  return matches;
}

paged_join::paged_join(hash_join& of, test_heap& heap, std::uint32_t page_bytes)
    : join_(of),
      heap_(heap),
      page_bytes_(page_bytes),
      warps_(ceil_div<std::uint64_t>(of.lanes(), lanes_per_warp)),
      chains_(of.on_, warps_ * match_chains::bytes_each),
      lost_(of.on_, of.probe_.rows) {
  of.on_.launch(warps_, chain_preparing{chains()});
}

void paged_join::run(call_time* time) {
  lost_.clear();
  join_.launch(heap_, metered_request<match_paging>{{join_.input(), chains(), lost_.data()}, time});
}

std::vector<std::uint64_t> paged_join::sizes_before() const {
  const device_array<std::uint64_t> counts(join_.on_, warps_);
  join_.on_.launch(warps_, chain_counting{chains(), counts.data()});
  std::vector<std::uint64_t> sums = counts.to_host();
  sums.push_back(0);
  std::exclusive_scan(sums.begin(), sums.end(), sums.begin(), std::uint64_t{0});
  return sums;
}

std::uint64_t paged_join::size() const { return sizes_before().back(); }

std::uint64_t paged_join::lost() const {
  const std::vector<std::uint32_t> counts = lost_.to_host();
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

pooled_array<match> paged_join::gather() const {
  const std::vector<std::uint64_t> before = sizes_before();
  const device_array<std::uint64_t> offsets(join_.on_, before);
  pooled_array<match> matches(join_.on_, before.back());
  join_.on_.launch(warps_ * lanes_per_warp,
                   match_gathering{chains(), offsets.data(), matches.data()});
  return matches;
}

std::vector<paged_join::lost_row> paged_join::lost_rows() const {
  const std::vector<std::uint32_t> counts = lost_.to_host();
  const std::vector<std::uint32_t> keys = join_.probe_.ordered.keys.to_host();
  const std::vector<std::uint32_t> values = join_.probe_.ordered.values.to_host();
  std::vector<lost_row> rows;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) rows.push_back({warpheap::join::key_of(keys[i]), values[i], counts[i]});
  }
  return rows;
}

double paged_join::release() { return heap_.launch(warps_, chain_freeing{chains()}); }

std::uint64_t digest(machine& on, const pooled_array<match>& matches) {
  const device_array<std::uint64_t> sum(on, 1);
  if (matches.size() != 0) {
    on.launch(matches.size(), result_digest<match>{matches.data(), matches.size(), sum.data()});
  }
  return sum.to_host().front();
}

}  // namespace warpheap::bench
