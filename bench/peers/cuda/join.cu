// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/cuda/removed_from_thrust.hpp"
// The first one stays first.
#include "bench/peers/cuco.hpp"
#include "bench/peers/cuda/device.hpp"

#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cuco/static_multimap.cuh>

#include <optional>

namespace warpheap::bench::peers {

namespace {

struct same_key {
  __device__ bool operator()(const row& a, const row& b) const { return a.first == b.first; }
};

/// Where pairs are written to, their parts apart.
template <class Keys, class Values>
auto columns(Keys keys, Values values) {
  return thrust::make_zip_iterator(thrust::make_tuple(keys, values));
}

template <int GroupSize>
class multimap_join {
 public:
  multimap_join(const table& build, const table& probe)
      : empty_(unused_key({&build, &probe})), build_(build), probe_(probe) {
    check(cudaDeviceSynchronize(), "copy the tables");
  }

  void run(join_times& times) {
    matches_ = 0;
    timed(times.insert_ms, [&] {
      map_.emplace(slots_for(build_.count, load_factor), cuco::empty_key<std::uint32_t>{empty_},
                   cuco::empty_value<std::uint32_t>{UINT32_MAX});
      map_->insert(build_.begin(), build_.end());
    });
    timed(times.count_ms,
          [&] { matches_ = map_->pair_count(probe_.begin(), probe_.end(), same_key{}); });
    timed(times.retrieve_ms, [&] {
      keys_.emplace(matches_);
      built_.emplace(matches_);
      probed_.emplace(matches_);
      // Both sides of a match have its key.
      map_->pair_retrieve(probe_.begin(), probe_.end(), columns(keys_->data(), probed_->data()),
                          columns(thrust::make_discard_iterator(), built_->data()), same_key{});
    });
    times.join_ms.push_back(times.insert_ms.back() + times.count_ms.back() +
                            times.retrieve_ms.back());
  }

  std::vector<join_data::match> matches() const {
    const std::vector<std::uint32_t> keys = keys_->to_host(matches_);
    const std::vector<std::uint32_t> built = built_->to_host(matches_);
    const std::vector<std::uint32_t> probed = probed_->to_host(matches_);
    std::vector<join_data::match> all(matches_);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {keys[i], built[i], probed[i]};
    return all;
  }

  /// What the next run allocates anew.
  void release() {
    map_.reset();
    keys_.reset();
    built_.reset();
    probed_.reset();
    check(cudaDeviceSynchronize(), "free a peer's tables");
  }

 private:
  using map = cuco::static_multimap<
      std::uint32_t, std::uint32_t, cuda::thread_scope_device, pool_allocator<char>,
      cuco::legacy::double_hashing<GroupSize, cuco::default_hash_function<std::uint32_t>>>;

  std::uint32_t empty_;
  device_rows build_;
  device_rows probe_;
  std::optional<map> map_;
  std::uint64_t matches_ = 0;
  std::optional<array<std::uint32_t>> keys_;
  std::optional<array<std::uint32_t>> built_;
  std::optional<array<std::uint32_t>> probed_;
};

template <int GroupSize>
join_times join_with(const table& build, const table& probe, const outcome& expected,
                     std::uint64_t runs, std::uint64_t& wrong) {
  join_times times;
  multimap_join<GroupSize> joined(build, probe);
  for (std::uint64_t run = 0; run < runs; ++run) {
    joined.run(times);
    if (outcome_of(joined.matches()) != expected) ++wrong;
    joined.release();
  }
  return times;
}

}  // namespace

join_times join(settings how, const table& build, const table& probe, const outcome& expected,
                std::uint64_t runs, std::uint64_t& wrong) {
  return how == settings::standard ? join_with<8>(build, probe, expected, runs, wrong)
                                   : join_with<2>(build, probe, expected, runs, wrong);
}

}  // namespace warpheap::bench::peers
