// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A class is not out of slots while there is one, wherever that is, and wherever it goes meanwhile.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/class_exhaustion.hpp"
#include "warpheap/managers/warpheap/class_growth.hpp"
#include "warpheap/managers/warpheap/scarce_search.hpp"
#include "warpheap/managers/warpheap/slot_frees.hpp"
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

/// A full heap of one size, of which no lane knows that it is exhausted, and what a lane alone
/// needs to say where the last slot is: in a word, on offer, or in a chunk of the pool.
class last_slot : public ::testing::Test {
 protected:
  using exhaustion_of_class = warpheap_class_exhaustion<small_chunks>;

  last_slot() {
    machine().launch({1, 1}, [this] {
      subject_.format(0, 1);
      while (subject_.malloc(16) != nullptr) {
      }
      EXPECT_TRUE(is_out());
      parts().whole().chunks.format();
    });
    full_ = memory_.contents();
  }
  void restore() const { std::copy(full_.begin(), full_.end(), memory_.all().base); }
  const small::supply& parts() const { return subject_.parts(); }
  bool is_out() const { return exhaustion_of_class(parts(), of_).is_out(); }

  enum place { word, offer, chunk };
  void arrive(place at) const {
    if (at == word) parts().classes().count_unmarked(of_, 1);
    if (at == offer) {
      EXPECT_TRUE(parts().offers().make(of_, 0));
    }
    if (at == chunk) {
      parts().pool().insert(0);
      simt::backoff(1);
      parts().released();
    }
  }
  void leave(place at) const {
    if (at == word) parts().classes().count_marked(of_, 1);
    if (at == offer) {
      EXPECT_EQ(parts().offers().take(of_), 0u);
    }
    if (at == chunk) {
      EXPECT_TRUE(parts().pool().remove(0));
    }
  }

  void move(place from, place to) const {
    if (from != chunk || to != word) {
      arrive(to);
      leave(from);
      return;
    }
    const std::uint32_t hand = parts().whole().begin_move();
    leave(from);
    arrive(to);
    parts().whole().end_move(hand);
  }

  // Mistakes were met within 2000.
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 6000;
  const rubbish memory_{16_KiB};
  const small subject_{memory_.all(), machine().properties(), {}};
  const std::uint32_t of_ = subject_.parts().classes().sizes().class_of(16);
  std::vector<std::byte> full_;
};

