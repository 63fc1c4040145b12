// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Of all pages, one is not full: it has a block of `bytes`, which a lane frees while another one
/// wants a chunk of a size that this page does not suit until it is empty.
void expect_an_emptied_page_to_be_found(std::size_t bytes) {
  const rubbish memory(4_KiB);
  const small subject(memory.all(), machine().properties(), {});
  void* freed = nullptr;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    while (void* const block = subject.malloc(256)) freed = block;
    while (subject.malloc(100) != nullptr) {
    }
    subject.free(freed);
    freed = subject.malloc(bytes);
  });
  ASSERT_NE(freed, nullptr);
  const std::vector<std::byte> full = memory.contents();
  int refused = 0;
  simt::explorer two({2, 1}, 10'000);
  for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    void* got = nullptr;
    const simt::schedule order{seed % 2 == 0 ? simt::strategy::pct : simt::strategy::sticky, seed,
                               simt::memory_model::weak};
    const auto outcome = two.run(order, [&] {
      if (simt::block_rank() == 0) {
        subject.free(freed);
      } else {
        got = subject.malloc(100);
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    if (got != nullptr) continue;
    ++refused;
    machine().launch({1, 1}, [&] { ASSERT_NE(subject.malloc(100), nullptr) << "seed " << seed; });
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 100);
}

// A lane that frees a page sees in weak memory, too, that another lane had announced a search
// before it looked at the page, and withdraws what that one finds.
TEST(scatter_exhaustion, no_search_makes_a_page_be_missed_that_was_freed_behind_it) {
  expect_an_emptied_page_to_be_found(256);
}
TEST(scatter_exhaustion, no_search_makes_a_page_be_missed_whose_last_chunk_was_freed_behind_it) {
  expect_an_emptied_page_to_be_found(16);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
