// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Near exhaustion, a lane that asks alone gets null only if there is nothing: nobody holds or
// changes what it looks for.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

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

/// \param lanes of the warp, of which one asks: a part of it, or all
void expect_exact(std::uint32_t lanes, const std::vector<std::uint32_t>& sizes) {
  lone_lane one;
  one.subject().heap().on().launch({1, lanes}, [&] {
    if (simt::lane_id() != 0) return;
    one.exhaust(sizes[0]);
    for (int round = 0; round < 200; ++round) {
      one.give_some(10);
      for (int i = 0; i < 12; ++i) {
        one.ask(sizes[static_cast<std::size_t>(round) / 8 % sizes.size()]);
      }
    }
  });
  one.subject().heap().on().synchronize();
  expect_valid(one.subject().heap());
}

TEST(warpheap_scarce_search, a_part_of_a_warp_finds_each_slot_of_one_class) {
  expect_exact(2, {16});
  expect_exact(2, {60});
}

TEST(warpheap_scarce_search, a_part_of_a_warp_finds_slots_and_chunks_of_other_classes) {
  expect_exact(2, {16, 60, 128, 80});
}

TEST(warpheap_scarce_search, a_whole_warp_finds_them_as_well) {
  expect_exact(1, {16});
  expect_exact(1, {16, 60, 128, 80});
}

// What is on offer is taken at once: a lane that waits for the next offer would lose it to others.
TEST(warpheap_scarce_search, a_part_of_a_warp_takes_what_is_on_offer_without_a_wait) {
  lone_lane one;
  one.subject().heap().on().launch({1, 2}, [&] {
    if (simt::lane_id() != 0) return;
    one.exhaust(16);
    one.give_some(1);
    const auto& parts = one.parts();
    const warpheap_scarce_search<small_chunks> search(parts, parts.classes().sizes().class_of(16));
    EXPECT_NE(search.take().got.chunk, search.none);
  });
}

// Offers may lead to nothing: others found the slots in words that had lost their marks. A lane
// that must find what there is goes on until no offer is left.
TEST(warpheap_scarce_search, a_thorough_lane_takes_any_number_of_offers_in_vain) {
  // Of so many slots that there is room for eight offers.
  const exposed_heap<small> subject(500 * 256);
  const small all = subject.heap().ref().manager();
  const std::uint32_t of = all.parts().classes().sizes().class_of(16);
  using search = warpheap_scarce_search<small_chunks>;
  subject.heap().on().launch({1, 1}, [&] {
    void* last = nullptr;
    while (void* const block = all.malloc(16)) last = block;
    const auto offer_what_is_full = [&] {
      for (int i = 0; i < small_chunks.most_stale + 1; ++i) {
        ASSERT_TRUE(all.parts().offers().make(of, 0));
      }
    };
    offer_what_is_full();
    all.free(last);
    EXPECT_EQ(search(all.parts(), of).take_offered(false).chunk, search::none);
    EXPECT_NE(search(all.parts(), of).take_offered(true).chunk, search::none);
    offer_what_is_full();
    EXPECT_EQ(search(all.parts(), of).take_offered(true).chunk, search::none);
    EXPECT_EQ(all.parts().offers().examine(of), 0);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
