// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A free list of kma.hpp: the lock-free queue of M. Michael and M. Scott ("Simple, Fast, and
/// Practical Non-Blocking and Blocking Concurrent Queue Algorithms", PODC 1996), with superblocks
/// as its nodes.
///
/// A node has a link, {its successor + 1:32 | tag:32}; head and tail are {node:32 | tag:32}. The
/// head is a dummy: a lane that dequeues makes its successor the dummy and gets the old one. So the
/// queue always keeps a node, and links are only ever written as links: a lane that is late reads
/// no other data.
///
/// Tags: every change of a word increments its tag, so a compare-exchange by a late lane fails even
/// if the same node is there again.
///
/// Orders: all loads acquire, all changes are acq_rel or release. A lane that reads a link which
/// belongs to a node's next life has thereby acquired that head and tail have passed the node's
/// former one, and its next comparison with them shows that. What a lane wrote before it enqueued a
/// node is visible to the lane that dequeues it: the links from the one to the other are read with
/// acquire.
///
/// Progress: lock-free. Each turn of the loop in `enqueue` but the last means that another lane has
/// moved the tail or linked a node. `dequeue` tries a few times, and `is_empty` once: where
/// thousands of lanes meet at one queue, each that is served costs all others a turn.

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

class kma_queue {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  struct alignas(128) ends {
    std::uint64_t head;
    std::uint64_t apart[15];  // of a line of its own
    std::uint64_t tail;
  };

  kma_queue() = default;
  /// \param links of all nodes, which all queues share: a node is in one queue at a time
  /// \param first, last the nodes with which it begins
  WARPHEAP_HD kma_queue(ends* of, std::uint64_t* links, std::uint32_t first, std::uint32_t last)
      : ends_(of), links_(links), first_(first), last_(last) {}

  /// Its first nodes are in it, the first of them as the dummy.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    if (rank == 0) {
      ends_->head = position{first_, 0}.word();
      ends_->tail = position{last_, 0}.word();
    }
    for (std::uint64_t i = first_ + rank; i <= last_; i += lanes) {
      links_[i] = link{i == last_ ? none : static_cast<std::uint32_t>(i + 1), 0}.word();
    }
  }

  WARPHEAP_DEVICE void enqueue(std::uint32_t node) const {
    const simt::atomic_ref own(links_[node]);
    own.store(link{none, link::of(own.load(simt::order::relaxed)).tag + 1}.word(),
              simt::order::release);
    for (;;) {
      std::uint64_t last = tail().load(simt::order::acquire);
      const position at = position::of(last);
      std::uint64_t behind = next_of(at.node).load(simt::order::acquire);
      if (tail().load(simt::order::acquire) != last) continue;
      const link next = link::of(behind);
      if (next.node != none) {
        advance_tail(last, next.node);
      } else if (next_of(at.node).compare_exchange(behind, link{node, next.tag + 1}.word(),
                                                   simt::order::acq_rel)) {
        advance_tail(last, node);
        return;
      }
    }
  }

  /// A node. None if there was only the dummy at a moment of the call, or if other lanes have
  /// dequeued one during each try: it does not prove that the queue is empty.
  WARPHEAP_DEVICE std::uint32_t dequeue() const {
    for (int tries = 0; tries < most_tries; ++tries) {
      std::uint64_t first = head().load(simt::order::acquire);
      const position at = position::of(first);
      const std::uint64_t last = tail().load(simt::order::acquire);
      const link next = link::of(next_of(at.node).load(simt::order::acquire));
      if (head().load(simt::order::acquire) != first) continue;
      if (next.node == none) return none;
      // The tail must never fall behind the head. If another lane is faster, it has moved the tail.
      if (position::of(last).node == at.node) advance_tail(last, next.node);
      const position after{next.node, at.tag + 1};
      if (head().compare_exchange(first, after.word(), simt::order::acq_rel)) return at.node;
    }
    return none;
  }

  /// Whether there was only the dummy at a moment of the call. False also if another lane has
  /// dequeued a node during the call.
  WARPHEAP_DEVICE bool is_empty() const {
    const std::uint64_t first = head().load(simt::order::acquire);
    const link next = link::of(next_of(position::of(first).node).load(simt::order::acquire));
    return next.node == none && head().load(simt::order::acquire) == first;
  }

  // While no lane changes it.
  WARPHEAP_DEVICE std::uint32_t first() const { return position::of(ends_->head).node; }
  WARPHEAP_DEVICE std::uint32_t last() const { return position::of(ends_->tail).node; }
  WARPHEAP_DEVICE std::uint32_t after(std::uint32_t node) const {
    return link::of(links_[node]).node;
  }

 private:
  static constexpr int most_tries = 8;

  struct position {
    std::uint32_t node;
    std::uint32_t tag;
    WARPHEAP_HD static constexpr position of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }
    WARPHEAP_HD constexpr std::uint64_t word() const { return std::uint64_t{tag} << 32 | node; }
  };
  struct link {
    std::uint32_t node;  ///< none: the last one
    std::uint32_t tag;
    WARPHEAP_HD static constexpr link of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word) - 1, static_cast<std::uint32_t>(word >> 32)};
    }
    WARPHEAP_HD constexpr std::uint64_t word() const {
      return std::uint64_t{tag} << 32 | static_cast<std::uint32_t>(node + 1);
    }
  };
  using word_ref = simt::atomic_ref<std::uint64_t>;

  WARPHEAP_DEVICE word_ref head() const { return word_ref(ends_->head); }
  WARPHEAP_DEVICE word_ref tail() const { return word_ref(ends_->tail); }
  WARPHEAP_DEVICE word_ref next_of(std::uint32_t node) const { return word_ref(links_[node]); }

  /// Fails if another lane has done it.
  WARPHEAP_DEVICE void advance_tail(std::uint64_t seen, std::uint32_t to) const {
    const position next{to, position::of(seen).tag + 1};
    tail().compare_exchange(seen, next.word(), simt::order::acq_rel);
  }

  ends* ends_ = nullptr;
  std::uint64_t* links_ = nullptr;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
};

WARPHEAP_END_NAMESPACE
