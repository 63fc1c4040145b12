// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"
#include "conformance/warp_heaps_kernels.hpp"

#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <class M>
class warp_heap_fixture : public ::testing::Test {
 public:
  using heap_type = heap<M>;
  using warp_heap = typename M::warp_heap;
  static constexpr std::uint64_t threads = race_checked ? 256 : 1024;

  static std::shared_ptr<heap_type> make_heap() {
    const std::size_t mib = race_checked || small_run ? 2 : 16;
    return std::make_shared<heap_type>(machine(), mib << 20);
  }

  /// Blocks that lanes have taken from the warp heaps that they have made, `each` a lane.
  struct taken {
    std::vector<warp_heap> heaps;
    holding held;
  };
  static taken take(const heap_type& from, std::uint64_t bytes, std::uint32_t each,
                    bool in_branches = false) {
    const device_array<warp_heap> heaps(threads);
    const device_array<void*> blocks(threads * each);
    machine().launch(covering(threads), begin_and_take<M>{from.ref(), bytes, each, in_branches,
                                                          heaps.get(), blocks.get()});
    return {heaps.read(), {std::vector<std::uint64_t>(threads * each, bytes), blocks.read()}};
  }

  /// A later launch checks the contents and ends all warp heaps.
  static void end(const heap_type& of, const taken& all) {
    const device_array<warp_heap> heaps(all.heaps);
    const device_array<void*> blocks(all.held.blocks);
    const device_array<tally> found(1);
    const auto each = static_cast<std::uint32_t>(all.held.blocks.size() / threads);
    machine().launch(covering(threads), check_and_end<M>{of.ref(), all.held.bytes[0], each,
                                                         heaps.get(), blocks.get(), found.get()});
    EXPECT_EQ(found.read()[0].corrupted, 0u) << "blocks lost their contents";
  }

  static std::uint64_t nulls(const holding& held) {
    return static_cast<std::uint64_t>(std::count(held.blocks.begin(), held.blocks.end(), nullptr));
  }

  static void expect_empty(const heap_type& of) {
    const validation result = of.validate();
    EXPECT_TRUE(result.ok()) << result.describe();
    EXPECT_EQ(of.stats().blocks_in_use, 0u);
  }
};

/// The suite of heaps of warps.
struct warp_heaps {
  template <class M>
  static constexpr bool models = warp_heap_manager<M>;
  template <class M>
  using fixture = warp_heap_fixture<M>;
};

CONFORMANCE_TEST(warp_heaps, blocks_are_disjoint_and_outlive_the_launch) {
  for (const bool in_branches : {false, true}) {
    for (const std::uint64_t bytes : {1, 16, 40, 128}) {
      SCOPED_TRACE("blocks of " + std::to_string(bytes) + " bytes");
      const auto heap = this->make_heap();
      const auto all = this->take(*heap, bytes, 3, in_branches);
      EXPECT_EQ(this->nulls(all.held), 0u) << "there is memory for all";
      expect_disjoint(all.held, TypeParam::about.alignment);
      this->end(*heap, all);
      this->expect_empty(*heap);
      EXPECT_EQ(heap->stats().failures, 0u);
    }
  }
}

CONFORMANCE_TEST(warp_heaps, the_end_of_a_warp_heap_frees_all_of_it) {
  const auto heap = this->make_heap();
  const device_array<tally> found(1);
  // More in all than there is, less at a time.
  machine().launch(covering(this->threads),
                   begin_and_end<TypeParam>{heap->ref(), 64, 4, 64, false, found.get()});
  EXPECT_EQ(found.read()[0].nulls, 0u) << "memory was lost";
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(warp_heaps, a_warp_heap_that_is_tidied_up_is_as_good_as_new) {
  const auto heap = this->make_heap();
  const device_array<tally> found(1);
  machine().launch(covering(this->threads),
                   begin_and_end<TypeParam>{heap->ref(), 64, 4, 64, true, found.get()});
  EXPECT_EQ(found.read()[0].nulls, 0u) << "memory was lost";
  EXPECT_EQ(found.read()[0].corrupted, 0u) << "memory was freed too early";
  this->expect_empty(*heap);
}

// Generations, and whatever else counts how often a warp heap began, ended or was tidied up.
CONFORMANCE_TEST(warp_heaps, they_begin_and_end_beyond_two_to_the_sixteenth_time) {
  for (const bool tidies_up : {false, true}) {
    const auto heap = this->make_heap();
    const device_array<tally> found(1);
    const std::uint32_t rounds = sanitized || WARPHEAP_CUDA_MODEL || small_run ? 300 : 66'000;
    machine().launch({1, 2},
                     begin_and_end<TypeParam>{heap->ref(), 64, 1, rounds, tidies_up, found.get()});
    EXPECT_EQ(found.read()[0].nulls, 0u) << "memory was lost";
    EXPECT_EQ(found.read()[0].corrupted, 0u) << "memory was freed too early";
    this->expect_empty(*heap);
  }
}

CONFORMANCE_TEST(warp_heaps, lanes_that_end_early_keep_no_lane_waiting) {
  const auto heap = this->make_heap();
  const device_array<tally> found(1);
  machine().launch(covering(this->threads), leave_one_by_one<TypeParam>{heap->ref(), found.get()});
  EXPECT_EQ(found.read()[0].nulls, 0u);
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(warp_heaps, memory_that_runs_out_is_back_with_the_end) {
  const auto heap = this->make_heap();
  const auto take_all = [&](const simt::grid& lanes) {
    const device_array<tally> found(1);
    machine().launch(lanes, take_all_and_end<TypeParam>{heap->ref(), 256, found.get()});
    const tally seen = found.read()[0];
    EXPECT_EQ(seen.corrupted, 0u);
    return seen.blocks;
  };
  // How many blocks many warps get depends on who ends before others begin; one lane has a number.
  const std::uint64_t alone = take_all({1, 1});
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t before = heap->stats().failures;
    EXPECT_GT(take_all(covering(this->threads)), 0u);
    EXPECT_GE(heap->stats().failures, before + this->threads) << "memory did not run out";
    EXPECT_EQ(heap->stats().impossible, 0u);
    this->expect_empty(*heap);
    EXPECT_EQ(take_all({1, 1}), alone) << "memory was lost";
  }
}

CONFORMANCE_TEST(warp_heaps, requests_that_make_no_sense_get_null) {
  const auto heap = this->make_heap();
  const device_array<tally> found(1);
  machine().launch({1, 32}, ask_for_nonsense<TypeParam>{heap->ref(), found.get()});
  EXPECT_EQ(found.read()[0].nulls, 4u * 32);
  EXPECT_EQ(heap->stats().impossible, 2u * 32);
  EXPECT_EQ(heap->stats().last_impossible_bytes, SIZE_MAX);
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
