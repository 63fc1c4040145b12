// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of KMA's free list by itself: nodes go round.

#include "scenario.hpp"

#include "warpheap/managers/kma/superblock_queue.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Three lanes take nodes and put them back, and write into each what the next one has to see. Five
/// nodes are enough for a fourth lane never to see the queue empty. Of two, a lane may take the one
/// that another has not moved the tail to yet.
template <class Queue, std::uint32_t Nodes>
class nodes_go_round {
 public:
  static constexpr simt::grid shape{2, 2};
  static constexpr std::uint32_t nodes = Nodes;

  void reset(std::uint64_t /*seed*/) {
    queue().format(0, 1);
    contents_ = {};
    written_ = {};
    held_ = {};
    wrong_ = nullptr;
    dequeued_ = 0;
  }
  void lane() {
    const Queue all = queue();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (simt::thread_rank() == 3) {
        if (enough && all.is_empty()) wrong_ = "the queue seems empty";
        continue;
      }
      const std::uint32_t node = take_one(all);
      if (node == Queue::none && !enough) continue;
      if (node >= nodes || held_[node] != 0) {
        wrong_ = node == Queue::none ? "no node is found" : "a node is taken twice";
        return;
      }
      held_[node] = 1;
      const simt::atomic_ref word(contents_[node]);
      if (word.load(simt::order::relaxed) != written_[node]) wrong_ = "a node's contents are late";
      ++written_[node];
      word.store(written_[node], simt::order::relaxed);
      held_[node] = 0;
      all.enqueue(node);
    }
  }
  std::string verdict() {
    if (wrong_ != nullptr) return wrong_;
    const Queue all = queue();
    std::uint32_t count = 1;
    std::uint32_t node = all.first();
    for (; node != all.last() && count <= nodes; ++count) {
      node = all.after(node);
      if (node >= nodes) return "a link leads nowhere";
    }
    if (all.after(node) != Queue::none) return "something is behind the last node";
    return count == nodes ? "" : "a node is lost";
  }

 private:
  static constexpr std::uint32_t rounds = 4;
  static constexpr bool enough = Nodes >= 5;
  static constexpr std::uint32_t tries = 8;  // of a call

  /// A call that gets none has met other lanes that were faster, in each of its tries.
  std::uint32_t take_one(const Queue& from) {
    for (std::uint32_t lost = 0; lost < 3 * rounds; ++lost) {
      const std::uint32_t before = dequeued_;
      const std::uint32_t node = from.dequeue();
      if (node != Queue::none) {
        ++dequeued_;
        return node;
      }
      // Two lanes may have got one and not counted it yet.
      if (enough && dequeued_ - before + 2 < tries) wrong_ = "none, and few were faster";
    }
    return Queue::none;
  }

  Queue queue() { return {&ends_, links_.data(), 0, nodes - 1}; }

  typename Queue::ends ends_;
  std::array<std::uint64_t, nodes> links_;
  std::array<std::uint32_t, nodes> contents_{};
  std::array<untracked<std::uint32_t>, nodes> written_{};
  std::array<untracked<int>, nodes> held_{};
  untracked<std::uint32_t> dequeued_ = 0;
  const char* wrong_ = nullptr;
};

template <class Queue>
std::vector<named_case> kma_queue_cases() {
  return {case_of<nodes_go_round<Queue, 5>>("nodes_go_round"),
          case_of<nodes_go_round<Queue, 2>>("two_nodes_go_round")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
