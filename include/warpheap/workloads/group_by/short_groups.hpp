// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/hash.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/group_by/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace group_by {

/// Adds a row to a group. Relaxed throughout: the group is read after a barrier or the launch.
/// \tparam Ref atomic access to the group's memory: `simt::atomic_ref` or `simt::block_atomic_ref`
template <template <class> class Ref>
WARPHEAP_DEVICE void add_to(group_by_data::row_group& group, std::uint64_t count, std::uint64_t sum,
                            std::uint32_t min_complement, std::uint32_t max) {
  Ref<std::uint64_t>(group.count).fetch_add(count, simt::order::relaxed);
  Ref<std::uint64_t>(group.sum).fetch_add(sum, simt::order::relaxed);
  Ref<std::uint32_t>(group.min_complement).fetch_max(min_complement, simt::order::relaxed);
  Ref<std::uint32_t>(group.max).fetch_max(max, simt::order::relaxed);
}

/// Groups in block-shared memory, for at most half as many keys as there are places. The lanes of a
/// warp use it together.
class shared_groups {
 public:
  static constexpr std::uint32_t places = group_by_data::short_grouping::places;

  WARPHEAP_DEVICE shared_groups()
      : keys_(reinterpret_cast<std::uint64_t*>(simt::block_shared())),
        groups_(reinterpret_cast<group_by_data::row_group*>(keys_ + places)) {}

  WARPHEAP_DEVICE void clear(const simt::group& together) const {
    for (auto i = static_cast<std::uint32_t>(together.rank()); i < places;
         i += static_cast<std::uint32_t>(together.size())) {
      keys_[i] = 0;
      groups_[i] = {};
    }
    together.sync();
  }

  WARPHEAP_DEVICE void add(const group_by_data::keyed_row& row) const {
    const std::uint64_t key = used | row.key;
    auto place = static_cast<std::uint32_t>(mix64(row.key)) % places;
    // Ends: at most half of the places are ever used.
    for (;; place = (place + 1) % places) {
      std::uint64_t found = 0;
      // Relaxed: a place never changes once it has a key.
      const simt::block_atomic_ref<std::uint64_t> at(keys_[place]);
      if (at.compare_exchange(found, key, simt::order::relaxed)) break;
      if (found == key) break;
    }
    add_to<simt::block_atomic_ref>(groups_[place], 1, row.value, ~row.value, row.value);
  }

  /// Appends all groups to the finished ones.
  WARPHEAP_DEVICE void emit(const simt::group& together,
                            const group_by_data::group_list& done) const {
    together.sync();
    const auto me = static_cast<std::uint32_t>(together.rank());
    const auto lanes = static_cast<std::uint32_t>(together.size());
    std::uint32_t mine = 0;
    for (std::uint32_t i = me; i < places; i += lanes) mine += keys_[i] != 0 ? 1 : 0;
    const auto all = sync::sum_over(together, mine);
    std::uint32_t place = 0;
    // Relaxed: the host reads it after the launch. One addition per chain, because all chains add
    // to this word.
    if (together.is_leader()) {
      place = simt::atomic_ref(*done.count).fetch_add(all.total, simt::order::relaxed);
    }
    place = together.broadcast(place) + all.before;
    for (std::uint32_t i = me; i < places; i += lanes) {
      if (keys_[i] == 0) continue;
      group_by_data::row_group group = groups_[i];
      group.key = static_cast<std::uint32_t>(keys_[i]);
      done.groups[place++] = group;
    }
  }

 private:
  static constexpr std::uint64_t used = std::uint64_t{1} << 32;

  std::uint64_t* keys_;
  group_by_data::row_group* groups_;
};

}  // namespace group_by
WARPHEAP_END_NAMESPACE
