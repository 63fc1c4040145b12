// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a request looks that finds nothing, and has no proof that there is nothing.
#include "machine.hpp"
#include "refusal_steps.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/managers/warpheap/word_marks.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Steps of a request to a full heap of which a word counts as unmarked, as if another lane was
/// about to list it. \param undisturbed how often it looks while no lane frees \param frees before
/// \param threads of the caller's block: a warp, or a part of one in a heap that seems dry
template <int Undisturbed>
std::uint64_t steps_of_a_search(int frees, std::uint32_t threads = 1) {
  static constexpr warpheap_config config = [] {
    warpheap_config how = small_chunks;
    how.most_looks = 1;
    how.most_undisturbed = Undisturbed;
    return how;
  }();
  const rubbish memory(16_KiB);
  const warpheap_manager<config> subject(memory.all(), machine().properties(), {});
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    void* last = nullptr;
    while (void* const block = subject.malloc(16)) last = block;
    for (int i = 0; i < frees; ++i) {
      subject.free(last);
      last = subject.malloc(16);
    }
    const auto& parts = subject.parts();
    parts.classes().count_unmarked(parts.classes().sizes().class_of(16), 1);
    if (threads != 1) parts.whole().set_dry(true);
  });
  return steps({1, threads}, [&] {
    if (simt::lane_id() == 0) {
      EXPECT_EQ(subject.malloc(16), nullptr);
    }
  });
}

TEST(warpheap_slot_search, a_request_looks_as_often_as_it_may_and_then_gives_up) {
  const std::uint64_t once = steps_of_a_search<1>(0);
  const std::uint64_t more = steps_of_a_search<5>(0) - once;
  EXPECT_GT(more, 0u);
  EXPECT_EQ(steps_of_a_search<9>(0) - once, 2 * more);
}

// Only what is freed meanwhile may have served others.
TEST(warpheap_slot_search, a_request_looks_as_often_if_blocks_were_freed_before_it) {
  EXPECT_EQ(steps_of_a_search<9>(3), steps_of_a_search<9>(0));
  EXPECT_EQ(steps_of_a_search<9>(3, 2), steps_of_a_search<9>(0, 2));
}

/// A heap in which nothing is free but a chunk that 128 B have left empty, behind entries of all
/// others: more than a part of a warp clears at the looks that it makes beside frees.
class one_empty_chunk_of_many : public ::testing::Test {
 protected:
  one_empty_chunk_of_many() {
    machine().launch({1, 1}, [this] {
      subject_.format(0, 1);
      std::byte* first = nullptr;
      while (auto* const block = static_cast<std::byte*>(subject_.malloc(128))) {
        if (first == nullptr || block < first) first = block;
      }
      subject_.free(first);
      subject_.free(first + 128);
      for (std::uint32_t chunk = 1; chunk < parts().universe(); ++chunk) {
        parts().empties().insert(chunk);
      }
      parts().whole().set_dry(true);
    });
    before_ = memory_.contents();
  }
  void restore() const { std::copy(before_.begin(), before_.end(), memory_.all().base); }
  const small::supply& parts() const { return subject_.parts(); }

  const rubbish memory_{8_MiB};
  const small subject_{memory_.all(), machine().properties(), {}};

 private:
  std::vector<std::byte> before_;
};

// While blocks of its class come and go, it makes few looks; but one that ended at its bound has
// not seen that there is no chunk.
TEST_F(one_empty_chunk_of_many, is_found_by_a_part_of_a_warp_beside_frees) {
  ASSERT_GT(parts().empties().leaf_words(),
            4 * warpheap_chunk_moves<small_chunks>::words_at_look(
                    warpheap_chunk_moves<small_chunks>::first_of_part));
  const std::uint32_t of = parts().classes().sizes().class_of(60);
  simt::explorer two({2, 2}, 4'000'000);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    restore();
    void* block = nullptr;
    std::uint32_t has_ended = 0;  // relaxed: it says that, and orders nothing
    const auto outcome = two.run({simt::strategy::uniform, seed}, [&] {
      if (simt::thread_rank() % 2 != 0) return;
      const simt::atomic_ref ended(has_ended);
      if (simt::block_rank() == 0) {
        block = subject_.malloc(60);
        ended.store(1, simt::order::relaxed);
        return;
      }
      // Offers of a slot that others have. Ends: the other lane never waits for this one.
      while (ended.load(simt::order::relaxed) == 0) {
        if (parts().offers().make(of, 0)) parts().offers().take(of);
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_NE(block, nullptr) << seed;
  }
}

/// Steps of a request that gets null in a full heap, while another lane notes a chunk that is in
/// use and offers a slot that others have, all the time.
template <int Threads>
std::uint64_t steps_beside_notes(std::size_t bytes, std::size_t wanted = 60) {
  const rubbish memory(bytes);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(128) != nullptr) {
    }
    for (std::uint32_t chunk = 0; chunk < parts.universe(); ++chunk) parts.empties().insert(chunk);
    parts.whole().chunks.released();
    parts.whole().set_dry(true);
  });
  const std::uint32_t of = parts.classes().sizes().class_of(60);
  std::uint32_t has_ended = 0;
  return steps({2, Threads}, [&] {
    if (simt::lane_id() != 0) return;
    const simt::atomic_ref ended(has_ended);
    if (simt::block_rank() == 0) {
      EXPECT_EQ(subject.malloc(wanted), nullptr);
      ended.store(1, simt::order::relaxed);
      return;
    }
    // Ends: the other lane never waits for this one.
    while (ended.load(simt::order::relaxed) == 0) {
      if (parts.offers().make(of, 0)) parts.offers().take(of);
      parts.empties().insert(static_cast<std::uint32_t>(simt::noise() % parts.universe()));
    }
  });
}

