// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No run counts as gone because lanes that search together looked before the search was announced,
// or know of a claim of which their leader does not.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/chunk_runs.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap without free chunks, of which two that follow each other come, or come back: beyond what
/// the leader of two lanes looks at.
class far_run : public ::testing::Test {
 protected:
  far_run() {
    machine().launch({1, 1}, [this] {
      subject_.format(0, 1);
      for (std::uint32_t i = 0; i < parts().universe(); ++i) parts().pool().remove(i);
    });
    EXPECT_LT(far + 1, parts().universe());
  }
  const small::supply& parts() const { return subject_.parts(); }

  /// Two lanes of a warp want two chunks, and a lane of another warp does something to the pool:
  /// from the present state, in many orders.
  template <class Function>
  void expect_not_missed(const Function& other) {
    const std::vector<std::byte> state = memory_.contents();
    simt::explorer warps({2, 2}, 50'000);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      std::copy(state.begin(), state.end(), memory_.all().base);
      bool missed = false;
      const auto outcome = warps.run(any_schedule(seed), [&] {
        if (simt::block_rank() == 0) {
          warpheap_chunk_runs<small_chunks>(parts()).take({2});
        } else if (simt::lane_id() == 0) {
          random_sequence random(seed);
          for (std::uint32_t pause = random.below(32); pause != 0; --pause) simt::backoff(1);
          other();
          for (int looks = 0; looks < 20; ++looks) {
            if (is_missed()) missed = true;
          }
        }
      });
      ASSERT_EQ(outcome.stuck, "");
      machine().launch({1, 1}, [&] { missed = missed || is_missed(); });
      ASSERT_FALSE(missed) << seed;
    }
  }

  /// The leader looks at the first 256 chunks.
  static constexpr std::uint32_t far = 300;

 private:
  /// Whether the run counts as gone, and is still there: nothing puts it back if it is taken.
  bool is_missed() const {
    constexpr std::uint64_t both = std::uint64_t{3} << far % 64;
    return parts().whole().chunks.is_out(2) &&
           (parts().pool().examine_word(far / 64) & both) == both;
  }

  // Mistakes were met within 30.
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 3000;
  const rubbish memory_{128_KiB};
  const small subject_{memory_.all(), machine().properties(), {}};
};

TEST_F(far_run,
       that_comes_before_the_search_is_announced_is_seen_by_those_who_look_for_the_leader) {
  expect_not_missed([this] {
    parts().pool().insert(far);
    parts().pool().insert(far + 1);
    parts().released();
  });
}

// As by a lane that claims a longer run and loses the rest of it.
TEST_F(far_run, that_a_lane_has_in_hand_is_known_to_the_leader_if_a_member_has_missed_it) {
  machine().launch({1, 1}, [this] {
    parts().pool().insert(far);
    parts().pool().insert(far + 1);
  });
  expect_not_missed([this] {
    for (int claims = 8; claims != 0; --claims) {
      parts().begin_claim();
      const bool won = parts().pool().remove(far + 1);
      for (int pause = 8; pause != 0; --pause) simt::backoff(1);
      if (won) parts().pool().insert(far + 1);
      parts().end_claim(false);
    }
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
