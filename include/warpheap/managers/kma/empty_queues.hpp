// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The empty superblocks of kma.hpp, in up to 64 queues. The multiprocessor and the place in the
/// warp determine where a lane puts them, and from which queue on it looks for one that has some. A
/// queue serves one lane after the other.
///
/// `occupied` has a bit for each queue that may have superblocks. A lane that enqueues one sets it
/// afterwards. A lane that finds only the dummy clears it, and sets it again unless the queue is
/// still empty. Both are read-modify-writes, so the later of the two sees what the earlier one did:
/// either the bit is set after it was cleared, or the lane that cleared it sees the superblock.
/// While a lane is at this, a queue with superblocks may be without its bit. Callers announce it
/// (superblocks.hpp). A lane that gets none since it lost to others leaves the bit as it is.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/superblock_queue.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

class kma_empty_queues {
 public:
  static constexpr std::uint32_t none = kma_queue::none;
  static constexpr std::uint32_t most = 64;

  kma_empty_queues() = default;
  /// \pre `0 < queues && queues <= most && queues <= superblocks`
  kma_empty_queues(region_cursor& cursor, std::uint32_t superblocks, std::uint32_t queues)
      : occupied_(cursor.take<std::uint64_t>(1, 128)),
        ends_(cursor.take<kma_queue::ends>(queues)),
        links_(cursor.take<std::uint64_t>(superblocks, 128)),
        superblocks_(superblocks),
        queues_(queues) {}

  WARPHEAP_HD std::uint32_t count() const { return queues_; }
  WARPHEAP_HD kma_queue at(std::uint32_t q) const {
    return {ends_ + q, links_, first_of(q), first_of(q + 1) - 1};
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    if (rank == 0) *occupied_ = low_bits<std::uint64_t>(static_cast<int>(queues_));
    for (std::uint32_t q = 0; q < queues_; ++q) at(q).format(rank, lanes);
  }

  WARPHEAP_DEVICE void enqueue(std::uint32_t superblock) const {
    const std::uint32_t q = own();
    at(q).enqueue(superblock);
    occupied().fetch_or(bit(q), simt::order::acq_rel);
  }

  /// A superblock, or none if the queues that it tries had none, or if other lanes were faster. So
  /// none proves nothing.
  WARPHEAP_DEVICE std::uint32_t dequeue() const {
    std::uint32_t from = own();
    for (int tries = 0; tries < most_tries; ++tries) {
      const std::uint64_t open = occupied().load(simt::order::acquire);
      if (open == 0) return none;
      const std::uint64_t ahead = open & ~low_bits<std::uint64_t>(static_cast<int>(from));
      const auto q = static_cast<std::uint32_t>(lowest_bit(ahead != 0 ? ahead : open));
      const std::uint32_t got = at(q).dequeue();
      if (got != none) return got;
      if (at(q).is_empty()) {
        occupied().fetch_and(~bit(q), simt::order::acq_rel);
        if (!at(q).is_empty()) occupied().fetch_or(bit(q), simt::order::acq_rel);
      }
      from = q + 1;
    }
    return none;
  }

  /// Whether a queue may have superblocks.
  WARPHEAP_DEVICE bool any() const { return occupied().load(simt::order::acquire) != 0; }

  /// Whether half of the queues may have superblocks: on a new heap, mostly, and in a heap with one
  /// queue until that seems empty. A lane that finds a queue empty says so, so this ends.
  WARPHEAP_DEVICE bool plenty() const {
    return 2 * static_cast<std::uint32_t>(popcount(occupied().load(simt::order::relaxed))) >=
           queues_;
  }

  // While no lane changes them.
  WARPHEAP_DEVICE bool says_occupied(std::uint32_t q) const { return (*occupied_ & bit(q)) != 0; }

 private:
  /// Queues that a call tries. Near exhaustion few have superblocks, and all lanes meet there.
  static constexpr int most_tries = 2;

  WARPHEAP_HD static constexpr std::uint64_t bit(std::uint32_t q) { return std::uint64_t{1} << q; }
  WARPHEAP_HD std::uint32_t first_of(std::uint32_t q) const {
    return static_cast<std::uint32_t>(std::uint64_t{superblocks_} * q / queues_);
  }
  /// The lanes of a warp often enqueue together, so they have different ones.
  WARPHEAP_DEVICE std::uint32_t own() const {
    return (simt::sm_id() + static_cast<std::uint32_t>(simt::lane_id())) % queues_;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> occupied() const {
    return simt::atomic_ref<std::uint64_t>(*occupied_);
  }

  std::uint64_t* occupied_ = nullptr;
  kma_queue::ends* ends_ = nullptr;
  std::uint64_t* links_ = nullptr;
  std::uint32_t superblocks_ = 0;
  std::uint32_t queues_ = 0;
};

WARPHEAP_END_NAMESPACE
