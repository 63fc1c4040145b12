// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Managers of a few lines show that the suites are real: the right ones pass, and each mistake
// fails a test.
#include "conformance/reference/aligned_bump.hpp"
#include "conformance/reference/object_slots.hpp"
#include "conformance/reference/page_slots.hpp"
#include "conformance/reference/warp_arenas.hpp"

#include "conformance/objects_kernels.hpp"
#include "conformance/traits.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <slot_fault Fault>
using slots_with = object_slots<type_list<small_object, large_object>, Fault>;

template <>
struct manager_traits<warp_arenas<>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // A warp heap is one arena, behind its words.
    return {{16, 16 + 16384, 1024, 16}, {1000, 16 + 16384, 16, 16}};
  }
};
template <>
struct manager_traits<slots_with<slot_fault::none>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // For each type as many slots, with two flags each, and room to align its three arrays.
    constexpr std::size_t slots = 100;
    constexpr std::size_t each = sizeof(small_object) + 8 + sizeof(large_object) + 8;
    const std::size_t heap_bytes = 2 * 64 + slots * each;
    return {{sizeof(small_object), heap_bytes, slots, each},
            {sizeof(large_object), heap_bytes, slots, each}};
  }
};
template <>
struct manager_traits<page_slots<>> : default_traits<page_slots<>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t pages = 100;
    const auto in_front = layout_bytes().trees(1, pages).array(pages, 4);
    return {{256, in_front.then(pages * 256), pages, 256},
            {4096, in_front.then(pages * 4096), pages, 4096}};
  }
};
template <>
struct manager_traits<aligned_bump<>> : default_traits<aligned_bump<>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // Behind the counter, blocks at multiples of 16 with their sizes in between.
    return {{16, 16 + 100 * (16 + 16), 100, 16}, {1024, 16 + 100 * (16 + 1024), 100, 16}};
  }
};

using subjects =
    type_list<warp_arenas<>, slots_with<slot_fault::none>, page_slots<>, aligned_bump<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Whether a test of a suite fails.
template <class Test>
bool fails() {
  ::testing::TestPartResultArray results;
  {
    using reporter = ::testing::ScopedFakeTestPartResultReporter;
    const reporter watch(reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    Test().TestBody();
  }
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return true;
  }
  return false;
}

/// Mistakes that hand memory out twice are races as well, and ThreadSanitizer says so.
class conformance_of_racing_faults : public ::testing::Test {
 protected:
  void SetUp() override {
#if !WARPHEAP_CUDA_MODEL && WARPHEAP_THREAD_SANITIZER
    GTEST_SKIP() << "the faults are races on purpose";
#endif
  }
};

template <arena_fault Fault>
using arenas_with = warp_arenas<Fault>;

TEST_F(conformance_of_racing_faults, warp_heaps) {
  EXPECT_TRUE(
      (fails<blocks_are_disjoint_and_outlive_the_launch<arenas_with<arena_fault::overlapping>>>()));
  EXPECT_TRUE(
      (fails<the_end_of_a_warp_heap_frees_all_of_it<arenas_with<arena_fault::frees_too_early>>>()));
  EXPECT_TRUE(
      (fails<the_end_of_a_warp_heap_frees_all_of_it<arenas_with<arena_fault::never_frees>>>()));
  EXPECT_TRUE((fails<a_warp_heap_that_is_tidied_up_is_as_good_as_new<
                   arenas_with<arena_fault::tidies_at_once>>>()));
  EXPECT_TRUE((
      fails<blocks_are_disjoint_and_outlive_the_launch<arenas_with<arena_fault::shares_heaps>>>()));
}

TEST_F(conformance_of_racing_faults, objects) {
  EXPECT_TRUE(
      (fails<objects_of_all_types_keep_their_contents<slots_with<slot_fault::not_claimed>>>()));
  EXPECT_TRUE(
      (fails<objects_of_all_types_keep_their_contents<slots_with<slot_fault::never_frees>>>()));
  EXPECT_TRUE(
      (fails<each_live_object_is_visited_once<slots_with<slot_fault::visits_destroyed>>>()));
  EXPECT_TRUE((fails<a_visit_may_make_objects_and_destroy_its_own<
                   slots_with<slot_fault::visits_without_end>>>()));
}

TEST_F(conformance_of_racing_faults, pages) {
  EXPECT_TRUE(
      (fails<a_request_of_any_size_gets_a_whole_page<page_slots<page_fault::overlapping>>>()));
}

TEST(conformance_of_faults, pages) {
  EXPECT_TRUE((fails<a_heap_holds_the_same_number_of_blocks_of_every_size<
                   page_slots<page_fault::spares_some>>>()));
  EXPECT_TRUE((
      fails<freed_pages_serve_requests_of_other_sizes<page_slots<page_fault::keeps_its_sizes>>>()));
}

TEST(conformance_of_faults, abilities) {
  EXPECT_TRUE(
      (fails<blocks_are_aligned_as_asked_for<aligned_bump<bump_fault::ignores_alignment>>>()));
  EXPECT_TRUE(
      (fails<
          contents_survive_when_blocks_are_resized<aligned_bump<bump_fault::tells_too_little>>>()));
}

TEST(conformance_of_faults, none_fails_without_one) {
  EXPECT_FALSE((fails<blocks_are_disjoint_and_outlive_the_launch<warp_arenas<>>>()));
  EXPECT_FALSE((fails<each_live_object_is_visited_once<slots_with<slot_fault::none>>>()));
  EXPECT_FALSE((fails<a_request_of_any_size_gets_a_whole_page<page_slots<>>>()));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
