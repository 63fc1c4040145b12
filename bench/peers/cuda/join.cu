// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/cuda/removed_from_thrust.hpp"
// The first one stays first.
#include "bench/peers/cuda/cuco.hpp"
#include "bench/peers/cuda/rows.hpp"

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
    wait();
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
  }

  std::vector<join_data::match> matches() const {
    const std::vector<std::uint32_t> keys = copy_to_host(keys_->data(), matches_);
    const std::vector<std::uint32_t> built = copy_to_host(built_->data(), matches_);
    const std::vector<std::uint32_t> probed = copy_to_host(probed_->data(), matches_);
    std::vector<join_data::match> all(matches_);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {keys[i], built[i], probed[i]};
    return all;
  }

  /// What the next run allocates anew. Cleared, so that a run which writes nothing does not find
  /// this one's result in its memory.
  void release() {
    keys_->clear();
    built_->clear();
    probed_->clear();
    map_.reset();
    keys_.reset();
    built_.reset();
    probed_.reset();
    wait();
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

}  // namespace

template <int GroupSize>
join_times join_with_multimap(const table& build, const table& probe, const outcome& expected,
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

template join_times join_with_multimap<8>(const table&, const table&, const outcome&, std::uint64_t,
                                          std::uint64_t&);
template join_times join_with_multimap<2>(const table&, const table&, const outcome&, std::uint64_t,
                                          std::uint64_t&);

}  // namespace warpheap::bench::peers
