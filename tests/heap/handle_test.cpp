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
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

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

TEST(handle, the_size_of_the_last_failure_is_what_was_asked_for_then) {
  const heap<> subject(machine(), 1_MiB);
  const auto ref = subject.ref();
  for (const std::size_t more : {100, 7, 9}) {
    machine().launch({1, 1}, ask_for<heap_ref>{ref, subject.largest_block() + more});
    EXPECT_EQ(subject.stats().last_impossible_bytes, subject.largest_block() + more);
  }
  for (const std::size_t bytes : {64_KiB, 4_KiB}) {
    machine().launch({1, 1}, [&] {
      while (ref.aligned_malloc(128, bytes) != nullptr) {
      }
    });
    EXPECT_EQ(subject.stats().last_failed_bytes, bytes);
  }
}

TEST(handle, a_product_that_overflows_is_not_a_size) {
  const heap<> subject(machine(), 1_MiB);
  const auto ref = subject.ref();
  constexpr std::size_t too_many = SIZE_MAX / 48 + 1;
  int served = 0;
  machine().launch({1, 1}, [&, served = &served] {
    for (const std::size_t more : {0, 1, 2, 3}) {
      *served += ref.calloc(too_many + more, 48) != nullptr;
      *served += ref.calloc(48, too_many + more) != nullptr;
    }
    *served += ref.calloc(SIZE_MAX, SIZE_MAX) != nullptr;
    *served += ref.calloc(0, 48) != nullptr || ref.calloc(48, 0) != nullptr;
  });
  EXPECT_EQ(served, 0);
  EXPECT_EQ(subject.stats().impossible, 9u);
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
}

/// Two blocks that lie apart, of 16 and of 64 bytes.
class two_blocks {
 public:
  using options = no_options;
  static constexpr capabilities about{.name = "two_blocks", .description = "two blocks"};

  two_blocks(const region& memory, const simt::device_properties& /*machine*/, const options& /*o*/)
      : base_(memory.base) {}

  std::size_t largest_block() const { return 64; }
  void format(std::uint64_t /*rank*/, std::uint64_t /*count*/) const {}
  void* malloc(std::size_t bytes) const { return base_ + (bytes <= 16 ? 0 : 64); }
  void free(void* /*block*/) const {}
  std::size_t usable_size(void* block) const { return block == base_ ? 16 : 64; }
  void inspect(std::uint64_t /*rank*/, std::uint64_t /*count*/, inspection& /*found*/) const {}

 private:
  std::byte* base_;
};

TEST(handle, a_block_that_moves_takes_nothing_along_that_is_not_its_own) {
  std::vector<std::byte> memory(128, std::byte{'b'});
  std::fill_n(memory.begin(), 16, std::byte{'a'});
  std::fill_n(memory.begin() + 64, 64, std::byte{'c'});
  failure_counts failures{};
  const handle<two_blocks> subject({{memory.data(), memory.size()}, machine().properties(), {}},
                                   &failures);
  machine().launch({1, 1}, [&] { subject.realloc(subject.malloc(16), 64); });
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(memory[64 + i], std::byte{i < 16 ? std::uint8_t{'a'} : std::uint8_t{'c'}}) << i;
  }
}

/// Warps hand few blocks to each other: all lanes write to one, and then a lane frees it.
struct share_and_free {
  heap_ref heap;
  std::uint32_t* served;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group warp = simt::warp();
    for (int round = 0; round < 4; ++round) {
      auto* const words = static_cast<std::uint32_t*>(heap.malloc_shared(warp, 128));
      if (words == nullptr) continue;
      words[simt::lane_id()] = static_cast<std::uint32_t>(simt::lane_id());
      warp.sync();
      if (!warp.is_leader()) continue;
      simt::atomic_ref(*served).fetch_add(1, simt::order::relaxed);
      heap.free(words);
    }
  }
};

// ThreadSanitizer says whether their writes are ordered.
TEST(handle, a_shared_block_is_each_members_to_write) {
  const heap<> subject(machine(), 64_KiB);
  std::uint32_t served = 0;
  machine().launch({4, simt::warp_size}, share_and_free{subject.ref(), &served});
  EXPECT_EQ(served, 16u);
}

/// How many times `take` can be done.
int count_of_all(const auto& take) {
  int count = 0;
  while (take()) ++count;
  return count;
}

TEST(handle, a_warp_heap_that_is_tidied_up_or_ended_has_given_all_back) {
  const heap<fdg_malloc<>> subject(machine(), 1_MiB);
  const auto ref = subject.ref();
  machine().launch({1, 1}, [&] {
    const auto none = decltype(ref.begin()){};
    auto mine = ref.begin();
    const auto blocks = [&] {
      return count_of_all([&] { return ref.malloc(mine, 256) != nullptr; });
    };
    const int all = blocks();
    EXPECT_GT(all, 100);
    ref.tidy_up(mine);
    ref.tidy_up(none);
    EXPECT_EQ(blocks(), all);
    ref.end(mine);
    ref.end(none);
    mine = ref.begin();
    EXPECT_EQ(blocks(), all);
  });
}

TEST(handle, an_object_that_is_destroyed_leaves_its_place_to_another_one) {
  using objects = dynasoar_objects<type_list<point>>;
  const heap<objects> subject(machine(), 64_KiB);
  const auto ref = subject.ref();
  machine().launch({1, 1}, [&] {
    decltype(ref.make<point>()) last{};
    const auto make = [&] {
      const auto made = ref.make<point>(point{7});
      if (made) last = made;
      return static_cast<bool>(made);
    };
    EXPECT_GT(count_of_all(make), 100);
    ref.destroy<point>(decltype(last){});
    EXPECT_FALSE(make());
    ref.destroy<point>(last);
    EXPECT_EQ(count_of_all(make), 1);
  });
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
