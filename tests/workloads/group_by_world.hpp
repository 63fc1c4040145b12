// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pages_heap.hpp"

#include "warpheap/workloads/group_by/page_split.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Blocks distribute a segment of rows each over the children of one of two chains, in pages of
/// three rows.
/// \tparam Split a `page_split` for two children
template <class Split, std::uint32_t Blocks, std::uint32_t Threads>
class group_by_world {
 public:
  static constexpr std::uint32_t page_bytes = 24;

  static constexpr std::uint32_t rows_per_lane = 2;
  static constexpr std::uint32_t rows = Blocks * Threads * rows_per_lane;

 private:
  static constexpr std::uint32_t children = 2;
  static constexpr std::uint32_t parents = 2;
  static constexpr std::uint32_t chains = parents * children;
  static constexpr std::uint32_t shift = 8;

 public:
  static constexpr simt::grid shape{Blocks, Threads, Split::shared_bytes(rows)};

  explicit group_by_world(const any_setup& how) : heap_(how) {}

  void reset(std::uint64_t seed) {
    heap_.restore();
    seed_ = seed;
    row_counts_ = {};
    page_counts_ = {};
    taken_ = {};
    taken_count_ = 0;
    placed_ = {};
  }

  void lane() {
    const group_by_data::row_chains into = view();
    const Split mine(into, parent_of(simt::block_rank()), shift);
    mine.run(
        pages_of{&heap_},
        [&](const auto& visit) {
          const std::uint64_t first = simt::thread_rank() * rows_per_lane;
          for (std::uint32_t i = 0; i < rows_per_lane; ++i) {
            const auto row = static_cast<std::uint32_t>(first) + i;
            ++placed_[row];
            visit(group_by_data::keyed_row{child_of(row) << shift, row});
          }
        },
        [&](const group_by_data::keyed_row& row) { placed_[row.value] = lost; });
  }

  std::string verdict() {
    std::array<int, rows> found{};
    std::array<std::uint64_t, chains> pages{};
    std::array<std::uint32_t, chains> chain_rows{};
    for (std::uint64_t i = 0; i < taken_count_; ++i) {
      const group_by_data::row_page& page = taken_[i].page;
      if (page.page == 0) continue;
      if (page.chain >= chains || page.rows == 0 ||
          page.rows > group_by::rows_in_page(page_bytes)) {
        return "I1: a page of no chain, or with another number of rows than it holds";
      }
      if (taken_[i].place >= page_counts_[page.chain])
        return "I2: a place beyond the chain's pages";
      for (std::uint64_t k = 0; k < i; ++k) {
        if (taken_[k].page.page != 0 && taken_[k].page.chain == page.chain &&
            taken_[k].place == taken_[i].place) {
          return "I2: two pages of a chain have one place";
        }
      }
      ++pages[page.chain];
      chain_rows[page.chain] += page.rows;
      for (std::uint32_t k = 0; k < page.rows; ++k) {
        const auto row = reinterpret_cast<const group_by_data::keyed_row*>(page.page)[k];
        if (row.value >= rows || chain_of(row.value) != page.chain) {
          return "a place that holds no row of its chain";
        }
        ++found[row.value];
      }
    }
    for (std::uint32_t chain = 0; chain < chains; ++chain) {
      if (pages[chain] != page_counts_[chain]) return "I2: a chain has another number of pages";
      if (chain_rows[chain] != row_counts_[chain]) return "I2: a chain has another number of rows";
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (placed_[row] == visited && found[row] != 1) return "a row is neither lost nor there once";
      if (placed_[row] == lost && found[row] != 0) return "a row that was lost is there";
      if (placed_[row] != visited && placed_[row] != lost) return "a lane did not finish";
    }
    heap_.run_quietly([this] {
      for (std::uint64_t i = 0; i < taken_count_; ++i) {
        if (taken_[i].page.page != 0) {
          pages_of{&heap_}.free(reinterpret_cast<void*>(taken_[i].page.page));
        }
      }
    });
    return heap_.problem();
  }

 private:
  /// What becomes of a row: visited in both rounds, and lost in the second one or not.
  static constexpr int visited = 2;
  static constexpr int lost = 3;

  /// With another seed other rows meet.
  std::uint32_t child_of(std::uint32_t row) const {
    return static_cast<std::uint32_t>(mix64(seed_ + row / 32) >> row % 32 & 1);
  }
  /// Blocks of one parent fill the same chains.
  std::uint32_t parent_of(std::uint32_t block) const {
    return static_cast<std::uint32_t>(mix64(~seed_) >> block & 1);
  }
  std::uint32_t chain_of(std::uint32_t row) const {
    return parent_of(row / (Threads * rows_per_lane)) * children + child_of(row);
  }
  group_by_data::row_chains view() {
    return {chains,        row_counts_.data(), page_counts_.data(),
            taken_.data(), &taken_count_,      page_bytes};
  }

  any_heap heap_;
  std::uint64_t seed_ = 0;
  std::array<std::uint32_t, chains> row_counts_{};
  std::array<std::uint64_t, chains> page_counts_{};
  std::array<group_by_data::taken_page, rows> taken_{};
  std::uint64_t taken_count_ = 0;
  std::array<int, rows> placed_{};
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
