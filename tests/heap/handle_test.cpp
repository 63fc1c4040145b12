// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the door to a manager answers itself, and what it never lets through.
#include "device_array.hpp"
#include "rubbish.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/bump/bump.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"
#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using one_counter = bump<bump_config{.counters = bump_counters::one}>;

// Which contract a manager models decides what its handle offers.
static_assert(any_size_manager<one_counter> && !page_manager<one_counter>);
static_assert(page_manager<rw<>> && !any_size_manager<rw<>>);
static_assert(page_manager<counted<rw<>>>, "a layer is what the manager behind it is");
static_assert(scope_of<rw<>> == allocation_scope::page);
static_assert(measures_blocks<rw<>> && !measures_blocks<one_counter>);
template <class H>
concept offers_realloc = requires(const H h, void* block) {
  h.realloc(block, 1);
};
template <class H>
concept offers_warp_heaps = requires(const H h) {
  h.begin();
};
template <class H>
concept offers_alignment = requires(const H h) {
  h.aligned_malloc(64, 1);
};
static_assert(offers_realloc<handle<rw<>>> && !offers_realloc<handle<one_counter>>);
static_assert(!offers_warp_heaps<handle<rw<>>> && !offers_alignment<handle<rw<>>>);
static_assert(!usable_manager<int>);

// The default is what one gets without a word.
static_assert(
    std::is_same_v<decltype(warpheap::heap{machine(), 1})::manager_type, default_manager>);
static_assert(std::is_same_v<heap<>::ref_type, heap_ref>);

struct point {
  std::uint64_t x;
  using fields = field_list<&point::x>;
};

TEST(handle, host_code_that_allocates_gets_an_error_and_no_crash) {
  const heap<rw_malloc<>> subject(machine(), 1_MiB);
  EXPECT_THROW(subject.ref().malloc(16), invalid_argument);
  EXPECT_THROW(subject.ref().free(nullptr), invalid_argument);
  EXPECT_EQ(subject.ref().largest_block(), subject.largest_block());
}

TEST(handle, host_code_gets_the_same_error_from_whatever_only_lanes_can_do) {
  const heap<> blocks(machine(), 1_MiB);
  EXPECT_THROW(blocks.ref().usable_size(nullptr), invalid_argument);
  EXPECT_THROW(blocks.ref().grow(simt::group(simt::lane_mask{1}), 4_KiB), invalid_argument);
  const heap<fdg_malloc<>> warp_heaps(machine(), 1_MiB);
  EXPECT_THROW(warp_heaps.ref().begin(), invalid_argument);
  const heap<dynasoar_objects<type_list<point>>> objects(machine(), 1_MiB);
  EXPECT_THROW(objects.ref().make<point>(point{7}), invalid_argument);
}

TEST(handle, the_counts_of_failures_have_no_bytes_that_nobody_writes) {
  // The host copies all of them.
  EXPECT_TRUE(std::has_unique_object_representations_v<failure_counts>);
}

TEST(handle, the_largest_block_is_that_of_the_options_and_of_the_heap) {
  EXPECT_EQ((heap<rw_malloc<>>(machine(), 16_MiB).largest_block()), 8_KiB);
  EXPECT_LT((heap<rw_malloc<>>(machine(), 6_KiB).largest_block()), 6_KiB);
  EXPECT_EQ((heap<rw<>>(machine(), 1_MiB, {.page_bytes = 48}).largest_block()), 48u);
  EXPECT_EQ((heap<counted<rw<>>>(machine(), 1_MiB, {.page_bytes = 48}).largest_block()), 48u);
}

template <class Handle>
struct ask_for {
  Handle from;
  std::uint64_t bytes;
  WARPHEAP_DEVICE void operator()() const { from.malloc(bytes); }
};

TEST(handle, impossible_requests_are_not_taken_for_exhaustion) {
  const heap<rw_malloc<>> subject(machine(), 1_MiB);
  machine().launch({1, 100}, ask_for<handle<rw_malloc<>>>{subject.ref(), 8_KiB + 1});
  heap_stats stats = subject.stats();
  EXPECT_EQ(stats.failures, 0u);
  EXPECT_EQ(stats.impossible, 100u);
  EXPECT_EQ(stats.last_impossible_bytes, 8_KiB + 1);
  machine().launch({10, 100}, ask_for<handle<rw_malloc<>>>{subject.ref(), 8_KiB});
  stats = subject.stats();
  EXPECT_GT(stats.failures, 800u);
  EXPECT_EQ(stats.last_failed_bytes, 8_KiB);
  EXPECT_EQ(stats.impossible, 100u);
}

TEST(handle, calls_are_counted_behind_a_layer) {
  const heap<counted<rw_malloc<>>> subject(machine(), 1_MiB);
  using handle_type = decltype(subject)::ref_type;
  machine().launch({1, 100}, ask_for<handle_type>{subject.ref(), 40});
  const heap_stats stats = subject.stats();
  ASSERT_TRUE(stats.calls.has_value());
  EXPECT_EQ(stats.calls->mallocs, 100u);
  EXPECT_EQ(stats.calls->frees(), 0u);
  EXPECT_EQ(stats.calls->live_bytes, 4000u);
  EXPECT_EQ(stats.calls->peak_blocks, 100u);
  EXPECT_FALSE((heap<rw_malloc<>>(machine(), 1_MiB).stats().calls.has_value()));
}

TEST(handle, a_pointer_just_behind_the_region_is_not_counted) {
  const rubbish memory(1_MiB);
  const counted<rw_malloc<>> subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  machine().launch({1, 1}, [&] { subject.free(memory.all().base + memory.all().bytes); });
  EXPECT_EQ(subject.counts()->live_blocks, 0u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
