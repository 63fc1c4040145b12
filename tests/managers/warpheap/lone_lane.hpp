// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "damage.hpp"
#include "small.hpp"

#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A heap of 33 chunks, and what one lane holds of it.
class lone_lane {
 public:
  /// Whether a block of this size is free, by a look at every chunk.
  bool has_room(std::uint32_t bytes) const {
    const small::supply& parts = this->parts();
    const std::uint32_t of = parts.classes().sizes().class_of(bytes);
    const std::uint32_t owner = chunk_owner::first_class + of;
    const warpheap_slots slots = parts.classes().shape(of);
    for (std::uint32_t c = 0; c < parts.universe(); ++c) {
      const std::uint32_t state = parts.chunks().look(c);
      const std::uint32_t whose = small::chunks::owner_of(state);
      if (whose == chunk_owner::nobody || small::chunks::words_in_use(state) == 0) return true;
      for (std::uint32_t i = 0; whose == owner && i < slots.words; ++i) {
        const std::uint64_t used = small::chunks::used_of(parts.chunks().word(c, i));
        if (used != small::chunks::slots_in(slots, i)) return true;
      }
    }
    return false;
  }
  /// Asks for a block, and frees none.
  void ask(std::uint32_t bytes) {
    const bool there = has_room(bytes);
    void* const block = all_.malloc(bytes);
    EXPECT_EQ(block != nullptr, there) << bytes << " bytes, " << held_.size() << " blocks";
    if (block != nullptr) held_.push_back(block);
  }
  void give_some(std::uint32_t most) {
    for (std::uint32_t left = 1 + random_.below(most); left != 0 && !held_.empty(); --left) {
      void*& any = held_[random_.below(static_cast<std::uint32_t>(held_.size()))];
      all_.free(any);
      any = held_.back();
      held_.pop_back();
    }
  }
  /// The block that lies in word 0 of chunk 0.
  void give_first() {
    const auto first = std::min_element(held_.begin(), held_.end());
    all_.free(*first);
    held_.erase(first);
  }
  void exhaust(std::uint32_t bytes) {
    while (has_room(bytes) && !::testing::Test::HasFailure()) ask(bytes);
    ask(bytes);
  }
  const exposed_heap<small>& subject() const { return subject_; }
  const small::supply& parts() const { return all_.parts(); }

 private:
  exposed_heap<small> subject_{50 * 256};
  small all_ = subject_.heap().ref().manager();
  std::vector<void*> held_;
  random_sequence random_{1};
};

}  // namespace test
WARPHEAP_END_NAMESPACE
