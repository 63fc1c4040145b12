// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where blocks of a warp heap lie: together, one after the other, SuperBlock by SuperBlock.
#include "device_array.hpp"
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = fdg_malloc<>;

simt::device_properties with_warps(std::uint32_t warps) { return machine_of(4, warps * 32); }

manager laid_out(std::size_t bytes, std::uint32_t warps) {
  auto* const nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
  return manager({nowhere, bytes}, with_warps(warps), {});
}

TEST(fdg_malloc, superblocks_are_as_large_as_four_a_resident_warp_allow) {
  EXPECT_EQ(laid_out(512_MiB, 8448).superblock_bytes(), 8192u);
  EXPECT_EQ(laid_out(64_MiB, 8448).superblock_bytes(), 1024u);
  EXPECT_EQ(laid_out(256_MiB, 8448).superblock_bytes(), 4096u);
  EXPECT_EQ(laid_out(16_MiB, 8448).superblock_bytes(), 1024u) << "no smaller ones";
  EXPECT_EQ(laid_out(64_KiB, 2).superblock_bytes(), 8192u);
}

TEST(fdg_malloc, heaps_beyond_32_bits_lay_themselves_out) {
  const manager large = laid_out(std::size_t{130} << 30, 8448);
  EXPECT_EQ(large.largest_block(), std::size_t{large.superblocks()} * 8192);
  EXPECT_GT(large.largest_block(), std::size_t{128} << 30);
}

// Beside the participants in its word, which must not notice.
TEST(fdg_malloc, the_generation_after_the_last_one_is_the_first) {
  fdg_header header{};
  header.phase = fdg_phase{0xffffffff, 2, 0}.word();
  machine().launch({1, 1}, [&] {
    std::uint64_t now = header.arrive();
    EXPECT_EQ(fdg_phase::of(now).arrived, 1u);
    now = header.arrive();
    EXPECT_EQ(fdg_phase::of(now).arrived, fdg_phase::of(now).participants);
    header.start_generation(fdg_phase::of(now));
    header.wait_for_next_generation(now);
  });
  EXPECT_EQ(header.phase, (fdg_phase{0, 2, 0}.word()));
}

TEST(fdg_malloc, words_hold_what_they_are_made_of) {
  const fdg_bump bump = fdg_bump::of(fdg_bump{fdg_superblocks::most - 1, 512}.word());
  EXPECT_TRUE(bump.is_set());
  EXPECT_EQ(bump.superblock, fdg_superblocks::most - 1);
  EXPECT_EQ(bump.used, 512u);
  EXPECT_FALSE(fdg_bump::of(fdg_bump::nothing).is_set());
  const std::uint64_t word = fdg_phase{7, 32, 31}.word();
  EXPECT_EQ(fdg_phase::of(word + fdg_phase::one_arrival).arrived, 32u);
  EXPECT_EQ(fdg_phase::of(word - fdg_phase::one_participant).participants, 31u);
  EXPECT_EQ(fdg_phase::of(word).generation, 7u);
}

/// One warp whose lanes ask together; lane i in launch `call` for `bytes + i * more`.
struct ask_together {
  handle<manager> from;
  manager::warp_heap* of;
  std::size_t bytes;
  std::size_t more;
  std::uint32_t calls;
  std::uintptr_t* found;
  WARPHEAP_DEVICE void operator()() const {
    const auto mine = from.begin();
    const auto lane = static_cast<std::size_t>(simt::lane_id());
    of[lane] = mine;
    for (std::uint32_t i = 0; i < calls; ++i) {
      found[i * 32 + lane] =
          reinterpret_cast<std::uintptr_t>(from.malloc(mine, bytes + lane * more));
    }
  }
};

struct end_all {
  handle<manager> from;
  const manager::warp_heap* of;
  WARPHEAP_DEVICE void operator()() const { from.end(of[simt::lane_id()]); }
};

class together : public ::testing::Test {
 protected:
  /// Addresses, from that of the first one on.
  std::vector<std::int64_t> ask(std::size_t bytes, std::size_t more, std::uint32_t calls) {
    const device_array<manager::warp_heap> of(32);
    const device_array<std::uintptr_t> found(std::size_t{32} * calls);
    machine().launch({1, 32}, ask_together{heap_.ref(), of.get(), bytes, more, calls, found.get()});
    EXPECT_TRUE(heap_.validate().ok()) << heap_.validate().describe();
    EXPECT_EQ(heap_.stats().blocks_in_use, 1u) << "one heap for all lanes";
    bytes_in_use_ = heap_.stats().bytes_in_use;
    machine().launch({1, 32}, end_all{heap_.ref(), of.get()});
    EXPECT_TRUE(heap_.validate().ok());
    EXPECT_EQ(heap_.stats().bytes_in_use, 0u);
    std::vector<std::int64_t> places;
    for (const std::uintptr_t address : found.read()) {
      places.push_back(static_cast<std::int64_t>(address) -
                       static_cast<std::int64_t>(found.read()[0]));
    }
    return places;
  }

  heap<manager> heap_{machine(), 64_MiB};
  std::uint64_t bytes_in_use_ = 0;
};

