// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of kma.hpp, and counts blocks in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/kma/buckets.hpp"
#include "warpheap/managers/kma/geometry.hpp"
#include "warpheap/managers/kma/state_words.hpp"
#include "warpheap/managers/kma/superblocks.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call, while no lane allocates.
template <kma_config Config>
class kma_inspector {
 public:
  using sizes = kma_sizes<Config>;

  WARPHEAP_DEVICE kma_inspector(const kma_superblocks<Config>& superblocks,
                                const kma_buckets<Config>& buckets, inspection& findings)
      : superblocks_(superblocks), buckets_(buckets), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    const auto wrong_word = [this](std::uint64_t word) { findings_.expect(false, 1, word); };
    for (std::uint32_t c = 0; c < sizes::classes; ++c) {
      superblocks_.partial(c).check(rank, count, wrong_word);
    }
    for (std::uint64_t i = rank; i < superblocks_.count(); i += count) {
      superblock(static_cast<std::uint32_t>(i));
    }
    for (std::uint64_t i = rank; i < buckets_.count(); i += count) {
      findings_.expect(buckets_.peek(static_cast<std::uint32_t>(i)) != kma_bucket::poison, 5, i);
    }
    if (rank != 0) return;
    queues();
    findings_.expect(superblocks_.nothing_moved_since(superblocks_.moves()), 6, 0);
  }

 private:
  /// Nodes of the queue that one lane looks at.
  static constexpr std::uint32_t most_walked = 1u << 16;

  WARPHEAP_DEVICE kma_state state(std::uint32_t s) const {
    return kma_state::of(superblocks_.state(s).load(simt::order::relaxed));
  }

  WARPHEAP_DEVICE void superblock(std::uint32_t s) const {
    const kma_state now = state(s);
    std::uint32_t taken = 0;
    for (std::uint32_t w = 0; w < sizes::bit_words; ++w) {
      taken += static_cast<std::uint32_t>(popcount(superblocks_.taken_bits(s, w)));
    }
    if (now.mode == kma_mode::empty) {
      findings_.expect(taken == 0, 3, s);
      const std::uint32_t next = superblocks_.empty_ones().at(0).after(s);
      findings_.expect(next == superblocks_.none
                           ? is_last(s)
                           : next < superblocks_.count() && state(next).mode == kma_mode::empty,
                       2, s);
      return;
    }
    findings_.expect(now.of_class < sizes::classes, 3, s);
    if (now.of_class >= sizes::classes) return;
    const std::uint32_t slots = sizes::slots(now.of_class);
    std::uint32_t beyond = 0;
    for (std::uint32_t slot = slots; slot < sizes::bit_words * 32; ++slot) {
      beyond |= superblocks_.taken_bits(s, slot / 32) >> slot % 32 & 1;
    }
    findings_.expect(taken == slots - now.free && beyond == 0, 3, s);
    findings_.expect((now.mode == kma_mode::full) == (now.free == 0) && now.free < slots, 4, s);
    if (now.mode == kma_mode::partial) {
      findings_.expect(superblocks_.partial(now.of_class).contains(s), 4, s);
    }
    if (now.mode == kma_mode::attached) {
      const std::uint64_t own = kma_bucket{s, now.epoch}.word();
      findings_.expect(buckets_.count_of(now.of_class, own) == 1, 5, s);
    }
    findings_.in_use(slots - now.free,
                     std::uint64_t{slots - now.free} * sizes::block_bytes(now.of_class));
  }

  WARPHEAP_DEVICE bool is_last(std::uint32_t s) const {
    const kma_empty_queues& queues = superblocks_.empty_ones();
    std::uint32_t ends = 0;
    for (std::uint32_t q = 0; q < queues.count(); ++q) ends += queues.at(q).last() == s ? 1 : 0;
    return ends == 1;
  }

  /// As far as one lane can walk. In a small heap, that is all queues, which must then contain all
  /// empty superblocks.
  WARPHEAP_DEVICE void queues() const {
    const kma_empty_queues& queues = superblocks_.empty_ones();
    std::uint32_t walked = 0;
    for (std::uint32_t q = 0; q < queues.count(); ++q) walked += queue(q, most_walked - walked);
    if (superblocks_.count() > most_walked) return;
    std::uint32_t empty = 0;
    for (std::uint32_t s = 0; s < superblocks_.count(); ++s) {
      empty += state(s).mode == kma_mode::empty ? 1 : 0;
    }
    findings_.expect(walked == empty, 2, queues.at(0).first());
  }

  /// Walks a queue, for `most` nodes. Returns how many it has.
  WARPHEAP_DEVICE std::uint32_t queue(std::uint32_t q, std::uint32_t most) const {
    const kma_empty_queues& queues = superblocks_.empty_ones();
    const kma_queue one = queues.at(q);
    std::uint32_t walked = 0;
    std::uint32_t node = one.first();
    for (; node < superblocks_.count() && walked < most; ++walked) {
      findings_.expect(state(node).mode == kma_mode::empty, 2, node);
      node = one.after(node);
    }
    // Unless the walk was too long, the queue's last node is behind it.
    findings_.expect(walked == most || node == kma_queue::none, 2, one.first());
    findings_.expect(one.first() == one.last() || queues.says_occupied(q), 2, one.first());
    return walked;
  }

  const kma_superblocks<Config>& superblocks_;
  const kma_buckets<Config>& buckets_;
  inspection& findings_;
};

WARPHEAP_END_NAMESPACE