// Once it may have cleared them all, however many are noted: turns would go on 64 times, which took
// 1.2 million steps.
TEST(warpheap_slot_search, a_request_beside_notes_of_chunks_in_use_ends_soon) {
  EXPECT_LT(steps_beside_notes<2>(64_KiB), 100'000u);
  EXPECT_LT(steps_beside_notes<1>(64_KiB), 200'000u);
  EXPECT_LT(steps_beside_notes<2>(1_MiB), 200'000u);
}

// So does one for a whole chunk, whose looks may clear more: 680,000 steps, and more than 4
// million.
TEST(warpheap_slot_search, a_large_block_beside_notes_of_chunks_in_use_ends_soon) {
  EXPECT_LT(steps_beside_notes<1>(64_KiB, 256), 100'000u);
  EXPECT_LT(steps_beside_notes<1>(1_MiB, 256), 500'000u);
}

/// Steps of a request that gets null in a full heap, while four lanes do something to words of
/// its class all the time, and make most of the steps: the most of 20.
std::uint64_t steps_beside(const auto& other) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(16) != nullptr) {
    }
  });
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  const auto request = [&] {
    // Until then, it is known that there is nothing. Ends: the other lanes never wait for this one.
    while (!parts.offers().any(of) && parts.classes().are_marked_now(of)) simt::backoff(1);
    return subject.malloc(16);
  };
  const auto act = [&] {
    const auto noise = static_cast<std::uint32_t>(simt::noise() >> 32);
    other(parts, of, noise % parts.universe(), noise % parts.classes().slots(of).words);
  };
  std::uint64_t most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    most = std::max(most, steps_of_a_refusal(request, act, 4, seed));
  }
  return most;
}

// Others took the slots meanwhile. No lane may have to take all offers that others make: in this
// test, that went on for a million steps.
TEST(warpheap_slot_search, a_request_beside_offers_that_lead_to_nothing_ends_soon) {
  EXPECT_LT(steps_beside([](const auto& parts, auto of, auto chunk, auto word) {
              parts.offers().make(of, chunk * parts.chunks().stride() + word);
            }),
            200'000u);
}

// The same for words that others list, although they are full again by then.
TEST(warpheap_slot_search, a_request_beside_words_that_are_listed_and_full_ends_soon) {
  EXPECT_LT(steps_beside([](const auto& parts, auto of, auto chunk, auto word) {
              warpheap_word_marks<small_chunks>::find_again(parts, of, chunk, word, 3, 3);
            }),
            500'000u);
}

/// Steps of a request that gets null in a full heap of which a word counts as unmarked. \param
/// offers whether another lane offers a slot that is in use and takes the offer all the time
/// meanwhile, and not only before \param MostLooks how often a whole warp looks
template <int MostLooks>
std::uint64_t steps_of_looks(bool offers) {
  static constexpr warpheap_config config = [] {
    warpheap_config how = small_chunks;
    how.most_looks = MostLooks;
    how.most_undisturbed = 12;
    return how;
  }();
  const rubbish memory(16_KiB);
  const warpheap_manager<config> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  const auto offer = [&] {
    if (parts.offers().make(of, 0)) parts.offers().take(of);
  };
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(16) != nullptr) {
    }
    parts.classes().count_unmarked(of, 1);
    offer();
  });
  return steps_of_a_refusal([&] { return subject.malloc(16); },
                            [&] {
                              if (offers) offer();
                            });
}

