// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The lanes' programs of the suite of warp heaps.

#include "conformance/kernels.hpp"
#include "warpheap/heap/heap.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Lanes make warp heaps, all that come together or in two branches, and take stamped blocks.
template <class M>
struct begin_and_take {
  handle<M> from;
  std::uint64_t bytes;
  std::uint32_t each;
  bool in_branches;
  typename M::warp_heap* heaps;
  void** blocks;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (in_branches && simt::lane_id() % 3 == 0) {
      simt::backoff(50);
      heaps[rank] = from.begin();
    } else {
      heaps[rank] = from.begin();
    }
    for (std::uint32_t i = 0; i < each; ++i) {
      // Not all lanes at once, and not always the same ones.
      if (in_branches && (simt::lane_id() + i) % 2 == 0) simt::backoff(20);
      const std::uint64_t place = rank * each + i;
      blocks[place] = from.malloc(heaps[rank], bytes);
      if (blocks[place] != nullptr) stamp(blocks[place], bytes, place);
    }
  }
};

template <class M>
struct check_and_end {
  handle<M> of;
  std::uint64_t bytes;
  std::uint32_t each;
  const typename M::warp_heap* heaps;
  void* const* blocks;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    for (std::uint64_t place = rank * each; place < (rank + 1) * each; ++place) {
      if (blocks[place] != nullptr && !is_stamped(blocks[place], bytes, place)) {
        tally::add(found->corrupted);
      }
    }
    // A lane's contents are checked before it ends the heap; others may still look at theirs.
    of.end(heaps[rank]);
  }
};

/// Lanes take blocks, check them and free all at once, again and again.
template <class M>
struct begin_and_end {
  handle<M> from;
  std::uint64_t bytes;
  std::uint32_t each;
  std::uint32_t rounds;
  /// One warp heap for all rounds, or one for each.
  bool tidies_up;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    auto mine = from.begin();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      void* last = nullptr;
      const std::uint64_t tag = mix64(simt::thread_rank() * rounds + round);
      for (std::uint32_t i = 0; i < each; ++i) {
        void* block = from.malloc(mine, bytes);
        if (block == nullptr) {
          tally::add(found->nulls);
          continue;
        }
        if (last != nullptr && !is_stamped(last, bytes, tag)) tally::add(found->corrupted);
        stamp(block, bytes, tag);
        last = block;
      }
      if (simt::lane_id() % 2 == 0) simt::backoff(50);
      if (last != nullptr && !is_stamped(last, bytes, tag)) tally::add(found->corrupted);
      if (tidies_up) {
        from.tidy_up(mine);
      } else {
        from.end(mine);
        mine = from.begin();
      }
    }
    from.end(mine);
  }
};

/// One lane after another leaves, while the others tidy up and go on.
template <class M>
struct leave_one_by_one {
  handle<M> from;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const auto mine = from.begin();
    for (int round = 0; round < simt::lane_id(); ++round) {
      const std::uint64_t tag = mix64(simt::thread_rank() * 32 + static_cast<std::uint64_t>(round));
      void* block = from.malloc(mine, 48);
      if (block == nullptr) {
        tally::add(found->nulls);
      } else {
        stamp(block, 48, tag);
        simt::backoff(20);
        if (!is_stamped(block, 48, tag)) tally::add(found->corrupted);
      }
      from.tidy_up(mine);
    }
    from.end(mine);
  }
};

/// Lanes take until there is nothing left, and check what they have had last.
template <class M>
struct take_all_and_end {
  handle<M> from;
  std::uint64_t bytes;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const auto mine = from.begin();
    const std::uint64_t tag = simt::thread_rank();
    void* last = nullptr;
    for (;;) {
      void* block = from.malloc(mine, bytes);
      if (block == nullptr) break;
      stamp(block, bytes, tag);
      tally::add(found->blocks);
      if (last != nullptr && !is_stamped(last, bytes, tag)) tally::add(found->corrupted);
      last = block;
    }
    if (last != nullptr && !is_stamped(last, bytes, tag)) tally::add(found->corrupted);
    from.end(mine);
  }
};

template <class M>
struct ask_for_nonsense {
  handle<M> from;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const auto mine = from.begin();
    const typename M::warp_heap none{};
    if (from.malloc(mine, 0) == nullptr) tally::add(found->nulls);
    if (from.malloc(none, 0) == nullptr) tally::add(found->nulls);
    if (from.malloc(mine, from.largest_block() + 1) == nullptr) tally::add(found->nulls);
    if (from.malloc(mine, SIZE_MAX) == nullptr) tally::add(found->nulls);
    from.tidy_up(none);
    from.end(none);
    from.end(mine);
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
