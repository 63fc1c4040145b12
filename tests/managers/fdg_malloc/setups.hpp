// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warp_heap_cases.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// SuperBlocks of four granules.
inline constexpr std::uint32_t small_superblock_bytes = 64;
using small_fdg_malloc = fdg_malloc<fdg_config{.least_superblock_bytes = small_superblock_bytes,
                                               .most_superblock_bytes = small_superblock_bytes}>;

/// A SuperBlock has room for two or three blocks, or for less than one. 52 of them behind 2560
/// bytes, or ten behind 896.
inline warp_heap_setup small_fdg(const warp_heap_maker& manager) {
  return {.manager = manager,
          .roomy_bytes = 6144,
          .roomy_blocks = 52 * 4,
          .scarce_bytes = 1536,
          .scarce_blocks = 10 * 4,
          .sizes = {16, 40, 24, 100},
          .unit_bytes = 64,
          .scarce_front = 896,
          .scarce_units = 10};
}

/// Three SuperBlocks. Two lanes share a warp heap and need one of them. Another lane wants two in a
/// row, and may be refused only if that one is between the others.
class run_beside_two_lanes : public warp_heap_world {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit run_beside_two_lanes(const warp_heap_maker& manager)
      : warp_heap_world(manager, before + 3 * superblock, 3 * 4, {16, 100}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    where_ = 0;
    served_ = 0;
    asked_ = 0;
  }

  void lane() {
    const simt::atomic_ref<std::uint32_t> served(served_);
    const simt::atomic_ref<std::uint32_t> asked(asked_);
    const simt::atomic_ref<std::uint64_t> where(where_);
    if (simt::block_rank() == 0) {
      auto mine = begin(simt::warp());
      if (take(mine, 0)) {
        where.store(reinterpret_cast<std::uint64_t>(mine.blocks[0].start), simt::order::relaxed);
      }
      served.fetch_add(1, simt::order::acq_rel);
      // Ends: the other lane waits for what was counted before.
      while (asked.load(simt::order::acquire) == 0) simt::backoff(1);
      end(mine);
    } else if (simt::lane_id() == 0) {
      auto mine = begin();
      if (!take(mine, 1)) {
        // Ends: the two lanes count themselves before they wait.
        while (served.load(simt::order::acquire) != 2) simt::backoff(1);
        const std::uint64_t in_use =
            (where.load(simt::order::relaxed) % 4096 - before) / superblock;
        if (in_use == 0 || in_use == 2) note("two were refused although they were free");
      }
      asked.store(1, simt::order::release);
      end(mine);
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

/// Two SuperBlocks. Two lanes that share a warp heap need one of them, another warp the other one:
/// all three are served, though none may be free before the one that the first of the two lanes has
/// taken is their warp heap's.
class room_for_both : public warp_heap_world {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit room_for_both(const warp_heap_maker& manager)
      : warp_heap_world(manager, 512 + 2 * 64, 2 * 4, {16}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    served_ = 0;
  }

  void lane() {
    if (simt::block_rank() == 1 && simt::lane_id() != 0) return;
    const simt::atomic_ref<std::uint32_t> served(served_);
    auto mine = begin(simt::block_rank() == 0 ? simt::warp() : simt::coalesced(nullptr));
    take(mine, 0, true);
    served.fetch_add(1, simt::order::release);
    // Ends: lanes count themselves before they wait.
    while (served.load(simt::order::acquire) != 3) simt::backoff(1);
    end(mine);
  }

 private:
  std::uint32_t served_ = 0;
};

/// Two SuperBlocks. Three lanes that share a warp heap want half of one each. One of them ends
/// another warp heap, which has one of the two, before it asks. So a lane that finds the other one
/// used up by that lane must know of this one: all three are served.
class half_for_each : public warp_heap_world {
 public:
  static constexpr simt::grid shape{1, 3};

  explicit half_for_each(const warp_heap_maker& manager)
      : warp_heap_world(manager, 512 + 2 * 64, 2 * 2, {32}) {
    run_alone([this] {
      other_ = begin();
      take_bytes(other_, 64, true);
    });
    keep_state();
  }

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    other_.count = 0;
  }

  void lane() {
    auto mine = begin(simt::warp());
    if (simt::lane_id() == 0) end(other_);
    take(mine, 0, true);
    end(mine);
  }

 private:
  holding other_;
};

/// Three SuperBlocks. A warp heap has used all but a granule of one of them. If one of the three
/// lanes that share it gets that granule, one SuperBlock is enough for the other two, and the
/// third one is there for another warp heap.
class one_for_two_lanes : public warp_heap_world {
 public:
  static constexpr simt::grid shape{2, 3};

  explicit one_for_two_lanes(const warp_heap_maker& manager)
      : warp_heap_world(manager, 512 + 3 * 64, 3 * 4, {16}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    ready_ = 0;
    asked_ = 0;
    rest_ = nullptr;
    rest_is_used_ = false;
    served_ = 0;
  }

  void lane() {
    const bool shares = simt::block_rank() == 0;
    const int rank = simt::lane_id();
    if (!shares && rank != 0) return;
    const simt::atomic_ref<std::uint32_t> ready(ready_);
    const simt::atomic_ref<std::uint32_t> asked(asked_);
    auto mine = begin(shares ? simt::warp() : simt::coalesced(nullptr));
    if (shares && rank == 0) {
      if (take_bytes(mine, 48, true)) rest_ = mine.blocks[0].start + 48;
      ready.store(1, simt::order::release);
    }
    // Ends: the lane that is waited for has waited for nothing.
    while (shares && ready.load(simt::order::acquire) == 0) simt::backoff(1);
    if (take_bytes(mine, !shares ? 64 : rank == 1 ? 16 : 32)) {
      ++served_;
      if (shares && rank == 1) rest_is_used_ = mine.blocks[0].start == rest_;
    }
    asked.fetch_add(1, simt::order::release);
    // Ends: lanes count themselves before they wait.
    while (asked.load(simt::order::acquire) != 4) simt::backoff(1);
    end(mine);
  }

  std::string verdict() {
    if (rest_is_used_ && served_ != 4) return "one SuperBlock was enough for two lanes";
    return warp_heap_world::verdict();
  }

 private:
  std::uint32_t ready_ = 0;
  std::uint32_t asked_ = 0;
  untracked<std::byte*> rest_ = nullptr;
  untracked<bool> rest_is_used_ = false;
  untracked<int> served_ = 0;
};

/// One SuperBlock of four granules. Four lanes that share a warp heap want one each, and one of
/// them wants two before. What is too little for all that ask together is enough for some of them.
class less_than_all_want : public warp_heap_world {
 public:
  static constexpr simt::grid shape{1, 4};

  explicit less_than_all_want(const warp_heap_maker& manager)
      : warp_heap_world(manager, 512 + 64, 4, {16}) {}

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    granules_ = 0;
  }

  void lane() {
    auto mine = begin(simt::warp());
    if (simt::lane_id() == 0 && take_bytes(mine, 32)) granules_ = granules_ + 2;
    if (take(mine, 0)) ++granules_;
    end(mine);
  }

  std::string verdict() {
    if (granules_ != 4) return std::to_string(granules_) + " granules of four were served";
    return warp_heap_world::verdict();
  }

 private:
  untracked<int> granules_ = 0;
};

/// SuperBlocks that are free are neighbours, of which the first is the last one of a leaf word.
/// Lanes with warp heaps of their own want runs of them. As nobody frees, what is there in the end
/// was there all the time: it must not have been refused.
/// \tparam Lengths of the run that each lane wants; the first one wants all that are free
template <std::uint32_t... Lengths>
class runs_across_words : public warp_heap_world {
 public:
  static constexpr simt::grid shape{sizeof...(Lengths), 1};

