// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/device_vector.hpp"
#include "warpheap/workloads/graph/sorted.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// The targets of a vertex, ascending, in one block that grows and shrinks by powers of two (the
/// layout of ouroGraph: M. Winter, D. Mlakar, M. Parger, M. Steinberger, ICS 2020,
/// DOI 10.1145/3392717.3392742).
///
/// Runs that are passed to functions must be ascending, without duplicates. Only one lane or one
/// team may use it at a time.
class block_adjacency {
 public:
  WARPHEAP_DEVICE explicit block_adjacency(std::uint32_t /*page_bytes*/) {}

  WARPHEAP_DEVICE std::uint32_t degree() const { return targets_.size(); }
  WARPHEAP_DEVICE std::uint64_t block_bytes() const { return targets_.block_bytes(); }
  /// O(log degree)
  WARPHEAP_DEVICE bool contains(std::uint32_t target) const {
    return is_among(targets_.data(), degree(), target);
  }
  /// Calls `f(target)` for each target; the members share them.
  template <containers::team Team, class Visit>
  WARPHEAP_DEVICE void for_each(const Team& members, const Visit& f) const {
    const auto step = static_cast<std::uint32_t>(members.size());
    for (auto i = static_cast<std::uint32_t>(members.rank()); i < degree(); i += step) {
      f(targets_[i]);
    }
  }

  /// Moves the targets of the run that are not there yet to its front, and returns their number. A
  /// collective. O(count log degree / members)
  template <containers::team Team>
  WARPHEAP_DEVICE std::uint32_t keep_absent(const Team& members, std::uint32_t* run,
                                            std::uint32_t count, std::uint32_t* /*marks*/) const {
    return compact(
        members, count, [&](std::uint32_t i) { return run[i]; },
        [&](std::uint32_t, std::uint32_t target) { return !contains(target); },
        [&](std::uint32_t i, std::uint32_t target) { run[i] = target; });
  }

  /// Inserts targets that are not there: all of them, or none if there is no memory. Returns how
  /// many. A collective. O(degree log count / members) into a new block, O(degree count /
  /// members^2) into the old one.
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE std::uint32_t insert(const Heap& heap, const Team& members,
                                       const std::uint32_t* fresh, std::uint32_t count) {
    if (degree() + count > targets_.capacity()) {
      return merge_into_new(heap, members, fresh, count) ? count : 0;
    }
    const auto most = static_cast<std::uint32_t>(members.size());
    for (std::uint32_t left = count; left != 0;) {
      const std::uint32_t few = left < most ? left : most;
      left -= few;
      insert_few(members, fresh + left, few);
    }
    return count;
  }

  /// Deletes the targets that are in the run. Returns how many. A collective. The block shrinks
  /// when a quarter of it would suffice, not already at a half, so that updates around a power of
  /// two do not move it each time. O(degree log count / members)
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE std::uint32_t erase(const Heap& heap, const Team& members,
                                      const std::uint32_t* run, std::uint32_t count) {
    const std::uint32_t before = degree();
    const std::uint32_t kept = compact(
        members, before, [&](std::uint32_t i) { return targets_[i]; },
        [&](std::uint32_t, std::uint32_t target) { return !is_among(run, count, target); },
        [&](std::uint32_t i, std::uint32_t target) { targets_[i] = target; });
    if (kept == before) return 0;
    if (members.is_leader()) targets_.set_size(kept);
    members.sync();
    if (kept == 0 || vector::bytes_for(kept) * 4 <= block_bytes()) targets_.shrink(heap, members);
    return before - kept;
  }

  /// Frees everything. Called by one lane.
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void clear(const Heap& heap) {
    targets_.clear(heap);
  }

 private:
  using vector = device_vector<std::uint32_t>;

  /// Each target's place is its own number plus the number of the others below it.
  template <class Heap, class Team>
  WARPHEAP_DEVICE bool merge_into_new(const Heap& heap, const Team& members,
                                      const std::uint32_t* fresh, std::uint32_t count) {
    const std::uint32_t old = degree();
    const std::uint64_t bytes = vector::bytes_for(std::uint64_t{old} + count);
    auto* const block = static_cast<std::uint32_t*>(containers::malloc_for(members, heap, bytes));
    if (block == nullptr) return false;
    const auto step = static_cast<std::uint32_t>(members.size());
    const auto first = static_cast<std::uint32_t>(members.rank());
    for (std::uint32_t i = first; i < old; i += step) {
      block[i + count_below(fresh, count, targets_[i])] = targets_[i];
    }
    for (std::uint32_t i = first; i < count; i += step) {
      block[i + count_below(targets_.data(), old, fresh[i])] = fresh[i];
    }
    // All have read the old block before the leader frees it.
    members.sync();
    if (members.is_leader()) heap.free(targets_.replace(block, old + count));
    members.sync();
    return true;
  }

  /// Makes gaps from the back, then fills them: a target moves up by the number of `few` that are
  /// below it, over targets that have already moved.
  /// \pre there is room, and there are no more of them than members
  template <class Team>
  WARPHEAP_DEVICE void insert_few(const Team& members, const std::uint32_t* few,
                                  std::uint32_t count) {
    const std::uint32_t old = degree();
    const auto step = static_cast<std::uint32_t>(members.size());
    const auto rank = static_cast<std::uint32_t>(members.rank());
    const std::uint32_t place = rank < count ? count_below(targets_.data(), old, few[rank]) : 0;
    // The leader's target is the lowest: below it, nothing moves.
    const std::uint32_t first = members.broadcast(place);
    for (std::uint32_t end = old; end > first;) {
      const std::uint32_t begin = end - first > step ? end - step : first;
      const std::uint32_t i = begin + rank;
      const std::uint32_t target = i < end ? targets_[i] : 0;
      members.sync();
      if (i < end) targets_[i + count_below(few, count, target)] = target;
      end = begin;
    }
    members.sync();
    if (rank < count) targets_[place + rank] = few[rank];
    if (members.is_leader()) targets_.set_size(old + count);
    members.sync();
  }

  vector targets_;
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
