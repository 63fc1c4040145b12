// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pages_heap.hpp"

#include "warpheap/workloads/join/kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two blocks of a warp each join two partitions of a few rows into pages of four matches. A
/// slice ends within a partition.
/// \tparam Kernel `join::page_matches`
template <class Kernel>
class join_world {
 public:
  static constexpr std::uint32_t chunk_rows = 4;
  static constexpr std::uint32_t slice_rows = 3;
  static constexpr simt::grid shape{2, 4, join_data::shared_bytes_of(chunk_rows)};
  static constexpr std::uint32_t page_bytes = 64;

  /// \param how a heap of pages of `page_bytes`, with as many as the case needs or fewer
  explicit join_world(const any_setup& how) : heap_(how) {
    // Keys 1 and 2 are on both sides more than once; more rows of key 1 than a chunk holds.
    for (const std::uint32_t key : {1u, 1u, 2u, 1u, 3u, 1u, 2u, 1u}) add(build_, key);
    for (const std::uint32_t key : {1u, 2u, 4u, 1u, 2u, 1u, 2u}) add(probe_, key);
    partition(build_);
    partition(probe_);
    for (std::size_t b = 0; b < build_.keys.size(); ++b) {
      for (std::size_t p = 0; p < probe_.keys.size(); ++p) {
        if (build_.keys[b] != probe_.keys[p]) continue;
        expected_.push_back({join::key_of(build_.keys[b]), build_.values[b], probe_.values[p]});
      }
    }
    sort(expected_);
  }

  void reset(std::uint64_t /*seed*/) {
    heap_.restore();
    chains_.fill(join::match_chain(page_bytes));
    lost_.assign(probe_.keys.size(), 0);
  }

  void lane() {
    const pages_of heap{&heap_};
    const join_data::join_input in{view(build_), view(probe_), partition_bits, chunk_rows,
                                   slice_rows};
    const join_data::match_chains into{chains_.data(), chains_.size(), page_bytes};
    Kernel{{in, into, lost_.data()}}(heap);
  }

  std::string verdict() {
    std::vector<join_data::match> found;
    for (const join::match_chain& chain : chains_) {
      for (auto* page = chain.first(); page != nullptr; page = page->next) {
        for (std::uint32_t i = 0; i < page->used; ++i) found.push_back(page->elements()[i]);
      }
    }
    sort(found);
    if (!std::includes(expected_.begin(), expected_.end(), found.begin(), found.end(), before)) {
      return "a match of rows that have none, or one that was found twice";
    }
    for (std::size_t p = 0; p < probe_.keys.size(); ++p) {
      const auto is_mine = [&](const join_data::match& m) { return m.probe == probe_.values[p]; };
      const auto all = std::count_if(expected_.begin(), expected_.end(), is_mine);
      const auto kept = std::count_if(found.begin(), found.end(), is_mine);
      if (kept + lost_[p] != all) return "matches of a row are neither there nor reported";
    }
    heap_.run_quietly([this] {
      for (join::match_chain& chain : chains_) chain.clear(pages_of{&heap_});
    });
    return heap_.problem();
  }

 private:
  static constexpr std::uint32_t partition_bits = 1;

  struct rows {
    std::vector<std::uint32_t> keys, values;
    std::array<std::uint64_t, 3> offsets{};
  };

  static void add(rows& side, std::uint32_t key) {
    side.keys.push_back(join::mix_key(key));
    side.values.push_back(static_cast<std::uint32_t>(side.values.size()));
  }
  static std::uint64_t partition_of(std::uint32_t mixed) {
    return join::partition_of(mixed, partition_bits);
  }
  static void partition(rows& side) {
    std::stable_sort(side.keys.begin(), side.keys.end(), [](std::uint32_t a, std::uint32_t b) {
      return partition_of(a) < partition_of(b);
    });
    side.offsets[2] = side.keys.size();
    side.offsets[1] = static_cast<std::uint64_t>(
        std::count_if(side.keys.begin(), side.keys.end(),
                      [](std::uint32_t key) { return partition_of(key) == 0; }));
  }
  static join_data::join_side view(const rows& side) {
    return {side.keys.data(), side.values.data(), side.offsets.data()};
  }
  static bool before(const join_data::match& a, const join_data::match& b) {
    return std::tie(a.key, a.build, a.probe) < std::tie(b.key, b.build, b.probe);
  }
  static void sort(std::vector<join_data::match>& all) {
    std::sort(all.begin(), all.end(), before);
  }

  any_heap heap_;
  rows build_, probe_;
  std::vector<join_data::match> expected_;
  std::array<join::match_chain, 2> chains_;
  std::vector<std::uint32_t> lost_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
