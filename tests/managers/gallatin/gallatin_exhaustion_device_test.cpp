// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a heap serves until it is full, and after it was. On either model.
#include "lanes.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Each lane asks `count` times for more than there is.
struct ask_in_vain {
  handle<gallatin<>> heap;
  std::size_t bytes;
  std::uint32_t count;
  std::uint32_t* surprises;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (heap.malloc(bytes) != nullptr) {
        simt::atomic_ref(*surprises).fetch_add(1, simt::order::relaxed);
      }
    }
  }
};

namespace {

/// Powers of two, and sizes that take several slices or whole blocks.
const std::vector<std::size_t> sizes =
    sanitized
        ? std::vector<std::size_t>{256, 4096, 10000, 40000, 256_KiB}
        : std::vector<std::size_t>{16,   32,    64,    128,    256,   512,   1024,   2048,   4096,
                                   8192, 10000, 20000, 32_KiB, 40000, 65536, 100000, 256_KiB};

constexpr std::size_t small_heap = race_checked ? 4_MiB : sanitized ? 16_MiB : 32_MiB;
constexpr std::uint64_t batch = 20'000;

// Also by each other size, whatever waits in the buffers of those that nobody asks for any more.
TEST(gallatin_exhaustion, a_heap_that_was_full_of_one_size_is_filled_by_it_again) {
  const gallatin_heap used(machine(), small_heap);
  for (const std::size_t bytes : sizes) {
    const gallatin_heap fresh(machine(), small_heap);
    const auto first = take_all(fresh, bytes, batch);
    expect_apart(first, bytes);
    EXPECT_EQ(fresh.stats().blocks_in_use, first.size());
    expect_valid(fresh);
    give(fresh, first);
    expect_valid(fresh);
    const auto second = take_all(fresh, bytes, batch);
    EXPECT_EQ(second.size(), first.size()) << "blocks of " << bytes << " bytes were lost";
    give(fresh, second);
    expect_whole(fresh);
    for (const std::size_t other : sizes) give(used, take(used, other, 100));
    const auto all = take_all(used, bytes, batch);
    expect_apart(all, bytes);
    EXPECT_EQ(all.size(), first.size()) << "blocks of " << bytes << " bytes";
    expect_valid(used);
    give(used, all);
    expect_valid(used);
  }
  expect_whole(used);
}

// The paper's blocks are reused as a whole: units that were given back while their block was in its
// slot are free again once the block has been used up and is back. So an emptied heap may hold less
// than a new one, by less than a block for each slot, and does not the next time.
TEST(gallatin_exhaustion, an_emptied_heap_lacks_the_used_units_of_blocks_in_slots) {
  const gallatin_heap heap(machine(), 4_MiB);
  constexpr std::size_t bytes = 4096;
  const std::uint32_t unit = gallatin_geometry<gallatin_config{}>::unit_for(bytes);
  const auto shape = heap.ref().manager().shape();
  ASSERT_EQ(shape.slots(unit), 1u);  // whichever multiprocessor a lane is on
  const auto fresh = take_all(heap, bytes, 64);
  EXPECT_EQ(fresh.size(), std::size_t{shape.segments()} * shape.capacity(unit));
  give(heap, fresh);
  constexpr std::size_t some = 39;
  ASSERT_LT(some, shape.capacity(unit));
  give(heap, take(heap, bytes, some));
  const auto without = take_all(heap, bytes, 64);
  EXPECT_EQ(without.size(), fresh.size() - some);
  give(heap, without);
  const auto again = take_all(heap, bytes, 64);
  EXPECT_EQ(again.size(), fresh.size());
  give(heap, again);
  expect_whole(heap);
}

TEST(gallatin_exhaustion, uses_nearly_all_of_the_heap) {
  const gallatin_heap heap(machine(), 2_GiB);
  for (std::size_t bytes = sanitized ? 65536 : 1024; bytes <= 65536; bytes *= 2) {
    const auto all = take_all(heap, bytes, 100'000);
    const double used = static_cast<double>(all.size() * bytes) / static_cast<double>(2_GiB);
    EXPECT_GE(used, 0.98) << bytes;
    give(heap, all);
    std::byte* const quarter = take_one(heap, 512_MiB);
    EXPECT_NE(quarter, nullptr);
    give(heap, {quarter});
  }
  expect_whole(heap);
}

// As many failures as would run over a count of 20 bits, and over one that shares its word with
// something else.
TEST(gallatin_exhaustion, any_number_of_failures_leaves_no_trace) {
  const gallatin_heap heap(machine(), 16_MiB);
  const auto full = take_all(heap, 32_KiB, batch);
  const device_array<std::uint32_t> surprises(1);
  const std::uint32_t lanes = race_checked ? 256 : sanitized ? 1024 : 16'384;
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{4096}, std::size_t{32_KiB}}) {
    machine().launch(covering(lanes), ask_in_vain{heap.ref(), bytes, 40, surprises.get()});
  }
  EXPECT_EQ(surprises.read()[0], 0u);
  EXPECT_EQ(heap.stats().blocks_in_use, full.size());
  expect_valid(heap);
  give(heap, full);
  const auto again = take_all(heap, 32_KiB, batch);
  EXPECT_EQ(again.size(), full.size());
  give(heap, again);
  expect_whole(heap);
}

TEST(gallatin_exhaustion, out_of_memory_for_one_size_leaves_others_alone) {
  const gallatin_heap heap(machine(), 16_MiB);
  const auto small = take(heap, 16, 10);
  const auto large = take_all(heap, 4096, batch);
  EXPECT_EQ(take_one(heap, 4096), nullptr);
  const auto more = take(heap, 16, 20);
  EXPECT_EQ(more.size(), 20u) << "the block of 16 B that is in use has room for them";
  EXPECT_EQ(take_one(heap, 100'000), nullptr);
  EXPECT_EQ(take_one(heap, 2_MiB), nullptr);
  give(heap, large);
  EXPECT_NE(take_one(heap, 2_MiB), nullptr);
  give(heap, small);
  give(heap, more);
  expect_valid(heap);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
