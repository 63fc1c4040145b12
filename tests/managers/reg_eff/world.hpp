// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_world.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// AW where its counter starts again: lanes that ask for less than the whole ring meanwhile get
/// blocks that do not overlap.
class ring : public heap_world {
 public:
  explicit ring(const any_setup& how) : heap_world(how) {
    heap.run_quietly([this] {
      for (int i = 0; i < before_the_end; ++i) heap.take(heap.size(0));
    });
    heap.keep_state();
  }

  void lane() {
    for (int round = 0; round < 3; ++round) must_take(heap.size(0));
  }

 private:
  /// Of the 80 blocks of `small_counter`: some lanes meet the end, and others the front.
  static constexpr int before_the_end = 75;
};

/// As many free blocks as lanes, of which each holds one at most: null is wrong at any time, though
/// what is free moves about, and merges and splits.
class one_each : public heap_world {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit one_each(const any_setup& how) : heap_world(how) {
    heap.fill_quietly();
    heap.empty_quietly(heap.capacity() - static_cast<int>(shape.blocks));
    heap.keep_state();
  }

  void lane() {
    for (int round = 0; round < 4; ++round) give(must_take(heap.size(0)));
  }
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
