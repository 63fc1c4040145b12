// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The lanes' programs of the suite. Each works on any manager, through the handle of its heap.

#include "warpheap/core/random.hpp"
#include "warpheap/heap/heap.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

WARPHEAP_HD constexpr std::uint64_t pattern_word(std::uint64_t tag, std::uint64_t index) {
  return (tag + 1) * 0x9e3779b97f4a7c15ull + index * 0xff51afd7ed558ccdull;
}

/// Writes every byte of a block, with words that depend on `tag` and on the place.
WARPHEAP_DEVICE inline void stamp(void* block, std::size_t bytes, std::uint64_t tag) {
  auto* words = static_cast<std::uint64_t*>(block);
  for (std::size_t i = 0; i < bytes / 8; ++i) words[i] = pattern_word(tag, i);
  auto* rest = static_cast<unsigned char*>(block) + bytes / 8 * 8;
  for (std::size_t i = 0; i < bytes % 8; ++i) {
    rest[i] = static_cast<unsigned char>(pattern_word(tag, bytes) >> 8 * i);
  }
}

/// Whether a block still holds what `stamp` has written.
WARPHEAP_DEVICE inline bool is_stamped(const void* block, std::size_t bytes, std::uint64_t tag) {
  const auto* words = static_cast<const std::uint64_t*>(block);
  bool intact = true;
  for (std::size_t i = 0; i < bytes / 8; ++i) intact &= words[i] == pattern_word(tag, i);
  const auto* rest = static_cast<const unsigned char*>(block) + bytes / 8 * 8;
  for (std::size_t i = 0; i < bytes % 8; ++i) {
    intact &= rest[i] == static_cast<unsigned char>(pattern_word(tag, bytes) >> 8 * i);
  }
  return intact;
}

/// What lanes count for a test.
struct tally {
  std::uint64_t blocks = 0;
  std::uint64_t nulls = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t misaligned = 0;

  WARPHEAP_DEVICE static void add(std::uint64_t& counter, std::uint64_t amount = 1) {
    simt::atomic_ref(counter).fetch_add(amount, simt::order::relaxed);
  }
};

/// Lane i asks for `bytes[i]`, and keeps what it gets in `blocks[i]`, stamped with i.
template <class Handle>
struct allocate {
  Handle heap;
  const std::uint64_t* bytes;
  void** blocks;
  std::uint64_t count;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= count) return;
    void* block = heap.malloc(bytes[rank]);
    blocks[rank] = block;
    if (block != nullptr) stamp(block, bytes[rank], rank);
  }
};

/// Lane i checks and frees the block number `whose(i)`. All null blocks are freed as well.
template <class Handle>
struct check_and_free {
  Handle heap;
  const std::uint64_t* bytes;
  void** blocks;
  const std::uint64_t* whose;
  std::uint64_t count;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= count) return;
    const std::uint64_t which = whose[rank];
    void* block = blocks[which];
    if (block != nullptr && !is_stamped(block, bytes[which], which)) tally::add(found->corrupted);
    heap.free(block);
  }
};

/// Every lane takes blocks of one size until it gets null, or there is no room in `blocks`.
template <class Handle>
struct fill_up {
  Handle heap;
  std::uint64_t bytes;
  void** blocks;
  std::uint64_t room;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    for (;;) {
      void* block = heap.malloc(bytes);
      if (block == nullptr) break;
      const std::uint64_t place =
          simt::atomic_ref(found->blocks).fetch_add(std::uint64_t{1}, simt::order::relaxed);
      if (place >= room) break;
      blocks[place] = block;
      stamp(block, bytes, place);
    }
    tally::add(found->nulls);
  }
};