// Others have taken what was freed, and no chunk is there: further looks would hold up its warp,
// and others would be served instead.
TEST(warpheap_slot_search, a_whole_warp_waits_once_if_others_offer_slots_meanwhile) {
  const std::uint64_t steps = steps_of_looks<12>(true);
  EXPECT_EQ(steps, steps_of_looks<2>(true));
  EXPECT_GT(steps_of_looks<2>(false), 4 * steps) << "it looks twelve times";
}

/// A look comes to one listed word, of which it takes none off the list, until the last one.
constexpr warpheap_config one_visit_a_look = [] {
  warpheap_config how = small_chunks;
  how.chunks_per_place = 1u << 30;
  how.most_visits = 1;
  how.lenient_visits = how.most_lost = 1'000'000;
  how.most_looks = how.most_undisturbed = 1000;
  return how;
}();

// Before null, it looks at all words that are listed, also when it has no turn left. The other lane
// notes chunks in use, so that memory never seems exhausted.
TEST(warpheap_slot_search, a_request_looks_at_all_that_is_listed_after_its_last_turn) {
  const rubbish memory(128_KiB);
  const warpheap_manager<one_visit_a_look> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  std::vector<void*> all;
  const auto fill = [&](std::size_t most) {
    subject.format(0, 1);
    all.clear();
    while (all.size() < most && (all.push_back(subject.malloc(60)), all.back() != nullptr)) {
    }
  };
  // As many blocks as there are, and without the request that would mark words.
  machine().launch({1, 1}, [&] {
    fill(1'000'000);
    fill(all.size() - 1);
    subject.free(all[all.size() / 2]);
  });
  std::uint32_t has_ended = 0;
  void* block = nullptr;
  simt::explorer two({2, 1}, 4'000'000);
  const auto outcome = two.run({simt::strategy::uniform, 1}, [&] {
    const simt::atomic_ref ended(has_ended);
    if (simt::block_rank() == 0) {
      block = subject.malloc(60);
      ended.store(1, simt::order::relaxed);
      return;
    }
    // Ends: the other lane never waits for this one.
    while (ended.load(simt::order::relaxed) == 0) {
      parts.empties().insert(static_cast<std::uint32_t>(simt::noise() % parts.universe()));
    }
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_NE(block, nullptr);
}

// A warp whose turn leads to a chunk of others drops the hint, and looks on.
TEST(warpheap_slot_search, a_warp_drops_the_hint_that_led_nowhere) {
  const rubbish memory(64_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(subject.malloc(16));
    const auto of = parts.classes().hints(parts.classes().sizes().class_of(16));
    const std::uint32_t& count =
        parts.classes().of(parts.classes().sizes().class_of(16)).turns.population;
    const std::uint32_t before = count;
    ASSERT_GT(before, 8u);
    for (void* const block : blocks) subject.free(block);
    // Chunk 40 is not the class's.
    of.word(2) = (of.word(2) & 0xffff0000u) | 40;
    for (int i = 0; i < 500 && count == before; ++i) subject.free(subject.malloc(16));
    EXPECT_EQ(count, before - 1);
    EXPECT_NE(of.chunk_at(2), 40u);
  });
}

// The next slots in the order of such a class are those of a chunk that it would get first.
TEST(warpheap_slot_search, a_hint_that_led_nowhere_lets_no_class_with_room_grow) {
  const rubbish memory(64_KiB);
  const warpheap_manager<small_in_order> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t number = parts.classes().sizes().class_of(16);
  const std::uint32_t& count = parts.classes().of(number).turns.population;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    const std::uint32_t slots = parts.classes().slots(number).count;
    const std::uint32_t first = parts.orders().first(slots);
    std::vector<void*> blocks;
    while (count < first + 16) blocks.push_back(subject.malloc(16));
    for (void* const block : blocks) subject.free(block);
    ASSERT_TRUE(parts.seems_to_have_chunks());
    for (std::uint32_t at = 0; at < parts.orders().places(); ++at) {
      parts.orders().go_on(number, at, 2 * count, slots);
    }
    for (std::uint32_t wrong = 2; wrong <= 8; wrong += 2) {
      const std::uint32_t before = count;
      // The last chunk is not the class's.
      std::uint32_t& two = parts.classes().hints(number).word(wrong);
      two = (two & 0xffff0000u) | (parts.universe() - 1);
      for (int i = 0; i < 500 && count == before; ++i) subject.free(subject.malloc(16));
      EXPECT_EQ(count, before - 1);
    }
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
