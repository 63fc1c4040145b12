// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scope that is too narrow: in the CPU model every atomic reaches the whole device, so no value
// is ever wrong, and the word itself must say who can reach it.
#include "planted.hpp"

#include "warpheap/simt/cpu/device.hpp"
#include "warpheap/simt/simt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using enum simt::order;
using ::testing::HasSubstr;

constexpr simt::grid two_blocks{
    .blocks = 2, .threads_per_block = 2, .shared_bytes = 2 * sizeof(std::uint32_t)};

/// Counts itself with the scope of its block. \pre lanes of that block alone can reach the word
void count(std::uint32_t& lanes) {
  simt::block_atomic_ref<std::uint32_t>(lanes).fetch_add(1, relaxed);
}

/// The word number `i` of the block's own.
std::uint32_t& own_word(std::size_t i) {
  return reinterpret_cast<std::uint32_t*>(simt::block_shared())[i];
}

/// What a schedule of two blocks is stuck on whose lanes run `lane()`.
template <class Lane>
std::string finding(simt::memory_model memory, const Lane& lane, std::string* trace = nullptr) {
  simt::explorer explorer(two_blocks, 2000);
  return explorer.run({simt::strategy::uniform, 1, memory}, lane, trace).stuck;
}

TEST(planted_scope, an_atomic_of_block_scope_on_a_word_of_all_blocks_is_a_finding) {
  for (const auto memory : {sequential, weak}) {
    std::uint32_t lanes = 0;
    std::string trace;
    const std::string found = finding(
        memory, [&] { count(lanes); }, &trace);
    EXPECT_THAT(found, HasSubstr("an atomic of block scope on a word outside block-shared memory"));
    EXPECT_THAT(trace, HasSubstr("an atomic of block scope"));
    EXPECT_EQ(lanes, 0u) << "the schedule ends there";
  }
}

TEST(planted_scope, the_last_word_of_a_block_is_its_own_and_the_next_one_is_not) {
  for (const auto memory : {sequential, weak}) {
    EXPECT_EQ(finding(memory, [] { count(own_word(1)); }), "");
    EXPECT_THAT(finding(memory, [] { count(own_word(2)); }), HasSubstr("outside block-shared"));
    EXPECT_THAT(finding(memory, [] { count(*(&own_word(0) - 1)); }),
                HasSubstr("outside block-shared"));
  }
}

TEST(planted_scope, an_explorer_goes_on_after_such_a_finding) {
  simt::explorer explorer(two_blocks, 2000);
  std::uint32_t lanes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const simt::schedule order{simt::strategy::uniform, seed, weak};
    EXPECT_NE(explorer.run(order, [&] { count(lanes); }).stuck, "");
    EXPECT_EQ(explorer.run(order, [] { count(own_word(0)); }).stuck, "");
  }
}

struct count_in {
  std::uint32_t* lanes;
  void operator()() const { count(lanes != nullptr ? *lanes : own_word(0)); }
};

TEST(planted_scope, outside_the_explorer_it_is_a_precondition) {
  const auto cpu = simt::device::cpu({.workers = 1});
  cpu.launch(two_blocks, count_in{nullptr});
  std::uint32_t of_all_blocks = 0;
#if defined(NDEBUG)
  cpu.launch(two_blocks, count_in{&of_all_blocks});
  EXPECT_EQ(of_all_blocks, 4u) << "a release build checks nothing";
#else
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(cpu.launch(two_blocks, count_in{&of_all_blocks}), "does not: .*is_block_shared");
#endif
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
