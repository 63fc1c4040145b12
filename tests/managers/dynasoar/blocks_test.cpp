// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/managers/dynasoar/dynasoar.hpp"
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

// A lane takes a slot of a block that has changed its type since it looked. It gives it back as one
// of the new type: afterwards, each slot of the block serves a request, and the block becomes free
// again.
TEST(dynasoar_blocks, a_slot_of_another_type_goes_back_to_that_type) {
  // A block has four slots of 16 bytes, two of 32, or one of 64.
  using subject_type = dynasoar<dynasoar_config{.smallest_bytes = 16, .slots = 4}>;
  const rubbish memory(1152 + 2 * 64);
  const subject_type subject(memory.all(), machine().properties(), {});
  void* held = nullptr;
  // All blocks but one stay in use.
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<void*> all;
    while (void* const block = subject.malloc(64)) all.push_back(block);
    subject.free(all.back());
    held = subject.malloc(16);
  });
  ASSERT_NE(held, nullptr);
  const std::vector<std::byte> one_free = memory.contents();
  simt::explorer two({2, 1}, 10'000);
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    std::copy(one_free.begin(), one_free.end(), memory.all().base);
    std::array<void*, 3> got{};
    const bool is_freed_again = seed % 4 < 2;
    const simt::schedule order{seed % 2 == 0 ? simt::strategy::pct : simt::strategy::sticky, seed};
    const auto outcome = two.run(order, [&] {
      if (simt::block_rank() == 0) {
        got[0] = subject.malloc(16);
      } else {
        subject.free(held);
        got[1] = subject.malloc(32);
        if (is_freed_again && got[1] != nullptr) {
          subject.free(got[1]);
          got[1] = nullptr;
        }
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    machine().launch({1, 1}, [&] {
      if (got[1] != nullptr) {
        got[2] = subject.malloc(32);
        EXPECT_NE(got[2], nullptr) << "seed " << seed;
      }
      for (void* const block : got) {
        if (block != nullptr) subject.free(block);
      }
      EXPECT_NE(subject.malloc(64), nullptr) << "seed " << seed;
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
