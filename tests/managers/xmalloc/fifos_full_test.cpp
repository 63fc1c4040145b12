// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

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

// Two lanes free blocks of a Superblock that has no other free one, while the list of both is full.
// The one that then owns the Superblock hides what the other has freed, until it has put it into
// its FIFO. Two more lanes empty the list meanwhile: there is a block for each. Not in weak memory,
// where a lane need not see yet what others have moved.
TEST(xmalloc_lists, what_is_freed_while_they_are_full_is_not_missed) {
  constexpr std::size_t bytes = 48;
  const rubbish memory(12 * 1024 + 512);
  const small subject(memory.all(), machine().properties(), {});
  std::array<std::byte*, 2> freed{};
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    std::vector<std::byte*> all;
    while (void* const block = subject.malloc(bytes)) all.push_back(static_cast<std::byte*>(block));
    std::sort(all.begin(), all.end());
    std::size_t first = 0;  // of a Superblock: its blocks lie side by side
    while (all.at(first + 2) - all.at(first) != 2 * 64) ++first;
    freed = {all[first], all[first + 1]};
    for (std::size_t i : {first + 3, first + 4}) subject.free(all.at(i));
  });
  const std::vector<std::byte> full = memory.contents();
  simt::explorer four({4, 1}, 10'000);
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    std::array<void*, 4> got{};
    const simt::schedule order{seed % 2 == 0 ? simt::strategy::pct : simt::strategy::sticky, seed};
    const auto outcome = four.run(order, [&] {
      // Every second multiprocessor has the same list.
      const std::uint32_t block = simt::block_rank();
      if (block % 2 == 0) subject.free(freed.at(block / 2));
      got.at(block) = subject.malloc(bytes);
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_EQ(std::count(got.begin(), got.end(), nullptr), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