// A slot is at its new place before it leaves the old one, or announced as on its way from the pool
// to a word; so there always is one, though each look at one of the places may find it gone. An
// offer that was taken served another lane, so it does not become a chunk again here.
TEST_F(last_slot, is_not_missed_while_it_goes_from_place_to_place) {
  simt::explorer three({3, 1}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    random_sequence random(seed);
    place at = random.below(2) == 0 ? word : chunk;
    arrive(at);
    bool out = false;
    const auto outcome = three.run(any_schedule(seed), [&] {
      if (simt::block_rank() != 0) {
        if (is_out()) out = true;
        return;
      }
      for (bool was_offered = false; !was_offered || (at == offer && random.below(2) == 0);) {
        for (std::uint32_t pause = random.below(16); pause != 0; --pause) simt::backoff(1);
        const bool one = random.below(2) == 0;
        const place next = at == word ? (one ? offer : chunk) : at == chunk && one ? offer : word;
        move(at, next);
        was_offered = was_offered || next == offer;
        at = next;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(out) << seed;
  }
}

// A lane proves that no chunk is left after the last one has gone, by which way the slot came to be
// on offer. A lane that believes it without a search must see the offer, too.
TEST_F(last_slot, is_not_missed_by_a_lane_that_believes_the_proof_of_another_one) {
  simt::explorer three({3, 1}, 20'000);
  bool out = false;
  const auto begin = [&] {
    restore();
    arrive(chunk);
    out = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      move(chunk, word);
      move(word, offer);
    } else if (simt::block_rank() == 1) {
      for (int looks = 0; looks < 4 && !parts().is_out(); ++looks) simt::backoff(1);
    } else {
      out = is_out();
    }
  };
  expect_in_schedules(
      three, 3 * schedules, begin, lane, [&] { return out; }, weak_schedule_with_priorities);
}

// The slot is offered before the last chunk is taken, and after the look at the offers. A lane that
// then proves that there is no chunk tells the first one, which knew of none, and which must look
// at the offers again. By loads, which a GPU serves where it serves the proof; in weak memory, they
// may return old values, since a hint of the proof does not synchronise (docs/null.md).
TEST_F(last_slot, is_not_missed_by_a_look_at_what_is_known) {
  simt::explorer three({3, 1}, 20'000);
  bool out = false;
  const auto begin = [&] {
    restore();
    arrive(chunk);
    out = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      move(chunk, offer);
    } else if (simt::block_rank() == 1) {
      parts().is_out();
    } else {
      out = exhaustion_of_class(parts(), of_).seem_out();
    }
  };
  expect_in_schedules(
      three, schedules, begin, lane, [&] { return out; }, any_sequential_schedule);
}

// Whichever lane looks for all of them.
TEST_F(last_slot, is_known_to_the_lane_that_offered_it_if_another_one_looks) {
  simt::explorer warp({1, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    bool out = false;
    const auto outcome = warp.run(any_schedule(seed), [&] {
      if (simt::lane_id() == 1) arrive(offer);
      const bool came = exhaustion_of_class(parts(), of_).are_out();
      if (simt::lane_id() == 1) out = came;
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(out) << seed;
  }
}

TEST_F(last_slot, is_known_to_the_lane_that_gave_its_chunk_if_another_one_chooses_for_it) {
  using growth = warpheap_class_growth<small_chunks>;
  simt::explorer warp({1, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    growth::step came{};
    const auto outcome = warp.run(any_schedule(seed), [&] {
      if (simt::lane_id() == 1) arrive(chunk);
      const growth::step next = growth(parts(), of_).choose(0);
      if (simt::lane_id() == 1) came = next;
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_NE(came, growth::step::none_left) << seed;
  }
}

// A lane that is told to look again sees what the one that listed the word did before.
TEST_F(last_slot, is_seen_by_all_members_in_a_word_that_their_leader_has_seen_listed) {
  simt::explorer warps({2, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    std::uint32_t done = 0;
    bool is_old = false;
    const auto outcome = warps.run(any_schedule(seed), [&] {
      const simt::atomic_ref did(done);
      if (simt::block_rank() == 0) {
        for (int looks = 0; looks < 8; ++looks) {
          if (!exhaustion_of_class(parts(), of_).has_listed()) continue;
          if (did.load(simt::order::relaxed) == 0) is_old = true;
          break;
        }
      } else if (simt::lane_id() == 0) {
        did.store(1, simt::order::relaxed);
        parts().list(0, 0);
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(is_old) << seed;
  }
}

// The proof that a class is out counts on that.
TEST_F(last_slot, is_counted_before_its_word_loses_the_mark_whichever_lane_counts) {
  simt::explorer warps({2, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    bool uncounted = false;
    const auto outcome = warps.run(any_schedule(seed), [&] {
      const auto lane = static_cast<std::uint32_t>(simt::lane_id());
      if (simt::block_rank() == 0) {
        // Several slots of a word are never on offer.
        warpheap_word_marks<small_chunks>::find_again(parts(), of_, 0, lane, 3, 3);
        return;
      }
      for (int looks = 0; looks < 20; ++looks) {
        if (small::supply::chunks_type::is_marked(parts().chunks().word(0, lane))) continue;
        if (parts().classes().are_marked_now(of_)) uncounted = true;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(uncounted) << seed;
  }
}

// A request is refused if the slot was offered just before it would wait, for that offer is taken
// to be another one's. One that ends the wait serves it.
TEST_F(last_slot, serves_a_request_that_has_waited_for_an_offer) {
  simt::explorer two({2, 1}, 20'000);
  std::uint64_t refused = 0;
  std::uint64_t served = 0;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    const auto outcome = two.run({simt::strategy::uniform, seed}, [&] {
      if (simt::block_rank() == 1) {
        random_sequence random(seed);
        for (std::uint32_t pause = random.below(32); pause != 0; --pause) simt::backoff(1);
        warpheap_slot_frees<small_chunks>(parts()).run_alone(of_, 0, 0, 0);
        return;
      }
      const auto came = warpheap_scarce_search<small_chunks>(parts(), of_).take();
      if (came.got.chunk != small::supply::none) {
        ++served;
      } else if (!came.is_open) {
        ++refused;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
  }
  EXPECT_GT(served, refused);
}

TEST_F(last_slot, is_free_when_its_lane_has_freed_it_if_another_one_frees_both) {
  simt::explorer warp({1, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    bool in_use = false;
    const auto outcome = warp.run(any_schedule(seed), [&] {
      const auto slot = static_cast<std::uint32_t>(simt::lane_id());
      warpheap_slot_frees<small_chunks>(parts()).run(simt::warp(), of_, 0, 0, slot);
      const std::uint64_t used = small::supply::chunks_type::used_of(parts().chunks().word(0, 0));
      if ((used >> slot & 1) != 0) in_use = true;
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(in_use) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
