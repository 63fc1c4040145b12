// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small requests are one manager's, large ones another's: CUDA's, any other's, or none's.
#include "conformance/kernels.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/heap/layers/with_large.hpp"
#include "warpheap/managers/bump/bump.hpp"
#include "warpheap/managers/cuda/cuda.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using both = with_large<halloc<>, scatter_alloc<>>;
static_assert(any_size_manager<both> && both::about.reuse == memory_reuse::all);
static_assert(both::about.largest_block == 0 && halloc<>::about.largest_block == 3072);
using with_counter = with_large<halloc<>, bump<>>;
static_assert(with_counter::about.reuse == memory_reuse::none && !with_counter::about.frees);

// `checked` keeps records of blocks in the heap's region. CUDA's allocator has others.
template <class M>
concept can_be_checked = requires {
  typename checked<M>;
};
class allocator_beside : public scatter_alloc<> {
 public:
  using scatter_alloc<>::scatter_alloc;
  static constexpr capabilities about = [] {
    capabilities same = scatter_alloc<>::about;
    same.blocks_in_region = builtin_about.blocks_in_region;
    same.resets = builtin_about.resets;
    return same;
  }();
};
static_assert(can_be_checked<both> && !can_be_checked<allocator_beside>);
static_assert(!can_be_checked<with_large<halloc<>, allocator_beside>>);
static_assert(!can_be_checked<counted<with_large<halloc<>, allocator_beside>>>);

/// A manager that can more than the one beside it.
class of_wide_blocks_that_grows : public halloc<> {
 public:
  using halloc<>::halloc;
  static constexpr capabilities about = [] {
    capabilities more = halloc<>::about;
    more.alignment = 4096;
    more.growth = true;
    return more;
  }();
};

TEST(with_large, only_what_both_can_is_offered) {
  constexpr capabilities offered = with_large<of_wide_blocks_that_grows, bump<>>::about;
  EXPECT_EQ(offered.alignment, bump<>::about.alignment);
  EXPECT_FALSE(offered.growth) << "the layer itself cannot grow";
  EXPECT_TRUE(both::about.resets);
  EXPECT_FALSE((with_large<halloc<>, allocator_beside>::about.resets));
}

/// Blocks of these sizes, one for each lane, in order.
template <class M>
std::vector<void*> take(const heap<M>& from, const std::vector<std::uint64_t>& sizes) {
  const device_array<std::uint64_t> bytes(sizes);
  const device_array<void*> blocks(sizes.size());
  machine().launch(covering(sizes.size()),
                   allocate<handle<M>>{from.ref(), bytes.get(), blocks.get(), sizes.size()});
  return blocks.read();
}

/// Each lane checks and frees its own.
template <class M>
std::uint64_t give(const heap<M>& to, const std::vector<std::uint64_t>& sizes,
                   const std::vector<void*>& taken) {
  std::vector<std::uint64_t> own(sizes.size());
  for (std::uint64_t i = 0; i < own.size(); ++i) own[i] = i;
  const device_array<std::uint64_t> bytes(sizes);
  const device_array<std::uint64_t> whose(own);
  const device_array<void*> blocks(taken);
  const device_array<tally> found(1);
  machine().launch(covering(sizes.size()),
                   check_and_free<handle<M>>{to.ref(), bytes.get(), blocks.get(), whose.get(),
                                             sizes.size(), found.get()});
  return found.read().front().corrupted;
}

TEST(with_large, the_size_decides_who_serves_a_request) {
  const heap<both> heap(machine(), 16_MiB);
  const std::vector<std::uint64_t> sizes{16, 3072, 3073, 100'000, 100, 4096};
  const std::vector<void*> taken = take(heap, sizes);
  ASSERT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0);
  // The large ones lie behind.
  const auto large = [&](std::size_t i) { return sizes[i] > 3072; };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      if (!large(i) || large(j)) continue;
      EXPECT_GT(taken[i], taken[j]) << sizes[i] << " and " << sizes[j];
    }
  }
  EXPECT_EQ(heap.stats().blocks_in_use, sizes.size());
  EXPECT_EQ(give(heap, sizes, taken), 0u);
  EXPECT_EQ(heap.stats().blocks_in_use, 0u);
  EXPECT_TRUE(heap.validate().ok());
}

TEST(with_large, the_largest_small_block_is_a_small_one) {
  const device_array<std::byte> memory(8_MiB);
  const heap<both> heap(machine(), region{memory.get(), memory.size()}, {.large_percent = 25});
  const std::vector<void*> taken = take(heap, {3071, 3072, 3073});
  const auto is_small = [&](const void* block) { return block < memory.get() + 6_MiB; };
  EXPECT_TRUE(is_small(taken[0]));
  EXPECT_TRUE(is_small(taken[1]));
  EXPECT_FALSE(is_small(taken[2]));
}

