// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/page_chain.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/workloads/graph/sorted.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// The targets of a vertex in the order of their insertion, in chained pages of one size (the
/// layout of faimGraph: M. Winter, D. Mlakar, R. Zayer, H.-P. Seidel, M. Steinberger, SC 2018,
/// DOI 10.1109/SC.2018.00063; pages are linked by address here). Has the functions of
/// `block_adjacency`. Growing moves nothing; searching for a target visits all pages.
class paged_adjacency {
 public:
  WARPHEAP_DEVICE explicit paged_adjacency(std::uint32_t page_bytes) : targets_(page_bytes) {}

  WARPHEAP_DEVICE std::uint32_t degree() const {
    return static_cast<std::uint32_t>(targets_.size());
  }
  WARPHEAP_DEVICE std::uint64_t block_bytes() const {
    const std::uint64_t capacity = targets_.page_capacity();
    return ceil_div(targets_.size(), capacity) * targets_.page_bytes();
  }
  /// O(degree)
  WARPHEAP_DEVICE bool contains(std::uint32_t target) const {
    for (auto* page = targets_.first(); page != nullptr; page = page->next) {
      for (std::uint32_t i = 0; i < page->used; ++i) {
        if (page->elements()[i] == target) return true;
      }
    }
    return false;
  }
  template <containers::team Team, class Visit>
  WARPHEAP_DEVICE void for_each(const Team& members, const Visit& f) const {
    targets_.for_each(members, f);
  }

  /// \param marks a word for each target of the run, all 0. O(degree log count / members)
  template <containers::team Team>
  WARPHEAP_DEVICE std::uint32_t keep_absent(const Team& members, std::uint32_t* run,
                                            std::uint32_t count, std::uint32_t* marks) const {
    for_each(members, [&](std::uint32_t target) {
      const std::uint32_t place = count_below(run, count, target);
      if (place < count && run[place] == target) marks[place] = 1;
    });
    members.sync();
    return compact(
        members, count, [&](std::uint32_t i) { return run[i]; },
        [&](std::uint32_t i, std::uint32_t) { return marks[i] == 0; },
        [&](std::uint32_t i, std::uint32_t target) { run[i] = target; });
  }

  /// Inserts targets that are not there: the first ones, as many as there is memory for. Returns
  /// how many. A collective. O(count / members + new pages)
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE std::uint32_t insert(const Heap& heap, const Team& members,
                                       const std::uint32_t* fresh, std::uint32_t count) {
    const std::uint32_t before = degree();
    const auto step = static_cast<std::uint32_t>(members.size());
    bool refused = false;
    for (std::uint32_t begin = 0; begin < count && !members.any(refused); begin += step) {
      const std::uint32_t i = begin + static_cast<std::uint32_t>(members.rank());
      const bool wants = i < count;
      refused = !targets_.push(heap, members, wants, wants ? fresh[i] : 0) && wants;
    }
    const std::uint32_t inserted = degree() - before;
    members.sync();
    return inserted;
  }

  /// Deletes the targets that are in the run, and frees the pages at the end that are no longer
  /// needed. Returns how many. A collective. O(degree log count / members + pages)
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE std::uint32_t erase(const Heap& heap, const Team& members,
                                      const std::uint32_t* run, std::uint32_t count) {
    const std::uint32_t before = degree();
    cursor from(targets_);
    cursor to(targets_);
    const std::uint32_t kept = compact(
        members, before, [&](std::uint32_t i) { return from.at(i); },
        [&](std::uint32_t, std::uint32_t target) { return !is_among(run, count, target); },
        [&](std::uint32_t i, std::uint32_t target) { to.at(i) = target; });
    if (members.is_leader()) targets_.truncate(heap, kept);
    members.sync();
    return before - kept;
  }

  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void clear(const Heap& heap) {
    targets_.clear(heap);
  }

 private:
  using chain = page_chain<std::uint32_t>;

  /// Finds target i, for ascending i. Since only `push` adds targets, every page but the last is
  /// full.
  class cursor {
   public:
    WARPHEAP_DEVICE explicit cursor(const chain& of)
        : page_(of.first()), capacity_(of.page_capacity()) {}
    WARPHEAP_DEVICE std::uint32_t& at(std::uint32_t i) {
      for (; i - first_ >= capacity_; first_ += capacity_) page_ = page_->next;
      return page_->elements()[i - first_];
    }

   private:
    chain::page* page_;
    std::uint32_t capacity_;
    std::uint32_t first_ = 0;
  };

  chain targets_;
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
