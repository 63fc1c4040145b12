// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = reg_eff<reg_eff_config{
    .offsets = memory_offsets::per_multiprocessor, .header_words = 2, .presplit_bytes = 64}>;

TEST(reg_eff_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(8 * 1024, {16, 40, 88},
                               {{1, {44, 2946}},
                                {2, {52, 1578}},
                                {3, {17, 612}},
                                {4, {6, 298}},
                                {5, {4, 95}},
                                {6, {4, 172}}});
}

// Offsets lie at the front of the heap, each in a cache line of its own.
TEST(reg_eff_damage, an_offset_at_the_terminator_is_found) {
  constexpr reg_eff_config config{.offsets = memory_offsets::per_multiprocessor};
  const rubbish memory(64_KiB);
  const reg_eff<config> manager(memory.all(), machine_of(2), {});
  manager.format(0, 1);
  const auto broken = [&] {
    inspection found;
    manager.inspect(0, 1, found);
    return found.violations[4];
  };
  EXPECT_EQ(broken(), 0u);
  reinterpret_cast<std::uint32_t*>(memory.all().base + 128)[0] = manager.chunks().end();
  EXPECT_EQ(broken(), 1u);
}

// What was counted when the heap was full, put back when it is not: behind the only offset.
TEST(reg_eff_damage, a_proof_of_exhaustion_that_is_wrong_is_found) {
  const rubbish memory(64_KiB);
  const reg_eff<> manager(memory.all(), machine_of(1), {});
  manager.format(0, 1);
  void* last = nullptr;
  machine().launch({1, 1}, [&, to = &last] {
    while (void* const block = manager.malloc(1000)) *to = block;
  });
  std::byte* const counts = memory.all().base + 128;
  const std::vector<std::byte> of_full(counts, counts + 256);
  const auto broken = [&] {
    inspection found;
    manager.inspect(0, 1, found);
    return found.violations[6];
  };
  EXPECT_EQ(broken(), 0u);
  machine().launch({1, 1}, [&] { manager.free(last); });
  EXPECT_EQ(broken(), 0u);
  std::copy(of_full.begin(), of_full.end(), counts);
  EXPECT_EQ(broken(), 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
