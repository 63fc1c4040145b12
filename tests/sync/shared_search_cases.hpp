// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "four_cells.hpp"

#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Four cells in two slices that eight lanes of two warps search together.
template <class Search>
class searched_cells : public four_cells<Search> {
 public:
  void reset(std::uint64_t seed) {
    four_cells<Search>::reset(seed);
    if (seed % 2 != 0) start_in_last_round();
  }

 protected:
  /// The number of a cell, or none.
  int take() {
    const simt::group team = simt::coalesced(nullptr);
    int cell = this->none;
    this->known_.search(
        team, this->count, [&] { return cell == this->none ? 1u : 0u; },
        [&](std::uint32_t first, std::uint32_t places) {
          // The leader examines for all; the members try one after another.
          bool left = false;
          for (std::uint32_t i = first; i < first + places; ++i) {
            bool is_free = false;
            if (team.is_leader()) {
              is_free = simt::atomic_ref(this->used_[i]).fetch_or(0, simt::order::acq_rel) == 0;
            }
            team.sync();
            if (!team.any(is_free)) continue;
            if (cell == this->none && this->claim(static_cast<int>(i))) cell = static_cast<int>(i);
            left = team.all(cell != this->none);
          }
          return left ? 1u : 0u;
        });
    return cell;
  }
  /// Every other schedule starts in the last round that the search's word can count: the one word
  /// that is not 0 after formatting says that no round is open.
  void start_in_last_round() {
    using as_words = std::array<std::uint64_t, sizeof(Search) / sizeof(std::uint64_t)>;
    auto words = std::bit_cast<as_words>(this->known_);
    constexpr std::uint64_t idle = std::uint64_t{1} << 39;
    const auto turn = std::find(words.begin(), words.end(), idle);
    if (turn == words.end()) std::abort();  // the word's layout has changed
    *turn |= ~std::uint64_t{0} << 40;
    this->known_ = std::bit_cast<Search>(words);
  }
};

/// Each lane takes and gives back. What lanes are refused for is gone in the end.
template <class Search>
class found_again : public searched_cells<Search> {
 public:
  void lane() {
    for (int turn = 0; turn < 2; ++turn) {
      const int cell = this->take();
      if (cell < 0) continue;
      simt::backoff(1);
      this->give(cell);
    }
  }
  std::string verdict() {
    if (this->wrong_ != nullptr) return this->wrong_;
    return this->known_.is_out(1) ? "all cells are free, and the search says that none is" : "";
  }
};

/// Something is freed during each of the rounds: searches give up all the same.
template <class Search>
class spoilt_each_time : public searched_cells<Search> {
 public:
  static constexpr simt::grid shape{2, 1};

  void lane() {
    const simt::group team = simt::coalesced(nullptr);
    this->known_.search(
        team, this->count, [] { return 1u; },
        [&](std::uint32_t, std::uint32_t) {
          this->known_.released();
          return 0u;
        });
  }
  std::string verdict() {
    return this->known_.is_out(1) ? "nothing is certain, and the search says that all is taken"
                                  : "";
  }
};

/// As many places as 32 bits can number, in few slices: the last one ends with the last place. As
/// the pages of a heap of more than 40 GiB.
template <class Search>
class far_places {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    known_.format();
    visited_.fill(0);
  }
  void lane() {
    known_.search(
        simt::coalesced(nullptr), all, [] { return 1u; },
        [&](std::uint32_t first, std::uint32_t places) {
          visited_.at(first / slice) = places;
          return 0u;
        },
        slice);
  }
  std::string verdict() {
    std::uint64_t places = 0;
    for (const std::uint32_t of_slice : visited_) places += of_slice;
    return places == all ? "" : std::to_string(places) + " places were visited";
  }

 private:
  static constexpr std::uint32_t all = ~0u;
  static constexpr std::uint32_t slice = all / 4;  // four of them, and the rest

  Search known_;
  std::array<untracked<std::uint32_t>, 5> visited_;
};

template <class Search>
std::vector<named_case> shared_search_cases() {
  return {case_of<each_takes_one<searched_cells<Search>>>("all_are_found"),
          case_of<found_again<Search>>("found_again"),
          case_of<never_refused<searched_cells<Search>>>("never_refused"),
          case_of<spoilt_each_time<Search>>("spoilt_each_time"),
          case_of<far_places<Search>>("far_places")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
