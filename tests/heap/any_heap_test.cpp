// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heaps that host code owns without their manager.
#include "device_array.hpp"

#include "warpheap/any_heap.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/warpheap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <type_traits>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ::testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<any_heap>);
static_assert(std::is_nothrow_move_constructible_v<any_heap>);
static_assert(std::is_nothrow_move_assignable_v<any_heap>);
static_assert(!std::is_constructible_v<any_heap, int>);

template <class Handle>
struct take_block {
  Handle heap;
  WARPHEAP_DEVICE void operator()() const { heap.malloc(16); }
};

TEST(any_heap, is_the_heap_that_it_took_over) {
  any_heap subject = heap<gallatin<>>(machine(), 64_MiB);
  using handle_type = handle<gallatin<>>;
  EXPECT_EQ(subject.manager(), "gallatin");
  EXPECT_EQ(subject.device(), machine().properties().name);
  EXPECT_EQ(subject.bytes(), 64_MiB);
  EXPECT_GT(subject.largest_block(), 1_MiB);
  machine().launch({2, 50}, take_block<handle_type>{subject.ref<handle_type>()});
  EXPECT_EQ(subject.stats().blocks_in_use, 100u);
  EXPECT_TRUE(subject.validate().ok());
  EXPECT_THAT(subject.report(), HasSubstr("100 blocks"));
  subject.reset();
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
}

TEST(any_heap, moves_and_is_reassigned) {
  any_heap first = heap<>(machine(), 1_MiB);
  any_heap second = std::move(first);
  EXPECT_EQ(second.bytes(), 1_MiB);
  EXPECT_THROW(first.bytes(), invalid_argument);  // NOLINT(bugprone-use-after-move): that is asked
  first = heap<>(machine(), 2_MiB);
  EXPECT_EQ(first.bytes(), 2_MiB);
  std::swap(first, second);
  EXPECT_EQ(second.bytes(), 2_MiB);
}

TEST(any_heap, names_its_manager_where_another_is_expected) {
  const any_heap subject = heap<gallatin<>>(machine(), 64_MiB);
  try {
    subject.ref<handle<default_manager>>();
    FAIL() << "nothing was thrown";
  } catch (const invalid_argument& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("gallatin on " + subject.device()));
  }
}

#if !WARPHEAP_CUDA_MODEL
TEST(any_heap, is_made_without_a_manager_in_sight) {
  const any_heap subject = make_cpu_heap(1_MiB);
  machine().launch({1, 10}, take_block<heap_ref>{subject.ref<heap_ref>()});
  EXPECT_EQ(subject.stats().blocks_in_use, 10u);
  EXPECT_THROW(make_cpu_heap(1), region_too_small);
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
