// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a request looks that finds nothing, and has no proof that there is nothing.
#include "machine.hpp"
#include "refusal_steps.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Steps of a request to a full heap of which a word counts as unmarked, as if another lane was
/// about to list it. \param undisturbed how often it looks while no lane frees \param frees before
template <int Undisturbed>
std::uint64_t steps_of_a_search(int frees) {
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
  });
  return steps({1, 1}, [&] { EXPECT_EQ(subject.malloc(16), nullptr); });
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
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
