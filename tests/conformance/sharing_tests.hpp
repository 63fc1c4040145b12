// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

#include <functional>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

CONFORMANCE_TEST(conformance, any_lane_of_a_later_launch_may_free) {
  const std::uint64_t bytes = served<TypeParam>(80);
  const auto heap = this->make_heap(bytes);
  const auto sizes = this->requests(scale::current().threads, bytes);
  const auto count = static_cast<std::uint64_t>(sizes.size()) / 64 * 64;
  const std::function<std::uint64_t(std::uint64_t)> whose[]{
      [](std::uint64_t i) { return i; },                                // one's own
      [](std::uint64_t i) { return i ^ 1; },                            // the neighbour lane's
      [](std::uint64_t i) { return i ^ 32; },                           // the neighbour warp's
      [&](std::uint64_t i) { return count - 1 - i; },                   // the other end's
      [&](std::uint64_t i) { return i % 64 * (count / 64) + i / 64; },  // one lane's from far apart
  };
  for (const auto& owner_of : whose) {
    const holding held =
        this->take(*heap, {sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count)});
    EXPECT_TRUE(this->nulls(held) == 0 || TypeParam::about.reuse != memory_reuse::all);
    std::vector<std::uint64_t> order(count);
    for (std::uint64_t i = 0; i < count; ++i) order[i] = owner_of(i);
    this->give(*heap, held, order);
    this->expect_empty(*heap);
  }
}

CONFORMANCE_TEST(conformance, a_single_lane_may_free_what_all_have_taken) {
  const std::uint64_t bytes = served<TypeParam>(48);
  const auto heap = this->make_heap(bytes);
  const holding held = this->take(*heap, this->requests(200, bytes));
  const device_array<std::uint64_t> sizes(held.bytes);
  const device_array<void*> blocks(held.blocks);
  const device_array<tally> found(1);
  for (std::uint64_t i = 0; i < held.blocks.size(); ++i) {
    const device_array<std::uint64_t> whose(1, i);
    machine().launch({1, 1},
                     check_and_free<handle<TypeParam>>{heap->ref(), sizes.get(), blocks.get(),
                                                       whose.get(), 1, found.get()});
  }
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, lanes_of_the_same_launch_may_free_each_others_blocks) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  using exchange = exchange_blocks<handle<TypeParam>>;
  const auto most = static_cast<std::uint32_t>(served<TypeParam>(256));
  const auto heap = this->make_heap(most);
  // Few boxes, so that most blocks change hands; every launch meets what the last one left.
  for (const std::uint32_t box_count : {1u, 16u, 512u}) {
    const device_array<std::uint64_t> boxes(box_count);
    const device_array<tally> found(1);
    exchange lanes{heap->ref(),
                   {exchange::least_bytes, most},
                   scale::current().churn_rounds,
                   this->seed,
                   boxes.get(),
                   box_count,
                   found.get()};
    for (int launch = 0; launch < 2; ++launch) {
      ++lanes.seed;
      machine().launch(covering(scale::current().threads / 4), lanes);
    }
    machine().launch(covering(box_count), empty_boxes<handle<TypeParam>>{lanes});
    const tally seen = found.read()[0];
    EXPECT_EQ(seen.corrupted, 0u) << "seed " << this->seed;
    if (TypeParam::about.reuse == memory_reuse::all) {
      EXPECT_EQ(seen.nulls, 0u);
    }
    this->expect_empty(*heap);
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