/// One lane gives `together` blocks of a full heap back and has as many again, lap after lap, with
/// a request in between that must fail. Before its first laps it fills the heap, and after its last
/// ones it frees everything.
template <class Handle>
struct exhaust_in_laps {
  Handle heap;
  std::uint64_t bytes;
  std::uint64_t together;
  std::uint64_t first_lap;
  std::uint64_t laps;
  bool frees_all;
  void** blocks;
  std::uint64_t room;
  /// `blocks` is the number of blocks of the full heap.
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t& count = found->blocks;
    if (first_lap == 0) {
      while (count < room && (blocks[count] = heap.malloc(bytes)) != nullptr) ++count;
    }
    // The last blocks stay if there are too few of them.
    const std::uint64_t parts = count / together;
    for (std::uint64_t lap = first_lap; parts != 0 && lap < first_lap + laps; ++lap) {
      void** const part = blocks + lap % parts * together;
      for (std::uint64_t i = 0; i < together; ++i) heap.free(part[i]);
      for (std::uint64_t i = 0; i < together; ++i) {
        part[i] = heap.malloc(bytes);
        if (part[i] == nullptr) ++found->nulls;
      }
      void* const more = heap.malloc(bytes);
      if (more != nullptr) ++found->corrupted;
      heap.free(more);
    }
    for (std::uint64_t i = 0; frees_all && i < count; ++i) heap.free(blocks[i]);
  }
};

/// Lanes call in several branches at once: `branch[i]` says in which lane i is; 0 is in none.
template <class Handle>
struct allocate_in_branches {
  Handle heap;
  const std::uint32_t* branch;
  const std::uint64_t* bytes;
  void** blocks;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    void* block = nullptr;
    switch (branch[rank]) {
      case 1:
        block = heap.malloc(bytes[rank]);
        break;
      case 2:
        simt::backoff(50);
        block = heap.malloc(bytes[rank]);
        break;
      case 3:
        // As many calls one after another as the lane's number says, of which the last is kept.
        for (int i = 0; i <= simt::lane_id() % 4; ++i) {
          heap.free(block);
          block = heap.malloc(bytes[rank]);
        }
        break;
      default:
        return;
    }
    blocks[rank] = block;
    if (block != nullptr) stamp(block, bytes[rank], rank);
  }
};

/// Frees in the same branches.
template <class Handle>
struct free_in_branches {
  Handle heap;
  const std::uint32_t* branch;
  const std::uint64_t* bytes;
  void** blocks;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    void* block = blocks[rank];
    if (block != nullptr && !is_stamped(block, bytes[rank], rank)) tally::add(found->corrupted);
    switch (branch[rank]) {
      case 1:
        heap.free(block);
        break;
      case 2:
        simt::backoff(50);
        heap.free(block);
        break;
      case 3:
        for (int i = 0; i <= simt::lane_id() % 4; ++i) {
          heap.free(i == simt::lane_id() % 4 ? block : nullptr);
        }
        break;
      default:
        break;
    }
  }
};

/// Sizes for lanes that draw their own.
struct size_range {
  std::uint32_t least;
  std::uint32_t most;
  /// Half of the requests are at most 64 B, as in real programs.
  WARPHEAP_DEVICE std::uint32_t draw(random_sequence& random) const {
    const std::uint32_t span = most - least + 1;
    const bool short_one = (random.next() & 1) != 0 && span > 64;
    return least + random.below(short_one ? 64 : span);
  }
};

/// Every lane holds up to four blocks, and takes or gives one at random in each round.
template <class Handle>
struct churn {
  static constexpr int slots = 4;
  Handle heap;
  size_range sizes;
  std::uint32_t rounds;
  std::uint64_t seed;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(mix64(seed) ^ mix64(simt::thread_rank() + 1));
    void* held[slots] = {};
    std::uint32_t bytes[slots] = {};
    std::uint64_t tag[slots] = {};
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t slot = random.below(slots);
      if (held[slot] != nullptr) {
        give(held[slot], bytes[slot], tag[slot]);
        held[slot] = nullptr;
      } else {
        bytes[slot] = sizes.draw(random);
        tag[slot] = random.next();
        held[slot] = heap.malloc(bytes[slot]);
        if (held[slot] == nullptr) {
          tally::add(found->nulls);
        } else {
          stamp(held[slot], bytes[slot], tag[slot]);
        }
      }
    }
    for (int slot = 0; slot < slots; ++slot) {
      if (held[slot] != nullptr) give(held[slot], bytes[slot], tag[slot]);
    }
  }

  WARPHEAP_DEVICE void give(void* block, std::uint32_t bytes, std::uint64_t tag) const {
    if (!is_stamped(block, bytes, tag)) tally::add(found->corrupted);
    heap.free(block);
  }
};

