// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warp_heap_cases.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// SuperBlocks of four granules: two or three blocks, or less than one. 52 of them behind 2560
/// bytes, or ten behind 896.
template <class M>
warp_heap_setup<M> small_fdg() {
  return {.roomy_bytes = 6144,
          .roomy_blocks = 52 * 4,
          .scarce_bytes = 1536,
          .scarce_blocks = 10 * 4,
          .sizes = {16, 40, 24, 100}};
}

/// Three SuperBlocks. Two lanes share a warp heap, and may each take one for it, of which one goes
/// back. Another lane wants two in a row, and may find none meanwhile; but it must find them once
/// the others have their blocks.
template <class M>
class run_after_a_lost_race : public warp_heap_world<M> {
 public:
  static constexpr simt::grid shape{2, 2};

  run_after_a_lost_race() : warp_heap_world<M>(before + 3 * superblock, 3 * 4, {16, 100}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world<M>::reset(seed);
    where_ = 0;
    served_ = 0;
    asked_ = 0;
  }

  void lane() {
    const simt::atomic_ref<std::uint32_t> served(served_);
    const simt::atomic_ref<std::uint32_t> asked(asked_);
    const simt::atomic_ref<std::uint64_t> where(where_);
    if (simt::block_rank() == 0) {
      auto mine = this->begin(simt::warp());
      if (this->take(mine, 0)) {
        where.store(reinterpret_cast<std::uint64_t>(mine.blocks[0].start), simt::order::relaxed);
      }
      served.fetch_add(1, simt::order::acq_rel);
      // Ends: the other lane waits for what was counted before.
      while (asked.load(simt::order::acquire) == 0) simt::backoff(1);
      this->end(mine);
    } else if (simt::lane_id() == 0) {
      auto mine = this->begin();
      if (!this->take(mine, 1)) {
        // Ends: the two lanes count themselves before they wait.
        while (served.load(simt::order::acquire) != 2) simt::backoff(1);
        const std::uint64_t in_use =
            (where.load(simt::order::relaxed) % 4096 - before) / superblock;
        if (in_use == 0 || in_use == 2) this->take(mine, 1, true);
      }
      asked.store(1, simt::order::release);
      this->end(mine);
    }
  }

 private:
  static constexpr std::size_t superblock = 64;
  /// Bytes in front of the SuperBlocks of a region, which begins at a multiple of 4096.
  static constexpr std::size_t before = 512;

  alignas(8) std::uint64_t where_ = 0;
  std::uint32_t served_ = 0;
  std::uint32_t asked_ = 0;
};

/// Two SuperBlocks. Of two lanes that share a warp heap, one takes the first one for it; then
/// another warp takes the second one, and keeps it until both are served. The other lane may find
/// neither, but a SuperBlock with room has become its warp heap's meanwhile.
template <class M>
class served_by_another : public warp_heap_world<M> {
 public:
  static constexpr simt::grid shape{2, 2};

  served_by_another() : warp_heap_world<M>(512 + 2 * 64, 2 * 4, {16}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world<M>::reset(seed);
    first_ = 0;
    served_ = 0;
  }

  void lane() {
    const simt::atomic_ref<std::uint32_t> first(first_);
    const simt::atomic_ref<std::uint32_t> served(served_);
    if (simt::block_rank() == 0) {
      auto mine = this->begin(simt::warp());
      this->take(mine, 0, true);
      if (simt::lane_id() == 0) first.store(1, simt::order::release);
      served.fetch_add(1, simt::order::release);
      this->end(mine);
    } else if (simt::lane_id() == 0) {
      auto mine = this->begin();
      // Ends: the lanes waited for wait for nothing.
      while (first.load(simt::order::acquire) == 0) simt::backoff(1);
      this->take(mine, 0);
      while (served.load(simt::order::acquire) != 2) simt::backoff(1);
      this->end(mine);
    }
  }

 private:
  std::uint32_t first_ = 0;
  std::uint32_t served_ = 0;
};

template <class M>
std::vector<named_case> fdg_cases() {
  std::vector<named_case> cases = warp_heap_cases(small_fdg<M>());
  cases.push_back(case_of<run_after_a_lost_race<M>>("run_after_a_lost_race"));
  cases.push_back(case_of<served_by_another<M>>("served_by_another"));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
