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
/// \tparam Units where no Superblock fits, the lock is held until the first lane gives up;
/// otherwise, for some time, after which the lane gets a block
template <class Memory, std::uint32_t Units>
class lock_changes_hands {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    list().format(0);
    lock() = 1;
    answered_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    const simt::atomic_ref answered(answered_);
    const simt::atomic_ref held(lock());
    if (simt::thread_rank() == 0) {
      const bool served = list().take(1) != ~0u;
      if (served == is_scarce)
        wrong_ = served ? "the lock is held twice" : "null, and memory is free";
      answered.store(1, simt::order::relaxed);
      return;
    }
    for (int turn = 0; is_scarce ? answered.load(simt::order::relaxed) == 0 : turn < 12; ++turn) {
      held.fetch_add(2, simt::order::acq_rel);
      simt::backoff(100);
    }
    held.fetch_add(1, simt::order::release);
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  static constexpr bool is_scarce = Units < least_superblock<Memory>;

  Memory list() {
    region_cursor cursor({memory_.data(), memory_.size()}, "a case");
    return {cursor, Units};
  }
  std::uint32_t& lock() { return *reinterpret_cast<std::uint32_t*>(memory_.data()); }

  alignas(128) std::array<std::byte, 2048> memory_;
  std::uint32_t answered_ = 0;
  const char* wrong_ = nullptr;
};

template <class Memory>
std::vector<named_case> lock_cases() {
  return {case_of<lock_changes_hands<Memory, least_superblock<Memory> - 1>>("memory_is_scarce"),
          case_of<lock_changes_hands<Memory, 2 * least_superblock<Memory>>>("memory_is_free")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
