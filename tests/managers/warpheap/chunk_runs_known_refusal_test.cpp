// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane finds out by a search in vain, all lanes know from then on, whatever the heap's
// memory held before.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "refusal_steps.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_known_refusal, one_request_proves_that_there_is_no_run) {
  const rubbish memory(80_KiB);
  const small subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  constexpr std::size_t two_chunks = 512;
  machine().launch({1, 1}, [&] {
    while (subject.malloc(two_chunks) != nullptr) {
    }
    EXPECT_TRUE(subject.parts().whole().chunks.is_out(2));
  });
}

TEST(warpheap_known_refusal, it_is_proven_again_after_chunks_were_free) {
  const rubbish memory(80_KiB);
  const small subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  constexpr std::size_t two_chunks = 512;
  machine().launch({1, 1}, [&] {
    void* last = nullptr;
    while (void* const block = subject.malloc(two_chunks)) last = block;
    while (subject.malloc(16) != nullptr) {
    }
    EXPECT_TRUE(subject.parts().whole().seems_dry());
    subject.free(last);
    EXPECT_FALSE(subject.parts().whole().seems_dry());
    EXPECT_FALSE(subject.parts().whole().chunks.is_out(2));
    EXPECT_NE(subject.malloc(two_chunks), nullptr);
    EXPECT_EQ(subject.malloc(two_chunks), nullptr);
    EXPECT_TRUE(subject.parts().whole().chunks.is_out(2));
  });
}

// A run that is free and begins elsewhere proves nothing, and will not move.
TEST(warpheap_known_refusal, a_place_that_no_run_has_is_not_looked_for_again) {
  const rubbish memory(80_KiB);
  const small subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  constexpr std::size_t two_chunks = 512;
  std::vector<std::byte*> blocks;
  machine().launch({1, 1}, [&] {
    while (void* const block = subject.malloc(two_chunks)) {
      blocks.push_back(static_cast<std::byte*>(block));
    }
    const auto is_aligned = [](const std::byte* block) {
      return reinterpret_cast<std::uintptr_t>(block) % 2048 == 0;
    };
    const auto other = std::find_if_not(blocks.begin(), blocks.end(), is_aligned);
    ASSERT_NE(other, blocks.end());
    subject.free(*other);
  });
  const auto refused = [&] { EXPECT_EQ(subject.aligned_malloc(2048, two_chunks), nullptr); };
  EXPECT_LT(steps({1, 1}, refused), 200u) << "it looks again and again";
}

// A lane sees in weak memory, too, what was on offer before the last word of the class was marked.
TEST(warpheap_known_refusal, an_offer_from_before_the_last_mark_is_not_missed) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(16) != nullptr) {
    }
    EXPECT_TRUE(warpheap_class_exhaustion<small_chunks>(parts, of).is_out());
    parts.classes().count_unmarked(of, 1);
    parts.whole().chunks.format();
  });
  const std::vector<std::byte> full = memory.contents();
  simt::explorer two({2, 1}, 10'000);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    bool is_out = false;
    const simt::schedule order{simt::strategy::pct, seed, simt::memory_model::weak};
    const auto outcome = two.run(order, [&] {
      if (simt::block_rank() != 0) {
        is_out = warpheap_class_exhaustion<small_chunks>(parts, of).is_out();
      } else if (parts.offers().make(of, 0)) {
        parts.classes().count_marked(of, 1);
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(is_out) << seed;
  }
}

// Two lanes of a warp free a run each that lies in two words of the pool, while another lane finds
// that there is none but the first. In the end a lane alone is served what is left.
TEST(warpheap_known_refusal, ends_with_each_run_that_the_lanes_of_a_warp_free) {
  const rubbish memory(64_KiB);
  const small subject(memory.all(), machine().properties(), {});
  constexpr std::size_t one_chunk = 256;
  std::vector<std::byte*> across;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    auto* const first = static_cast<std::byte*>(subject.malloc(one_chunk));
    while (auto* const block = static_cast<std::byte*>(subject.malloc(2 * one_chunk))) {
      if ((block - first) / one_chunk % 64 == 63) across.push_back(block);
    }
    while (subject.malloc(16) != nullptr) {
    }
    subject.parts().whole().chunks.format();
  });
  ASSERT_GE(across.size(), 2u);
  const std::vector<std::byte> full = memory.contents();
  simt::explorer two({2, 2}, 100'000);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    int served = 0;
    const auto how = seed % 2 == 0 ? simt::strategy::pct : simt::strategy::uniform;
    const auto outcome = two.run({how, seed}, [&] {
      const auto lane = static_cast<std::size_t>(simt::lane_id());
      if (simt::block_rank() == 0) {
        subject.free(across[lane]);
      } else if (lane == 0) {
        for (int i = 0; i < 3; ++i) served += subject.malloc(2 * one_chunk) != nullptr ? 1 : 0;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    machine().launch({1, 1}, [&] {
      while (subject.malloc(2 * one_chunk) != nullptr) ++served;
    });
    ASSERT_EQ(served, 2) << seed;
  }
}

// Each claim that comes back may have been what a look has missed.
TEST(warpheap_known_refusal, a_run_is_not_looked_for_as_long_as_claims_come_back) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (subject.malloc(16) != nullptr) {
    }
    subject.parts().whole().chunks.format();  // so that it is not known
  });
  const auto claim_in_vain = [&] {
    subject.parts().begin_claim();
    for (int pauses = 0; pauses < 30; ++pauses) simt::backoff(1);
    subject.parts().end_claim(false);
  };
  const auto taken = steps_of_a_refusal([&] { return subject.malloc(512); }, claim_in_vain);
  EXPECT_GT(taken, 1000u) << "it looks several times";
  EXPECT_LT(taken, 10'000u);
}

// What a multiprocessor knows may stay as old as it is, so lanes that do nothing but ask would get
// null whatever others free.
TEST(warpheap_known_refusal, a_lane_that_asks_again_and_again_learns_of_a_chunk) {
  const rubbish memory(16_KiB);
  const small subject(memory.all(), machine().properties(), {});
  void* run = nullptr;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    run = subject.malloc(512);
    while (subject.malloc(16) != nullptr) {
    }
  });
  const std::vector<std::byte> full = memory.contents();
  simt::explorer two({2, 1}, 100'000);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    std::uint32_t freed = 0;
    bool is_served = false;
    const auto outcome = two.run(any_schedule(seed), [&] {
      const simt::atomic_ref done(freed);
      if (simt::block_rank() != 0) {
        subject.free(run);
        done.store(1, simt::order::release);
        return;
      }
      // Ends: the other lane waits for nothing, and pauses let it run.
      while (done.load(simt::order::relaxed) == 0) simt::backoff(100);
      for (int i = 0; i < 200 && !is_served; ++i) is_served = subject.malloc(16) != nullptr;
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_TRUE(is_served) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