/// Lanes put blocks into shared boxes and free what was in there: blocks of other lanes, warps and
/// blocks, of this launch or of an earlier one. A block begins with its size and tag.
template <class Handle>
struct exchange_blocks {
  static constexpr std::uint32_t least_bytes = 16;
  Handle heap;
  size_range sizes;
  std::uint32_t rounds;
  std::uint64_t seed;
  std::uint64_t* boxes;
  std::uint32_t box_count;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(mix64(seed) ^ mix64(simt::thread_rank() + 1));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t bytes = sizes.draw(random);
      const std::uint64_t tag = random.next();
      auto* block = static_cast<std::uint64_t*>(heap.malloc(bytes));
      if (block == nullptr) {
        tally::add(found->nulls);
      } else {
        block[0] = bytes;
        block[1] = tag;
        stamp(block + 2, bytes - least_bytes, tag);
      }
      // Release publishes the contents; acquire sees those of the lane that filled the box before.
      const std::uint64_t other =
          simt::atomic_ref(boxes[random.below(box_count)])
              .exchange(reinterpret_cast<std::uint64_t>(block), simt::order::acq_rel);
      give(reinterpret_cast<std::uint64_t*>(other));
    }
  }

  WARPHEAP_DEVICE void give(std::uint64_t* block) const {
    if (block == nullptr) return;
    const std::uint64_t bytes = block[0];
    if (bytes < sizes.least || bytes > sizes.most ||
        !is_stamped(block + 2, bytes - least_bytes, block[1])) {
      tally::add(found->corrupted);
    }
    heap.free(block);
  }
};

/// Frees what is left in the boxes.
template <class Handle>
struct empty_boxes {
  exchange_blocks<Handle> how;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < how.box_count) how.give(reinterpret_cast<std::uint64_t*>(how.boxes[rank]));
  }
};

/// As `allocate`, with `calloc`; counts blocks that are not zero.
template <class Handle>
struct allocate_zeroed {
  Handle heap;
  const std::uint64_t* bytes;
  void** blocks;
  std::uint64_t count;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= count) return;
    const std::uint64_t parts = bytes[rank] % 2 == 0 ? 2 : 1;
    auto* block = static_cast<unsigned char*>(heap.calloc(parts, bytes[rank] / parts));
    blocks[rank] = block;
    if (block == nullptr) return;
    unsigned char any = 0;
    for (std::uint64_t i = 0; i < bytes[rank]; ++i) any |= block[i];
    if (any != 0) tally::add(found->corrupted);
    stamp(block, bytes[rank], rank);
  }
};

/// The lanes that call together get one block, which the first of them frees in the end. Counts
/// members that got another pointer than their neighbour.
template <class Handle>
struct share_blocks {
  Handle heap;
  std::uint64_t bytes;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    for (std::uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
      if (static_cast<std::uint32_t>(simt::lane_id()) >= lanes) break;
      const simt::group together = simt::coalesced(found);
      void* block = heap.malloc_shared(together, bytes);
      const auto address = reinterpret_cast<std::uintptr_t>(block);
      if (together.any(together.broadcast(std::uint64_t{address}) != address)) {
        tally::add(found->corrupted);
      }
      if (block == nullptr) {
        tally::add(found->nulls);
      } else if (together.is_leader()) {
        stamp(block, bytes, address);
      }
      together.sync();
      if (block != nullptr && !is_stamped(block, bytes, address)) tally::add(found->corrupted);
      together.sync();
      if (together.is_leader()) heap.free(block);
    }
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
