// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A set of `lanes` lanes of a warp; `kind` says which.
inline std::uint32_t lanes_of(int lanes, int kind, random_sequence& random) {
  const auto low = low_bits<std::uint32_t>(lanes);
  switch (kind) {
    case 0:
      return low;
    case 1:
      return low << (32 - lanes);
    case 2: {  // every second lane first
      std::uint32_t mask = 0;
      for (int i = 0; i < lanes; ++i) mask |= 1u << (i < 16 ? 2 * i : 2 * (i - 16) + 1);
      return mask;
    }
    default: {
      std::uint32_t mask = 0;
      while (popcount(mask) < lanes) mask |= 1u << random.below(32);
      return mask;
    }
  }
}

/// For each thread of warps with 1..32 calling lanes in several patterns, the branch that it calls
/// in: `first` for the lanes of the pattern, `second` for the others.
inline std::vector<std::uint32_t> branches(std::uint32_t first, std::uint32_t second,
                                           std::uint64_t seed) {
  random_sequence random(seed);
  std::vector<std::uint32_t> branch;
  for (int kind = 0; kind < 5; ++kind) {
    for (int lanes = 1; lanes <= 32; ++lanes) {
      const std::uint32_t mask = lanes_of(lanes, kind, random);
      for (int lane = 0; lane < 32; ++lane) {
        branch.push_back((mask >> lane & 1) != 0 ? first : second);
      }
    }
  }
  return branch;
}

/// Takes in `taking` branches and frees in `giving` ones. A lane that is in no branch when it
/// should free does so in a later launch.
template <class M, class Fixture>
void take_and_give_in_branches(Fixture& test, const std::vector<std::uint32_t>& taking,
                               const std::vector<std::uint32_t>& giving) {
  const auto most = static_cast<std::uint32_t>(served<M>(512));
  const auto heap = test.make_heap(most);
  const auto count = taking.size();
  std::vector<std::uint64_t> sizes(count);
  random_sequence random(Fixture::seed);
  for (auto& bytes : sizes) bytes = 1 + random.below(most);
  const device_array<std::uint64_t> bytes(sizes);
  const device_array<std::uint32_t> take_branch(taking);
  const device_array<void*> blocks(count);
  const device_array<tally> found(1);
  machine().launch(covering(count), allocate_in_branches<handle<M>>{heap->ref(), take_branch.get(),
                                                                    bytes.get(), blocks.get()});
  holding held{sizes, blocks.read()};
  std::uint64_t callers = 0;
  for (std::size_t i = 0; i < count; ++i) {
    callers += taking[i] != 0;
    ASSERT_EQ(held.blocks[i] != nullptr, taking[i] != 0) << "thread " << i;
  }
  expect_disjoint(held, M::about.alignment);
  test.expect_valid(*heap);
  test.expect_in_use(*heap, callers);

  const device_array<std::uint32_t> give_branch(giving);
  machine().launch(covering(count),
                   free_in_branches<handle<M>>{heap->ref(), give_branch.get(), bytes.get(),
                                               blocks.get(), found.get()});
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  for (std::size_t i = 0; i < count; ++i) {
    if (giving[i] != 0) held.blocks[i] = nullptr;
  }
  test.give(*heap, held);
  test.expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, any_number_of_lanes_may_call_together) {
  take_and_give_in_branches<TypeParam>(*this, branches(1, 0, this->seed),
                                       branches(1, 0, this->seed + 1));
}

CONFORMANCE_TEST(conformance, lanes_may_call_from_several_branches) {
  take_and_give_in_branches<TypeParam>(*this, branches(1, 2, this->seed),
                                       branches(2, 1, this->seed + 1));
}

CONFORMANCE_TEST(conformance, lanes_may_call_in_loops_that_others_have_left) {
  WARPHEAP_REQUIRE(TypeParam::about.frees, "frees of single blocks");
  take_and_give_in_branches<TypeParam>(*this, branches(3, 2, this->seed),
                                       branches(3, 1, this->seed + 1));
}

}  // namespace test
WARPHEAP_END_NAMESPACE
