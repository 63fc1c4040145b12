// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
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

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
