// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The tree of pages by itself: a unit stands for a node, so a lane that has the only unit of an
/// order finds its node at the first look, and need not wait for the lane that has made it.

#include "scenario.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/bulk_allocator/buddy_tree.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two pages. A lane makes units of an order, and another one looks for them.
template <class Tree>
class two_pages {
 public:
  static constexpr simt::grid shape{2, 1};

  two_pages() {
    region_cursor cursor({memory_.data(), memory_.size()}, "a tree");
    tree_.lay_out(cursor, 2);
    tree_.format(0, 1);
  }

  void reset(std::uint64_t /*seed*/) {
    memory_ = state_;
    wrong_ = "";
  }
  std::string verdict() { return wrong_; }

 protected:
  void keep_state() { state_ = memory_; }

  /// Takes a unit of an order, if there is one soon, and the node for which it stands.
  void take_if_any(int order) {
    for (int looks = 0; looks < 16; ++looks) {
      if (tree_.units(order).take_up_to(1) == 0) continue;
      if (tree_.nodes(order).claim_hashed(0) == Tree::none) wrong_ = "a unit without a node";
      return;
    }
  }

  Tree tree_;

 private:
  alignas(128) std::array<std::byte, 2048> memory_{};
  std::array<std::byte, 2048> state_{};
  const char* wrong_ = "";
};

/// The node that two pages are merged into.
template <class Tree>
class merged_pair : public two_pages<Tree> {
 public:
  merged_pair() {
    simt::explorer alone({1, 1});
    alone.run({simt::strategy::sticky, 1}, [this] {
      this->tree_.take(0);
      this->tree_.take(0);
    });
    this->keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      this->tree_.give(0, 0);
      this->tree_.give(0, 1);
    } else {
      this->take_if_any(1);
    }
  }
};

/// The half that a lane leaves of a node that it has split.
template <class Tree>
class split_node : public two_pages<Tree> {
 public:
  split_node() { this->keep_state(); }

  void lane() {
    if (simt::thread_rank() == 0) {
      this->tree_.take(0);
    } else {
      this->take_if_any(0);
    }
  }
};

template <class Tree>
std::vector<named_case> buddy_cases() {
  return {case_of<merged_pair<Tree>>("merged_pair"), case_of<split_node<Tree>>("split_node")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
