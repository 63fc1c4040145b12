// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"
#include "small_heap.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two blocks of four lanes: two warps, both partial.
inline constexpr simt::grid two_warps{2, 4};
inline constexpr simt::grid one_warp{1, 8};
inline constexpr int case_lanes = 8;

/// For schedules that begin in a state with blocks in use, which lanes free: inspections would not
/// count those.
inline any_setup uncounted(any_setup how) {
  how.counts = false;
  return how;
}

/// What most cases share: an empty heap in the beginning, and everything freed in the end.
class heap_world {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit heap_world(const any_setup& how) : heap(how) {
    heap.require_room(case_lanes, how.frees ? 2 : 3);
  }

  void reset(std::uint64_t seed) {
    heap.restore();
    seed_ = seed;
  }
  std::string verdict() { return heap.problem(); }
  any_heap& explored() { return heap; }

 protected:
  /// Another number for each schedule, and for each lane of it.
  std::uint64_t seed() const { return seed_; }
  std::uint64_t lane_seed() const { return mix64(seed_) ^ mix64(simt::thread_rank() + 1); }

  /// A block, or a finding if there is none though there should be.
  std::byte* must_take(std::uint32_t bytes) {
    std::byte* block = heap.take(bytes);
    if (block == nullptr && heap.how().exact && heap.how().fits) {
      heap.blocks().note("null although memory is free");
    }
    return block;
  }

  /// Gives a block back if the manager takes any.
  void give(std::byte* block) {
    if (block != nullptr && heap.how().frees) heap.give(block);
  }

  any_heap heap;

 private:
  std::uint64_t seed_ = 0;
};

/// A heap with a block that lane 0 frees. What the other lanes do meanwhile, each class says.
class freeing_world : public heap_world {
 public:
  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.adopt(freed_, bytes_);
  }

 protected:
  /// \param bytes of the block. Constructors set `freed_` to one that is in use.
  freeing_world(const any_setup& how, std::uint32_t bytes)
      : heap_world(uncounted(how)), bytes_(bytes) {}

  std::byte* freed_ = nullptr;

 private:
  std::uint32_t bytes_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
