// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/cuda/removed_from_thrust.hpp"
// The first one stays first.
#include "bench/peers/cuda/cuco.hpp"
#include "bench/peers/cuda/rows.hpp"

#include "warpheap/core/align.hpp"

#include <cuco/static_map.cuh>

#include <cooperative_groups.h>
#include <optional>

namespace warpheap::bench::peers {

namespace {

using group_by_data::row_group;

constexpr unsigned block_threads = 256;

/// Finds the first row with the key of each row, and adds the row to the group that lies there. A
/// group has four values in 24 bytes, and a slot of a map holds 8, so the map has places of groups.
template <class Map>
__global__ void aggregate(Map map, const std::uint32_t* keys, const std::uint32_t* values,
                          std::uint32_t count, row_group* groups) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<Map::cg_size>(cg::this_thread_block());
  const std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / Map::cg_size;
  if (i >= count) return;
  const row mine{keys[i], static_cast<std::uint32_t>(i)};
  const auto slot = [&] {
    if constexpr (Map::cg_size == 1) {
      return map.insert_and_find(mine).first;
    } else {
      return map.insert_and_find(tile, mine).first;
    }
  }();
  if (tile.thread_rank() != 0) return;
  // Another multiprocessor may have filled the slot: not from the cache of this one.
  const std::uint32_t place = __ldcg(&slot->second);
  row_group& group = groups[place];
  const std::uint32_t value = values[i];
  using word = unsigned long long;
  atomicAdd(reinterpret_cast<word*>(&group.count), word{1});
  atomicAdd(reinterpret_cast<word*>(&group.sum), word{value});
  // Read first: most values are neither the least nor the largest so far.
  if (*static_cast<volatile std::uint32_t*>(&group.max) < value) atomicMax(&group.max, value);
  if (*static_cast<volatile std::uint32_t*>(&group.min_complement) < ~value) {
    atomicMax(&group.min_complement, ~value);
  }
}

__global__ void gather(const std::uint32_t* keys, const std::uint32_t* places, std::uint64_t count,
                       const row_group* from, row_group* to) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  row_group group = from[places[i]];
  group.key = keys[i];
  to[i] = group;
}

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>(ceil_div<std::uint64_t>(threads, block_threads));
}

template <int GroupSize>
class map_group_by {
 public:
  explicit map_group_by(const table& input) : empty_(unused_key({&input})), rows_(input) { wait(); }

  void run(group_times& times) {
    timed(times.aggregate_ms, [&] {
      // As for cuDF's, nothing but the number of rows says how many keys there are at most.
      map_.emplace(cuco::extent<std::size_t>(slots_for(rows_.count, load_factor)),
                   cuco::empty_key<std::uint32_t>{empty_},
                   cuco::empty_value<std::uint32_t>{UINT32_MAX});
      sparse_.emplace(rows_.count);
      sparse_->clear();
      aggregate<<<blocks_for(std::uint64_t{rows_.count} * GroupSize), block_threads>>>(
          map_->ref(cuco::insert_and_find), rows_.keys.data(), rows_.values.data(), rows_.count,
          sparse_->data());
      check(cudaGetLastError(), "launch the aggregation");
    });
    timed(times.retrieve_ms, [&] {
      count_ = map_->size();
      const array<std::uint32_t> keys(count_);
      const array<std::uint32_t> places(count_);
      groups_.emplace(count_);
      map_->retrieve_all(keys.data(), places.data());
      if (count_ == 0) return;
      gather<<<blocks_for(count_), block_threads>>>(keys.data(), places.data(), count_,
                                                    sparse_->data(), groups_->data());
      check(cudaGetLastError(), "launch the gathering");
    });
  }

  std::vector<row_group> groups() const { return copy_to_host(groups_->data(), count_); }

  /// What the next run allocates anew; see `multimap_join`.
  void release() {
    groups_->clear();
    map_.reset();
    sparse_.reset();
    groups_.reset();
    wait();
  }

 private:
  using map =
      cuco::static_map<std::uint32_t, std::uint32_t, cuco::extent<std::size_t>,
                       cuda::thread_scope_device, thrust::equal_to<std::uint32_t>,
                       cuco::linear_probing<GroupSize, cuco::default_hash_function<std::uint32_t>>,
                       pool_allocator<row>>;

  std::uint32_t empty_;
  device_rows rows_;
  std::optional<map> map_;
  std::optional<array<row_group>> sparse_;
  std::optional<array<row_group>> groups_;
  std::uint64_t count_ = 0;
};

}  // namespace

template <int GroupSize>
group_times group_with_map(const table& input, const outcome& expected, std::uint64_t runs,
                           std::uint64_t& wrong) {
  group_times times;
  map_group_by<GroupSize> grouped(input);
  for (std::uint64_t run = 0; run < runs; ++run) {
    grouped.run(times);
    if (outcome_of(grouped.groups()) != expected) ++wrong;
    grouped.release();
  }
  return times;
}

template group_times group_with_map<4>(const table&, const outcome&, std::uint64_t, std::uint64_t&);
template group_times group_with_map<1>(const table&, const outcome&, std::uint64_t, std::uint64_t&);

}  // namespace warpheap::bench::peers
