// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"
#include "untracked.hpp"

#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Lanes offer words, each lane others than the rest, and take what is on offer, alone and
/// together. No word is taken that was not offered, nor twice, and the counts agree with the cells.
template <class Offers>
class offers_change_hands {
 public:
  static constexpr simt::grid shape{3, 3};

  /// \param chunks of 256 bytes. Class 0 has a ring of eight cells in a small heap, room for half
  ///   as many offers; four rings from half a million slots on.
  explicit offers_change_hands(std::uint32_t chunks)
      : rings_(Offers::all_rings(sizes, chunks)),
        extents_(sizes.count()),
        cells_(Offers::all_cells(sizes, chunks)),
        offers_(rings_.data(), extents_.data(), sizes.count(), cells_.data(),
                static_cast<std::uint32_t>(cells_.size())) {
    offers_.format(sizes, chunks, 0, 1);
    first_rings_ = rings_;
    first_cells_ = cells_;
  }

  void reset(std::uint64_t /*seed*/) {
    rings_ = first_rings_;
    cells_ = first_cells_;
    offered_.fill(0);
    wrong_ = false;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t round = 0; round < rounds; ++round) {
      make(rank * rounds + round);
      if ((rank + round) % 3 != 0) take();
    }
    take();
  }

  std::string verdict() {
    int left = 0;
    for (const int offered : offered_) left += offered;
    if (wrong_) return "a word was taken that was not on offer";
    return offers_.examine(of) == left ? "" : "the counts do not agree with what is in the cells";
  }

 private:
  static constexpr warpheap_size_classes sizes{8};
  static constexpr std::uint32_t of = 0;
  static constexpr std::uint32_t rounds = 3;

  void make(std::uint32_t word) {
    // Another lane may take it before this one goes on.
    offered_[word] = 1;
    if (!offers_.make(of, word)) offered_[word] = 0;
  }
  void take() {
    const std::uint32_t word = offers_.take(of);
    if (word == Offers::none) return;
    if (word >= offered_.size() || offered_[word] != 1) {
      wrong_ = true;
    } else {
      offered_[word] = 0;
    }
  }

  std::vector<typename Offers::ring> rings_;
  std::vector<typename Offers::extent> extents_;
  std::vector<std::uint32_t> cells_;
  std::vector<typename Offers::ring> first_rings_;
  std::vector<std::uint32_t> first_cells_;
  Offers offers_;
  std::array<untracked<int>, shape.blocks * shape.threads_per_block * rounds> offered_{};
  untracked<bool> wrong_ = false;
};

template <class Offers>
std::vector<named_case> offer_cases() {
  return {
      case_of<offers_change_hands<Offers>>("one_ring", 16u),
      case_of<offers_change_hands<Offers>>("four_rings", (1u << 15) + 1),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
