// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// What is left of a run serves the next lane of a team that searches all chunks, before the team
// goes on to another run.
TEST(reg_eff_search, lanes_together_share_a_run) {
  const heap<reg_eff<reg_eff_config{.offsets = memory_offsets::one, .presplit_bytes = 0}>> subject(
      machine(), 64_KiB);
  constexpr std::size_t bytes = 400;
  std::byte* run = nullptr;
  std::array<std::byte*, 2> got{};
  machine().launch({1, 1}, [&, all = subject.ref()] {
    // Far more short runs than a lane visits on its own, and two longer ones behind them.
    std::vector<void*> small;
    for (int i = 0; i < 400; ++i) small.push_back(all.malloc(8));
    run = static_cast<std::byte*>(all.malloc(3 * bytes));
    all.malloc(8);
    void* const other_run = all.malloc(3 * bytes);
    while (all.malloc(8) != nullptr) {
    }
    all.free(run);
    all.free(other_run);
    for (std::size_t i = 0; i < small.size(); i += 2) all.free(small[i]);
  });
  machine().launch({1, 2}, [&, all = subject.ref()] {
    got.at(simt::thread_rank()) = static_cast<std::byte*>(all.malloc(bytes));
  });
  for (const std::byte* const block : got) {
    EXPECT_GE(block, run);
    EXPECT_LT(block, run + 3 * bytes);
  }
}

// There are 64 places in this heap, and three lanes divide them among themselves.
TEST(reg_eff_search, lanes_together_examine_the_last_place) {
  const heap<reg_eff<reg_eff_config{.offsets = memory_offsets::one, .presplit_bytes = 0}>> subject(
      machine(), 64 * 1024 + 3072);
  std::array<std::byte*, 3> got{};
  void* run = nullptr;
  machine().launch({1, 1}, [&, all = subject.ref()] {
    std::vector<void*> small;
    while (void* const block = all.malloc(8)) small.push_back(block);
    std::sort(small.begin(), small.end());
    // Far more short runs than a lane visits on its own, and a longer one at the end.
    for (std::size_t i = 0; i < 400; i += 2) all.free(small[i]);
    run = small[small.size() - 30];
    for (std::size_t i = small.size() - 30; i < small.size(); ++i) all.free(small[i]);
  });
  machine().launch({1, 3}, [&, all = subject.ref()] {
    got.at(simt::thread_rank()) = static_cast<std::byte*>(all.malloc(400));
  });
  EXPECT_EQ(std::count(got.begin(), got.end(), nullptr), 2);
  EXPECT_EQ(std::count(got.begin(), got.end(), run), 1);
}

// A lane that searches all chunks goes no further when it has lost several to others. It has not
// seen then that nothing is left, though what others took leaves nothing over, and so comes and
// goes unnoticed.
TEST(reg_eff_search, what_a_lane_has_not_come_to_is_not_known_to_be_taken) {
  using subject_type =
      reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .presplit_bytes = 0}>;
  constexpr std::size_t bytes = 400;
  constexpr int holes = 30;
  const rubbish memory(32_KiB);
  const subject_type all(memory.all(), machine().properties(), {});
  simt::explorer four({4, 1}, 200'000);
  four.run({simt::strategy::sticky, 1}, [&] {
    if (simt::block_rank() != 0) return;
    all.format(0, 1);
    std::vector<void*> freed;
    // Far more short runs than a lane visits on its own, and then those that are long enough.
    for (int i = 0; i < 100; ++i) {
      freed.push_back(all.malloc(8));
      all.malloc(8);
    }
    for (int i = 0; i < holes; ++i) {
      freed.push_back(all.malloc(bytes));
      all.malloc(8);
    }
    while (all.malloc(8) != nullptr) {
    }
    for (void* const block : freed) all.free(block);
  });
  // All but one lane begin where the long ones are.
  four.run({simt::strategy::sticky, 1}, [&] {
    if (simt::block_rank() != 0) all.malloc(bytes);
  });
  const std::vector<std::byte> state = memory.contents();
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    std::copy(state.begin(), state.end(), memory.all().base);
    int served = 0;
    const auto outcome = four.run({simt::strategy::uniform, seed}, [&] {
      // About as long as the other one needs to search by itself. Mistakes were met within 100.
      std::uint32_t pause = simt::block_rank() == 0 ? 0 : 400 + random_sequence(seed).below(200);
      for (; pause != 0; --pause) simt::backoff(1);
      for (int i = simt::block_rank() == 0 ? 1 : 7; i != 0; --i) {
        if (all.malloc(bytes) != nullptr) ++served;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_EQ(served, 22) << seed;
    machine().launch({1, 1}, [&] { EXPECT_NE(all.malloc(bytes), nullptr) << seed; });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
