// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of XMalloc's list of Memoryblocks by itself: how long a request waits for its lock.

#include "scenario.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/memoryblocks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Units of the smallest Superblock.
template <class Memory>
inline constexpr std::uint32_t least_superblock = Memory::sizes::least_units(0);

/// One lane wants a block, while the lock is always held. The other lane stands for those that hold
/// it: its first word counts them.
///
/// \tparam Units that are free
/// \tparam Holders 0: the lock is held for some time, after which the first lane gets a block;
/// otherwise, until it gives up, which must not be before others have held it so often
template <class Memory, std::uint32_t Units, std::uint32_t Holders>
class lock_changes_hands {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    list().format(0, 1);
    lock() = 1;
    answered_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    const simt::atomic_ref answered(answered_);
    const simt::atomic_ref held(lock());
    if (simt::thread_rank() == 0) {
      const bool served = list().take(1) != ~0u;
      if (served == gives_up)
        wrong_ = served ? "the lock is held twice" : "null, and memory is free";
      if (!served && held.load(simt::order::relaxed) / 2 < Holders) wrong_ = "it gives up too soon";
      answered.store(1, simt::order::relaxed);
      return;
    }
    for (int turn = 0; gives_up ? answered.load(simt::order::relaxed) == 0 : turn < 20; ++turn) {
      held.fetch_add(2, simt::order::acq_rel);
      simt::backoff(100);
    }
    held.fetch_add(1, simt::order::release);
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  static constexpr bool gives_up = Holders != 0;

  Memory list() {
    region_cursor cursor({memory_.data(), memory_.size()}, "a case");
    return {cursor, Units};
  }
  std::uint32_t& lock() { return *reinterpret_cast<std::uint32_t*>(memory_.data()); }

  alignas(128) std::array<std::byte, 4096> memory_;
  std::uint32_t answered_ = 0;
  const char* wrong_ = nullptr;
};

template <class Memory>
std::vector<named_case> lock_cases() {
  return {
      case_of<lock_changes_hands<Memory, least_superblock<Memory> - 1, Memory::tour::few_holders>>(
          "memory_is_scarce"),
      case_of<lock_changes_hands<Memory, Memory::tour::scarce - 1, Memory::tour::some_holders>>(
          "memory_is_short"),
      case_of<lock_changes_hands<Memory, Memory::tour::scarce + 1, 0>>("memory_is_free")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