  explicit runs_across_words(const warp_heap_maker& manager)
      : warp_heap_world(manager, region_bytes, superblocks * 4, {16}) {
    run_alone([this] {
      auto free = begin();
      take_bytes(free, wanted[0] * superblock, true);
      others_ = begin();
      take_bytes(others_, held * superblock, true);
      end(free);
    });
    keep_state();
  }

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    others_.count = 0;
    mine_ = {};
  }

  void lane() {
    auto& mine = mine_[simt::thread_rank()];
    mine = begin();
    take_bytes(mine, wanted[simt::thread_rank()] * superblock);
  }

  std::string verdict() {
    std::string wrong;
    // By arithmetic: the manager may remember wrongly that there is none.
    const std::size_t left = longest_gap(front + held * superblock, superblock, superblocks - held);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (mine_[i].count != 0 || wanted[i] > left) continue;
      wrong = "a run of " + std::to_string(wanted[i]) + " was refused although it was free";
    }
    run_alone([this] {
      for (auto& one : mine_) end(one);
      end(others_);
    });
    return wrong.empty() ? warp_heap_world::verdict() : wrong;
  }

 private:
  static constexpr std::array<std::uint32_t, sizeof...(Lengths)> wanted{Lengths...};
  static constexpr std::uint32_t superblock = 64;
  static constexpr std::uint32_t held = 63;
  static constexpr std::uint32_t superblocks = held + wanted[0];
  /// Each array begins at a multiple of 128: exhaustion, tree and pieces, tree, headers.
  static constexpr std::size_t front = 128 + round_up<std::size_t>(32 + 12 * superblocks, 128) +
                                       128 + round_up<std::size_t>(32 * superblocks, 128);
  static constexpr std::size_t region_bytes = front + superblock * superblocks;

  holding others_;
  std::array<holding, sizeof...(Lengths)> mine_;
};

inline std::vector<named_case> fdg_cases_of(const warp_heap_maker& manager) {
  std::vector<named_case> cases = warp_heap_cases(small_fdg(manager));
  cases.push_back(case_of<run_beside_two_lanes>("run_beside_two_lanes", manager));
  cases.push_back(case_of<room_for_both>("room_for_both", manager));
  cases.push_back(case_of<half_for_each>("half_for_each", manager));
  cases.push_back(case_of<one_for_two_lanes>("one_for_two_lanes", manager));
  cases.push_back(case_of<less_than_all_want>("less_than_all_want", manager));
  cases.push_back(case_of<runs_across_words<2, 1, 1>>("run_or_singles", manager));
  cases.push_back(case_of<runs_across_words<3, 2, 1>>("runs_of_three", manager));
  return cases;
}

template <class M>
std::vector<named_case> fdg_cases() {
  return fdg_cases_of(warp_heaps_of<M>());
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
