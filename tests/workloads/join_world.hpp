// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pages_heap.hpp"

#include "bench/workloads/join/match_pages.hpp"
#include "bench/workloads/join/probe.hpp"

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
class join_world {
 public:
  static constexpr std::uint32_t chunk_rows = 4;
  static constexpr std::uint32_t slice_rows = 2;
  static constexpr simt::grid shape{2, 4, bench::shared_bytes_of(chunk_rows)};
  static constexpr std::uint32_t page_bytes = 64;

  /// \param how a heap of pages of `page_bytes`, with as many as the case needs or fewer
  explicit join_world(const any_setup& how) : heap_(how) {
    // Keys 1 and 2 are on both sides more than once; more rows of key 1 than a chunk holds.
    for (const std::uint32_t key : {1u, 1u, 2u, 1u, 3u, 1u, 2u, 1u}) add(build_, key);
    for (const std::uint32_t key : {1u, 2u, 4u, 1u, 2u}) add(probe_, key);
    partition(build_);
    partition(probe_);
    for (std::size_t b = 0; b < build_.keys.size(); ++b) {
      for (std::size_t p = 0; p < probe_.keys.size(); ++p) {
        if (build_.keys[b] != probe_.keys[p]) continue;
        expected_.push_back(
            {lanes::join::key_of(build_.keys[b]), build_.values[b], probe_.values[p]});
      }
    }
    sort(expected_);
  }

  void reset(std::uint64_t /*seed*/) {
    heap_.restore();
    chains_.fill(lanes::join::match_chain(page_bytes));
    lost_.assign(probe_.keys.size(), 0);
  }

  void lane() {
    const pages_of heap{&heap_};
    lanes::join::paged_matches sink(heap, chains_[lanes::join::warp_rank()], lost_.data());
    const bench::join_input in{view(build_), view(probe_), partition_bits, chunk_rows, slice_rows};
    lanes::join::join_slices(in, sink);
  }

  std::string verdict() {
    std::vector<bench::match> found;
    for (const lanes::join::match_chain& chain : chains_) {
      for (auto* page = chain.first(); page != nullptr; page = page->next) {
        for (std::uint32_t i = 0; i < page->used; ++i) found.push_back(page->elements()[i]);
      }
    }
    sort(found);
    if (!std::includes(expected_.begin(), expected_.end(), found.begin(), found.end(), before)) {
      return "a match of rows that have none, or one that was found twice";
    }
    for (std::size_t p = 0; p < probe_.keys.size(); ++p) {
      const auto is_mine = [&](const bench::match& m) { return m.probe == probe_.values[p]; };
      const auto all = std::count_if(expected_.begin(), expected_.end(), is_mine);
      const auto kept = std::count_if(found.begin(), found.end(), is_mine);
      if (kept + lost_[p] != all) return "matches of a row are neither there nor reported";
    }
    heap_.run_quietly([this] {
      for (lanes::join::match_chain& chain : chains_) chain.clear(pages_of{&heap_});
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
    side.keys.push_back(lanes::join::mix_key(key));
    side.values.push_back(static_cast<std::uint32_t>(side.values.size()));
  }
  static std::uint64_t partition_of(std::uint32_t mixed) {
    return lanes::join::partition_of(mixed, partition_bits);
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
  static bench::join_side view(const rows& side) {
    return {side.keys.data(), side.values.data(), side.offsets.data()};
  }
  static bool before(const bench::match& a, const bench::match& b) {
    return std::tie(a.key, a.build, a.probe) < std::tie(b.key, b.build, b.probe);
  }
  static void sort(std::vector<bench::match>& all) { std::sort(all.begin(), all.end(), before); }

  any_heap heap_;
  rows build_, probe_;
  std::vector<bench::match> expected_;
  std::array<lanes::join::match_chain, 2> chains_;
  std::vector<std::uint32_t> lost_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
