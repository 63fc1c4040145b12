// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of KMA's buckets by themselves: how long a request looks.

#include "scenario.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/buckets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// One lane has all of the memory and asks for more, while the other one always has something on
/// its way, and ends such moves until the first lane has its answer.
template <class Buckets>
class always_on_the_way {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    superblocks().format(0, 1);
    buckets().format(0, 1);
    answered_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    const simt::atomic_ref answered(answered_);
    if (simt::thread_rank() == 0) {
      const std::uint32_t largest = Buckets::sizes::classes - 1;
      if (!buckets().reserve(superblocks(), largest, 1, 0)) wrong_ = "a superblock is not found";
      if (buckets().reserve(superblocks(), largest, 1, 0)) wrong_ = "a superblock is had twice";
      answered.store(1, simt::order::relaxed);
      return;
    }
    superblocks().announce();
    while (answered.load(simt::order::relaxed) == 0) {
      superblocks().announce();
      superblocks().conclude();
      simt::backoff(100);  // so that the other lane gets on
    }
    superblocks().conclude();
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  using of_superblocks = typename Buckets::superblocks;
  static constexpr std::size_t bytes = 4096;

  /// The queue keeps one of two.
  of_superblocks superblocks() {
    region_cursor cursor({memory_.data(), bytes}, "a case");
    return {cursor, 2, 1};
  }
  Buckets buckets() {
    region_cursor cursor({memory_.data() + bytes, bytes}, "a case");
    return {cursor, 1};
  }

  alignas(128) std::array<std::byte, 2 * bytes> memory_;
  std::uint32_t answered_ = 0;
  const char* wrong_ = nullptr;
};

template <class Buckets>
std::vector<named_case> kma_look_cases() {
  return {case_of<always_on_the_way<Buckets>>("always_on_the_way")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
