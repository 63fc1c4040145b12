// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Managers that keep data of their own between blocks, where no guard is: what an overrun has
// damaged there must not be followed when the next block is freed.
#include "device_array.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/kma/kma.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class Handle>
struct take_blocks {
  Handle heap;
  std::size_t bytes;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    taken[simt::thread_rank()] = static_cast<std::byte*>(heap.malloc(bytes));
  }
};

/// Writes behind one block, and frees all in the order in which they come.
template <class Handle>
struct overrun_and_free {
  static constexpr int culprit = 8;

  Handle heap;
  std::size_t bytes;
  int beyond;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    for (int i = 0; i < beyond; ++i)
      taken[culprit][bytes + static_cast<std::size_t>(i)] = std::byte{0x11};
    for (int i = 0; i < simt::warp_size; ++i) heap.free(taken[i]);
  }
};

template <class M>
void expect_a_report_and_no_more(std::size_t bytes, int beyond) {
  using manager_type = checked<M>;
  const heap<manager_type> heap(machine(), std::size_t{1} << 20);
  const device_array<std::byte*> taken(simt::warp_size);
  machine().launch({1, simt::warp_size},
                   take_blocks<handle<manager_type>>{heap.ref(), bytes, taken.get()});
  std::vector<std::byte*> upwards = taken.read();
  std::sort(upwards.begin(), upwards.end());
  taken.write(upwards);
  machine().launch({1, 1},
                   overrun_and_free<handle<manager_type>>{heap.ref(), bytes, beyond, taken.get()});
  const incident_report found = heap.incidents();
  ASSERT_EQ(found.incidents.size(), 1u) << beyond;
  EXPECT_EQ(found.incidents[0].what, incident::kind::overrun) << beyond;
}

// Blocks of one byte have guards of 47 bytes behind them, and 16 bytes of the manager follow.
TEST(checked_neighbours, a_piece_of_a_bundle_whose_header_was_overwritten_is_not_given_back) {
  for (int beyond = 48; beyond < 64; ++beyond) expect_a_report_and_no_more<rw_malloc<>>(1, beyond);
}

TEST(checked_neighbours, a_chunk_whose_header_was_overwritten_is_not_given_back) {
  for (int beyond = 48; beyond < 64; ++beyond) expect_a_report_and_no_more<reg_eff<>>(1, beyond);
}

// So large that its neighbour does not find it by the short look of every free. Its guard ends at
// byte 36, the manager's 16 bytes at byte 52.
TEST(checked_neighbours, a_chunk_behind_a_larger_block_is_not_given_back) {
  expect_a_report_and_no_more<reg_eff<>>(300, 52);
}

/// Frees the block above one before writing behind that.
template <class Handle>
struct overrun_after_free {
  static constexpr int culprit = 8;

  Handle heap;
  int beyond;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    heap.free(taken[culprit + 1]);
    for (int i = 0; i < beyond; ++i) taken[culprit][1 + i] = std::byte{0x11};
    for (int i = 0; i < simt::warp_size; ++i) {
      if (i != culprit + 1) heap.free(taken[i]);
    }
  }
};

TEST(checked_neighbours, a_block_whose_header_is_overwritten_in_quarantine_is_not_given_back) {
  using manager_type = checked<rw_malloc<>, checked_config{.quarantine_blocks = 1}>;
  for (int beyond = 48; beyond < 64; ++beyond) {
    const heap<manager_type> heap(machine(), std::size_t{1} << 20);
    const device_array<std::byte*> taken(simt::warp_size);
    machine().launch({1, simt::warp_size},
                     take_blocks<handle<manager_type>>{heap.ref(), 1, taken.get()});
    std::vector<std::byte*> upwards = taken.read();
    std::sort(upwards.begin(), upwards.end());
    taken.write(upwards);
    machine().launch({1, 1},
                     overrun_after_free<handle<manager_type>>{heap.ref(), beyond, taken.get()});
    const incident_report found = heap.incidents();
    ASSERT_EQ(found.incidents.size(), 1u) << beyond;
    EXPECT_EQ(found.incidents[0].what, incident::kind::overrun) << beyond;
  }
}

template <class Handle>
struct free_one {
  Handle heap;
  std::byte* pointer;
  WARPHEAP_DEVICE void operator()() const { heap.free(pointer); }
};

