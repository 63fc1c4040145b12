// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A stack of indices that needs no memory to grow: one link for each index that could ever be in
/// it. For sets that are seldom used but must never refuse an element.
///
///     head: [ changes 32 bits | index + 1, 0 for none ]     links[index]: index below, + 1
///
/// An index is in the stack at most once. Lock-free: a compare-exchange fails only when another has
/// succeeded, and the count of changes keeps a head that has come back from being taken for an old
/// one. Links are read although their index may have been popped meanwhile; they belong to the
/// stack alone, so what is read is an old link at worst, and the compare-exchange then fails.
///
/// Orders: `push` releases what was done before, `pop` acquires it; the loads before a
/// compare-exchange only guess and are relaxed, but for the head's, which shows the link below it.

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

class index_stack {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  WARPHEAP_DEVICE index_stack(std::uint64_t& head, std::uint32_t* links)
      : head_(head), links_(links) {}

  /// The head of an empty stack.
  static constexpr std::uint64_t empty_head = 0;

  WARPHEAP_DEVICE bool empty() const { return top(head_.load(simt::order::relaxed)) == 0; }

  WARPHEAP_DEVICE void push(std::uint32_t index) const {
    std::uint64_t seen = head_.load(simt::order::relaxed);
    do {
      simt::atomic_ref(links_[index]).store(top(seen), simt::order::relaxed);
    } while (!head_.compare_exchange(seen, changed(seen, index + 1), simt::order::release));
  }

  /// The index that was pushed last, or `none`.
  WARPHEAP_DEVICE std::uint32_t pop() const {
    std::uint64_t seen = head_.load(simt::order::acquire);
    while (top(seen) != 0) {
      const std::uint32_t below =
          simt::atomic_ref(links_[top(seen) - 1]).load(simt::order::relaxed);
      if (head_.compare_exchange(seen, changed(seen, below), simt::order::acquire)) {
        return top(seen) - 1;
      }
    }
    return none;
  }

 private:
  WARPHEAP_HD static std::uint32_t top(std::uint64_t head) {
    return static_cast<std::uint32_t>(head);
  }
  WARPHEAP_HD static std::uint64_t changed(std::uint64_t head, std::uint32_t new_top) {
    return (((head >> 32) + 1) << 32) | new_top;
  }

  simt::atomic_ref<std::uint64_t> head_;
  std::uint32_t* links_;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