TEST(with_large, the_small_ones_decide_what_is_possible_where_no_large_one_fits) {
  const heap<with_counter> heap(machine(), 290_KiB, {.large_percent = 1});
  ASSERT_EQ(heap.largest_block(), 3072u) << "2816 bytes are for large ones";
  EXPECT_NE(take(heap, {3072}).front(), nullptr);
  EXPECT_EQ(heap.stats().impossible, 0u);
}

#if !WARPHEAP_CUDA_MODEL
/// Its only block is its whole region; a free leaves a mark in it.
class one_block {
 public:
  using options = no_options;
  static constexpr capabilities about{.name = "one_block", .description = "a whole region"};
  static constexpr std::uint64_t freed = 4242;

  one_block(const region& memory, const simt::device_properties& /*machine*/, const options& /*o*/)
      : all_(memory) {}

  std::size_t largest_block() const { return all_.bytes; }
  void format(std::uint64_t /*rank*/, std::uint64_t /*count*/) const {}
  void* malloc(std::size_t /*bytes*/) const { return all_.base; }
  void free(void* block) const { *static_cast<std::uint64_t*>(block) = freed; }
  void inspect(std::uint64_t /*rank*/, std::uint64_t /*count*/, inspection& /*found*/) const {}

 private:
  region all_;
};

TEST(with_large, the_first_byte_behind_the_small_ones_is_a_large_block) {
  const rubbish memory(1_MiB);
  const with_large<halloc<>, one_block> subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  std::uint64_t* block = nullptr;
  machine().launch({1, 1}, [&, to = &block] {
    *to = static_cast<std::uint64_t*>(subject.malloc(subject.largest_block()));
    subject.free(*to);
  });
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(*block, one_block::freed);
}
#endif

TEST(with_large, without_it_large_requests_get_null) {
  const heap<halloc<>> heap(machine(), 16_MiB);
  const std::vector<void*> taken = take(heap, {3072, 3073});
  EXPECT_NE(taken[0], nullptr);
  EXPECT_EQ(taken[1], nullptr);
}

TEST(with_large, neither_helps_out_when_the_other_is_exhausted) {
  const heap<both> heap(machine(), 8_MiB);
  const std::vector<std::uint64_t> half(2048, 4096);
  const std::vector<void*> taken = take(heap, half);
  const auto served = static_cast<std::uint64_t>(
      half.size() - static_cast<std::size_t>(std::count(taken.begin(), taken.end(), nullptr)));
  EXPECT_GT(served, 900u);
  EXPECT_LT(served, 1100u) << "blocks of 4 KiB in 4 MiB";
  EXPECT_NE(take(heap, {64}).front(), nullptr);
}

TEST(with_large, the_share_is_an_option_of_1_to_99_percent) {
  const auto blocks_of_4_kib = [](unsigned percent) {
    const heap<both> heap(machine(), 8_MiB, {.large_percent = percent});
    const std::vector<void*> taken = take(heap, std::vector<std::uint64_t>(2048, 4096));
    return 2048 - std::count(taken.begin(), taken.end(), nullptr);
  };
  EXPECT_GT(blocks_of_4_kib(75), 2 * blocks_of_4_kib(25));
  for (const unsigned percent : {0u, 100u, 200u}) {
    EXPECT_THROW(blocks_of_4_kib(percent), invalid_argument) << percent;
  }
  using counters = with_large<bump<>, bump<>>;
  for (const unsigned percent : {1u, 99u}) {
    const heap<counters> heap(machine(), 8_MiB, {.large_percent = percent});
    EXPECT_NE(take(heap, {100}).front(), nullptr) << percent;
  }
}

#if WARPHEAP_CUDA_MODEL
TEST(with_large, large_requests_can_be_handed_to_cudas_allocator) {
  using published = with_large<halloc<>, builtin>;
  const heap<published> heap(machine(), 16_MiB);
  const std::vector<std::uint64_t> sizes{16, 3072, 3073, 100'000, 100, 4096};
  const std::vector<void*> taken = take(heap, sizes);
  ASSERT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0);
  EXPECT_EQ(heap.stats().blocks_in_use, 3u) << "what CUDA's has served cannot be counted";
  EXPECT_EQ(give(heap, sizes, taken), 0u);
  EXPECT_EQ(heap.stats().blocks_in_use, 0u);
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