// A block of 40 bytes has a guard of as many behind it, and slices of 128 bytes leave 16 then.
TEST(checked_neighbours, a_pointer_is_within_a_block_up_to_the_end_of_its_guard) {
  using manager_type = checked<gallatin<>>;
  for (const int at : {1, 79, 80, 95}) {
    const heap<manager_type> heap(machine(), std::size_t{1} << 20);
    const device_array<std::byte*> taken(1);
    machine().launch({1, 1}, take_blocks<handle<manager_type>>{heap.ref(), 40, taken.get()});
    machine().launch({1, 1}, free_one<handle<manager_type>>{heap.ref(), taken.read()[0] + at});
    const incident_report found = heap.incidents();
    ASSERT_EQ(found.incidents.size(), 1u) << at;
    EXPECT_EQ(found.incidents[0].what,
              at < 80 ? incident::kind::interior_free : incident::kind::foreign_free)
        << at;
  }
}

/// Writes `count` bytes from `from` bytes behind a block's start on, and frees all, every
/// `step`-th first.
template <class Handle>
struct write_and_free {
  static constexpr int culprit = 15;

  Handle heap;
  std::ptrdiff_t from;
  int count;
  int step;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    for (int i = 0; i < count; ++i) taken[culprit][from + i] = std::byte{0x11};
    for (int i = 0; i < simt::warp_size; ++i) {
      heap.free(taken[i * step & (simt::warp_size - 1)]);
    }
  }
};

bool keeps_headers(std::string_view name) {
  return name == "rw_malloc" || name == "xmalloc" || name.substr(0, 7) == "reg_eff";
}

template <class M>
class stray_writes : public ::testing::Test {};
using with_data_near_blocks = ::testing::Types<
    rw_malloc<>, reg_eff<reg_eff_config{.keeps = book_keeping::counter}>, reg_eff<>,
    reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 1}>, xmalloc<>, kma<>,
    warpheap_manager<>, halloc<>, scatter_alloc<>, gallatin<>,
    ouroboros<ouroboros_config{.queue = queue_kind::static_array, .item = item_kind::pages}>>;
TYPED_TEST_SUITE(stray_writes, with_data_near_blocks);

TYPED_TEST(stray_writes, across_the_ends_of_a_block_are_reported_and_followed_by_nobody) {
  using manager_type = checked<TypeParam>;
  heap<manager_type> heap(machine(), std::size_t{1} << 20);
  const device_array<std::byte*> taken(simt::warp_size);
  const auto expect_a_report = [&](std::size_t bytes, std::ptrdiff_t from, int count, int step) {
    heap.reset();
    machine().launch({1, simt::warp_size},
                     take_blocks<handle<manager_type>>{heap.ref(), bytes, taken.get()});
    std::vector<std::byte*> upwards = taken.read();
    std::sort(upwards.begin(), upwards.end());
    ASSERT_NE(upwards[0], nullptr);
    taken.write(upwards);
    machine().launch(
        {1, 1}, write_and_free<handle<manager_type>>{heap.ref(), from, count, step, taken.get()});
    const incident_report found = heap.incidents();
    const auto block =
        reinterpret_cast<std::uintptr_t>(upwards[write_and_free<handle<manager_type>>::culprit]);
    EXPECT_TRUE(
        std::any_of(found.incidents.begin(), found.incidents.end(),
                    [&](const incident& one) { return one.block == block || one.other == block; }))
        << count << " bytes from " << from << " of " << bytes << ", step " << step;
    // Managers that keep nothing between their blocks cannot be damaged in this way.
    EXPECT_TRUE(keeps_headers(TypeParam::about.name) || heap.validate().ok());
  };
  // Around the guards' ends, and those of 4, 8 and 16 bytes that a manager may keep between them.
  constexpr int counts[]{1, 33, 40, 44, 48, 52, 64, 80};
  constexpr int steps[]{1, -1, 13};  // upwards, downwards, mixed
  for (const std::size_t bytes : {1, 300, 1000}) {
    if (race_checked && bytes != 300) continue;
    for (int i = 0; i < 8; ++i) {
      expect_a_report(bytes, static_cast<std::ptrdiff_t>(bytes), counts[i], steps[i % 3]);
      expect_a_report(bytes, -counts[i], counts[i], steps[(i + 1) % 3]);
    }
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
