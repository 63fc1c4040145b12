// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Managers that keep data of their own between blocks, where no guard is: what an overrun has
// damaged there must not be followed when the next block is freed.
#include "device_array.hpp"
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

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
  const device_array<std::byte*> taken(take(heap, bytes, simt::warp_size));
  machine().launch({1, 1},
                   overrun_and_free<handle<manager_type>>{heap.ref(), bytes, beyond, taken.get()});
  const incident_report found = heap.incidents();
  ASSERT_EQ(found.incidents.size(), 1u) << beyond;
  EXPECT_EQ(found.incidents[0].what, incident::kind::overrun) << beyond;
}

// Blocks of one byte have guards of 47 bytes behind them, and 16 bytes of the manager follow.
TEST(checked_damaged_headers, a_piece_of_a_bundle_whose_header_was_overwritten_is_not_given_back) {
  for (int beyond = 48; beyond < 64; ++beyond) expect_a_report_and_no_more<rw_malloc<>>(1, beyond);
}

TEST(checked_damaged_headers, a_chunk_whose_header_was_overwritten_is_not_given_back) {
  for (int beyond = 48; beyond < 64; ++beyond) expect_a_report_and_no_more<reg_eff<>>(1, beyond);
}

// So large that its neighbour does not find it by the short look of every free. Its guard ends at
// byte 36, the manager's 16 bytes at byte 52.
TEST(checked_damaged_headers, a_chunk_behind_a_larger_block_is_not_given_back) {
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

TEST(checked_damaged_headers, a_block_whose_header_is_overwritten_in_quarantine_is_not_given_back) {
  using manager_type = checked<rw_malloc<>, checked_config{.quarantine_blocks = 1}>;
  for (int beyond = 48; beyond < 64; ++beyond) {
    const heap<manager_type> heap(machine(), std::size_t{1} << 20);
    const device_array<std::byte*> taken(take(heap, 1, simt::warp_size));
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
TEST(checked_damaged_headers, a_pointer_is_within_a_block_up_to_the_end_of_its_guard) {
  using manager_type = checked<gallatin<>>;
  for (const int at : {1, 79, 80, 95}) {
    const heap<manager_type> heap(machine(), std::size_t{1} << 20);
    machine().launch({1, 1}, free_one<handle<manager_type>>{heap.ref(), take_one(heap, 40) + at});
    const incident_report found = heap.incidents();
    ASSERT_EQ(found.incidents.size(), 1u) << at;
    EXPECT_EQ(found.incidents[0].what,
              at < 80 ? incident::kind::interior_free : incident::kind::foreign_free)
        << at;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
