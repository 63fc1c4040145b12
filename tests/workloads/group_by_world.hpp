// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pages_heap.hpp"

#include "bench/workloads/group_by/shared_chains.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two warps append rows to two chains, each lane to one or the other, in pages of three rows.
class group_by_world {
 public:
  static constexpr simt::grid shape{2, 4};

  explicit group_by_world(const any_setup& how) : heap_(how) {}

  void reset(std::uint64_t seed) {
    heap_.restore();
    seed_ = seed;
    const auto empty =
        lanes::group_by::chain_tail::of(0, lanes::group_by::capacity_of(view())).word;
    tails_ = {empty, empty};
    page_count_ = 0;
    placed_ = {};
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t i = 0; i < rows_a_lane; ++i) {
      const std::uint32_t row = rank * rows_a_lane + i;
      placed_[row] =
          lanes::group_by::append(pages_of{&heap_}, view(), chain_of(row), {chain_of(row), row})
              ? 1
              : 2;
    }
  }

  std::string verdict() {
    const bench::row_chains all = view();
    std::array<int, rows> found{};
    std::uint64_t pages = 0;
    for (std::uint32_t chain = 0; chain < 2; ++chain) {
      const lanes::group_by::chain_tail tail{tails_[chain]};
      if (tail.fill() > lanes::group_by::capacity_of(all))
        return "I4: a fill beyond the page at the end";
      std::uint64_t page = tail.page();
      for (; page != 0; ++pages) {
        if (pages > page_count_) return "a chain without an end, or with pages of none";
        auto* const at = reinterpret_cast<lanes::group_by::row_page*>(page);
        for (std::uint32_t i = 0; i < lanes::group_by::rows_in(all, page, chain); ++i) {
          const bench::keyed_row row = at->rows()[i];
          if (row.value >= rows || row.key != chain)
            return "a place that holds no row of its chain";
          ++found[row.value];
        }
        page = at->before;
      }
    }
    if (pages != page_count_) return "the table has other pages than the chains";
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (placed_[row] == 1 && found[row] != 1) return "a row that was placed is not there once";
      if (placed_[row] == 2 && found[row] != 0) return "a row that was refused is there";
      if (placed_[row] == 0) return "a lane did not finish";
    }
    heap_.run_quietly([this] {
      for (std::uint64_t i = 0; i < page_count_; ++i) {
        pages_of{&heap_}.free(reinterpret_cast<void*>(pages_[i].page));
      }
    });
    return heap_.problem();
  }

 private:
  static constexpr std::uint32_t rows_a_lane = 2;
  static constexpr std::uint32_t rows = 8 * rows_a_lane;

  /// Which lanes meet differs from schedule to schedule.
  std::uint32_t chain_of(std::uint32_t row) const {
    return static_cast<std::uint32_t>(mix64(seed_) >> row & 1);
  }
  bench::row_chains view() { return {tails_.data(), 2, pages_.data(), &page_count_, 32}; }

  any_heap heap_;
  std::uint64_t seed_ = 0;
  std::array<std::uint64_t, 2> tails_{};
  std::array<bench::page_entry, rows> pages_{};
  std::uint64_t page_count_ = 0;
  std::array<int, rows> placed_{};
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
