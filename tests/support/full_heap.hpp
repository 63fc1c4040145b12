// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What requests cost that cannot be served, by steps of the explorer: where the manager's bound is
/// a number of searches, looks or attempts, which others spoil one after the other.

#include "refusal_steps.hpp"
#include "rubbish.hpp"
#include "untouched_memory.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A heap full of blocks of one size, with none left of a larger one either.
template <class M>
class full_heap {
 public:
  full_heap(std::size_t heap_bytes, std::size_t small, std::size_t large)
      : memory_(heap_bytes),
        all_(memory_.all(), small_machine(1), {}),
        small_(small),
        large_(large) {
    in_a_lane([this] {
      all_.format(0, 1);
      while (void* const block = all_.malloc(small_)) blocks_.push_back(block);
      while (all_.malloc(large_) != nullptr) {
      }
    });
  }

  const M& manager() const { return all_; }
  region memory() const { return memory_.all(); }

  /// Frees `count` of the small blocks, every other one from number `first` on.
  void give(std::size_t first, std::size_t count) {
    in_a_lane([&] {
      for (std::size_t i = 0; i < count; ++i) all_.free(blocks_[first + 2 * i]);
    });
  }
  /// Of that many lanes, which all ask for the larger size and get null.
  std::uint64_t steps_of(std::uint32_t lanes) {
    return steps({lanes, 1}, [this] { EXPECT_EQ(all_.malloc(large_), nullptr); });
  }
  /// Of one of them, beside a lane that takes and frees blocks of `other` bytes.
  std::uint64_t steps_beside(std::size_t other) {
    return steps_of_a_refusal([this] { return all_.malloc(large_); },
                              [&] {
                                void* const block = all_.malloc(other);
                                if (block != nullptr) all_.free(block);
                              });
  }

 private:
  rubbish memory_;
  M all_;
  std::size_t small_;
  std::size_t large_;
  std::vector<void*> blocks_;
};

constexpr std::uint32_t crowd = 8;

/// No lane of a crowd takes more than half as many steps again as a lone request that finds out
/// that there is nothing. Returns the steps of that one.
template <class M>
std::uint64_t expect_no_more_in_a_crowd(full_heap<M>& heap) {
  heap.give(0, 1);
  const std::uint64_t lone = heap.steps_of(1);
  heap.give(2, 1);
  EXPECT_LE(heap.steps_of(crowd), crowd * lone * 3 / 2) << "of " << lone;
  return lone;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