TEST_F(together, blocks_of_16_bytes_fill_a_superblock_without_gaps) {
  const auto places = ask(16, 0, 16);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i], static_cast<std::int64_t>(16 * i));
  }
  EXPECT_EQ(bytes_in_use_, 8192u) << "all of one SuperBlock";
  ask(16, 0, 17);
  EXPECT_EQ(bytes_in_use_, 2u * 8192) << "and the next one";
}

TEST_F(together, lanes_are_apart_by_what_those_below_ask_for_in_granules) {
  const auto places = ask(17, 0, 1);
  EXPECT_EQ(places[31], 31 * 32);
  const auto growing = ask(16, 16, 1);
  EXPECT_EQ(growing[31], 16 * 31 * 32 / 2) << "8448 bytes in all: a run";
  EXPECT_EQ(bytes_in_use_, 2u * 8192);
}

TEST_F(together, who_does_not_fit_into_the_rest_goes_to_the_next_superblock) {
  const auto places = ask(160, 0, 2);  // 5120 bytes per call
  EXPECT_EQ(places[31], 31 * 160);
  EXPECT_EQ(places[63] - places[32], 31 * 160);
  EXPECT_GE(std::abs(places[32]), 8192 - 31 * 160) << "not in the first one";
  EXPECT_EQ(bytes_in_use_, 2u * 8192);
}

TEST_F(together, requests_whose_sum_is_too_large_are_served_one_by_one) {
  // A heap of 64 MiB holds some of them, not all.
  ask(4_MiB, 0, 1);
  const std::uint64_t served = 32 - heap_.stats().failures;
  EXPECT_GE(served, 1u);
  EXPECT_LE(served, 15u);
  EXPECT_EQ(bytes_in_use_, served * 4_MiB);
}

TEST(fdg_malloc, headers_lie_within_their_array) {
  constexpr std::uint32_t count = 4;
  rubbish memory(4_KiB);
  region_cursor cursor = memory.cursor();
  const fdg_headers headers(cursor, count);
  headers.format(0, 1);
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_NE(headers.open(1, 0), 0u);
  EXPECT_EQ(headers.open(1, 0), 0u);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

// A run would be taken from the back.
TEST_F(together, a_block_of_a_whole_superblock_comes_from_where_small_ones_do) {
  std::uintptr_t places[2];
  machine().launch({1, 1}, [&, from = heap_.ref()] {
    const auto mine = from.begin();
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{8192}}) {
      places[bytes / 8192] = reinterpret_cast<std::uintptr_t>(from.malloc(mine, bytes));
    }
    from.end(mine);
  });
  EXPECT_EQ(places[1] - places[0], 8192u);
}

TEST(fdg_inspection, a_list_that_is_longer_than_its_count_is_found_and_not_followed) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const fdg_superblocks superblocks(cursor, 8);
  const fdg_headers headers(cursor, 1);  // so that it is the last one as well
  superblocks.format(0, 1);
  headers.format(0, 1);
  const std::uint32_t number = headers.open(1, 0);
  for (const std::uint32_t piece : {7u, 2u}) {  // the last one counts as well
    EXPECT_TRUE(superblocks.free_ones().remove(piece));
    superblocks.piece(piece).length = 1;
    superblocks.piece(piece).owner = number;
    headers.at(number).push(piece, superblocks.piece(piece).next);
  }
  const auto inspected = [&] {
    inspection found;
    fdg_inspector(superblocks, headers, 13, found).run(0, 1);
    return found;
  };
  EXPECT_EQ(inspected().violations[2], 0u);
  EXPECT_EQ(inspected().violations[5], 0u);
  EXPECT_EQ(inspected().bytes_in_use, 2u * 8192);
  headers.at(number).pieces = 1;
  EXPECT_EQ(inspected().violations[2], 1u);
  EXPECT_EQ(inspected().bytes_in_use, 8192u);
}

TEST(fdg_malloc, the_bounds_of_a_configuration_are_possible) {
  using smallest =
      fdg_malloc<fdg_config{.least_superblock_bytes = 16, .most_superblock_bytes = 16}>;
  using largest = fdg_malloc<fdg_config{.most_superblock_bytes = 1u << 20}>;
  EXPECT_EQ(smallest::about.name, largest::about.name);
}

TEST(fdg_malloc, a_new_heap_serves_a_block_of_all_its_superblocks) {
  const heap<manager> all(machine(), 256_KiB);
  machine().launch({1, 1}, [of = all.ref()] {
    auto mine = of.begin();
    EXPECT_EQ(of.malloc(mine, of.manager().largest_block() + 1), nullptr);
    EXPECT_NE(of.malloc(mine, of.manager().largest_block()), nullptr);
    of.end(mine);
  });
}

// Memory that held a heap before may say that no run of any length is there.
TEST(fdg_malloc, a_new_heap_does_not_believe_what_an_earlier_one_knew_of_runs) {
  const rubbish memory(16_KiB);
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.all().base);
  const auto none = [](std::uint64_t& word) {
    auto& runs = reinterpret_cast<exhaustion&>(word);
    runs.format();
    runs.confirm(runs.announce(), 1);
  };
  std::for_each(words, words + 16_KiB / sizeof(std::uint64_t), none);
  region_cursor cursor = memory.cursor();
  const fdg_superblocks superblocks(cursor, 8);
  std::uint32_t first = fdg_superblocks::none;
  machine().launch({1, 1}, [&] {
    superblocks.format(0, 1);
    first = superblocks.take_run(2);
  });
  EXPECT_EQ(first, 6u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
