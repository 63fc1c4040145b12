// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"
#include "untracked.hpp"

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_runs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// The lanes of a warp write something each and insert an element each, in one step of their
/// leader's. Those of another warp remove them in the same way: each sees what was written for its
/// own element.
template <class Word>
class handed_to_members {
 public:
  static constexpr simt::grid shape{2, 2};

  handed_to_members() : tree_(words_.data(), universe) {}

  void reset(std::uint64_t /*seed*/) {
    tree_.format(0, 0, 1);
    written_ = {};
    is_missing_ = false;
  }

  void lane() {
    const simt::group warp = simt::warp();
    const auto place = static_cast<std::size_t>(simt::lane_id());
    const std::uint64_t mine = std::uint64_t{1} << place;
    simt::atomic_ref written(written_[place]);
    if (simt::block_rank() == 0) {
      written.store(1, simt::order::relaxed);
      Word::insert(warp, tree_, 0, mine);
      return;
    }
    // Ends: the other warp never waits.
    for (bool has = false; !warp.all(has); simt::backoff(1)) {
      if (!Word::remove(warp, tree_, 0, has ? 0 : mine) || has) continue;
      has = true;
      if (written.load(simt::order::relaxed) == 0) is_missing_ = true;
    }
  }

  std::string verdict() {
    return is_missing_ ? "a member has an element and not what was written for it" : "";
  }

 private:
  static constexpr std::uint32_t universe = 64;

  std::array<std::uint64_t, bitmap_tree::words_for(universe)> words_{};
  bitmap_tree tree_;
  std::array<std::uint32_t, 2> written_{};
  untracked<bool> is_missing_ = false;
};

template <class Word>
std::vector<named_case> group_word_cases() {
  return {case_of<handed_to_members<Word>>("handed_to_members")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
