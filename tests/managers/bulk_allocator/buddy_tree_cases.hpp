// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The tree of pages by itself: a unit stands for a node, so a lane that has the only unit of an
/// order finds its node at the first look, and need not wait for the lanes that have made it.

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

/// Few pages. Lanes of a warp make units of an order, and another one looks for them.
template <class Tree>
class few_pages {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit few_pages(std::uint32_t pages = 2) {
    region_cursor cursor({memory_.data(), memory_.size()}, "a tree");
    tree_.lay_out(cursor, pages);
    tree_.format(0, 1);
  }

  void reset(std::uint64_t /*seed*/) {
    memory_ = state_;
    wrong_ = "";
  }
  std::string verdict() { return wrong_; }

 protected:
  void keep_state() { state_ = memory_; }

  /// Takes the units of an order, if there are some soon, and the nodes for which they stand.
  void take_if_any(int order) {
    for (int looks = 0; looks < 16; ++looks) {
      const std::uint32_t units = tree_.units(order).take_up_to(4);
      for (std::uint32_t i = 0; i < units; ++i) {
        if (tree_.nodes(order).claim_hashed(0) == Tree::none) wrong_ = "a unit without a node";
      }
      if (units != 0) return;
    }
  }

  /// Takes all pages.
  void take_all_pages() {
    simt::explorer alone({1, 1});
    alone.run({simt::strategy::sticky, 1}, [this] {
      for (std::uint32_t left = tree_.pages(); left != 0; --left) tree_.take(0);
    });
  }

  Tree tree_;

 private:
  static constexpr std::size_t bytes = 4096;
  alignas(128) std::array<std::byte, bytes> memory_{};
  std::array<std::byte, bytes> state_{};
  const char* wrong_ = "";
};

/// The node that two pages are merged into.
template <class Tree>
class merged_pair : public few_pages<Tree> {
 public:
  merged_pair() {
    this->take_all_pages();
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
class split_node : public few_pages<Tree> {
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

/// Pages that lanes of a warp give back together, every other one or all: units of an order are
/// those of nodes of all of them.
template <class Tree>
class given_together : public few_pages<Tree> {
 public:
  static constexpr simt::grid shape{2, 4};

  /// \param apart pages from one to the next
  /// \param looked_at the order that another lane looks at
  given_together(std::uint32_t apart, int looked_at)
      : few_pages<Tree>(4 * apart), apart_(apart), looked_at_(looked_at) {
    this->take_all_pages();
    this->keep_state();
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    if (simt::block_rank() == 0) {
      const simt::group members = simt::coalesced(this);
      this->tree_.give(members, 0, apart_ * rank);
    } else if (rank == 4) {
      this->take_if_any(looked_at_);
    }
  }

 private:
  std::uint32_t apart_;
  int looked_at_;
};

/// Parts of few nodes that lanes of a warp split together.
template <class Tree>
class split_together : public few_pages<Tree> {
 public:
  static constexpr simt::grid shape{2, 3};

  split_together() : few_pages<Tree>(8) { this->keep_state(); }

  void lane() {
    if (simt::block_rank() == 0) {
      const simt::group members = simt::coalesced(this);
      std::uint32_t node = Tree::none;
      this->tree_.take(members, 0, node);
    } else if (simt::thread_rank() == 3) {
      this->take_if_any(0);
    }
  }
};

template <class Tree>
std::vector<named_case> buddy_cases() {
  return {case_of<merged_pair<Tree>>("merged_pair"), case_of<split_node<Tree>>("split_node"),
          case_of<given_together<Tree>>("given_together", 2u, 0),
          case_of<given_together<Tree>>("merged_together", 1u, 1),
          case_of<split_together<Tree>>("split_together")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
