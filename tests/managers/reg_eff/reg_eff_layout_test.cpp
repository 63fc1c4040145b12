// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where blocks lie: splitting, merging and memory offsets of the list, and the order of the
// counters.
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap and what single lanes do with it, one call after the other.
template <reg_eff_config Config>
class one_lane {
 public:
  using manager = reg_eff<Config>;

  explicit one_lane(std::size_t bytes) : heap_(machine(), bytes) {}

  void* take(std::size_t bytes) {
    void* block = nullptr;
    machine().launch({1, 1}, [&, to = &block] { *to = heap_.ref().malloc(bytes); });
    expect_valid();
    return block;
  }
  void give(void* block) {
    machine().launch({1, 1}, [&] { heap_.ref().free(block); });
    expect_valid();
  }
  std::size_t usable(void* block) {
    std::size_t bytes = 0;
    machine().launch({1, 1}, [&, to = &bytes] { *to = heap_.ref().usable_size(block); });
    return bytes;
  }
  /// Bytes between the first chunk's block and this one.
  std::size_t place(void* block) {
    return std::size_t{chunks().chunk_of(block)} * Config.granule_bytes;
  }
  auto chunks() { return heap_.ref().manager().chunks(); }
  const warpheap::heap<manager>& heap() const { return heap_; }

 private:
  void expect_valid() {
    const validation found = heap_.validate();
    EXPECT_TRUE(found.ok()) << found.describe();
  }

  warpheap::heap<manager> heap_;
};

constexpr reg_eff_config smallest_chunks{.presplit_bytes = 16};

TEST(reg_eff_list, splits_the_chunk_at_the_offset_and_moves_on) {
  one_lane<smallest_chunks> lane(1_MiB);
  void* first = lane.take(100);
  EXPECT_EQ(lane.place(first), 0u);
  EXPECT_EQ(lane.usable(first), 104u);
  void* second = lane.take(100);
  EXPECT_EQ(lane.place(second), 112u);
  EXPECT_EQ(lane.heap().stats().blocks_in_use, 2u);
  EXPECT_EQ(lane.heap().stats().bytes_in_use, 224u);
}

TEST(reg_eff_list, a_search_begins_behind_the_last_block_that_was_taken) {
  one_lane<smallest_chunks> lane(1_MiB);
  void* first = lane.take(56);
  lane.take(56);
  lane.give(first);  // the chunk behind it is in use, so that nothing is merged
  EXPECT_EQ(lane.place(lane.take(56)), 128u) << "not where the first one was";
}

TEST(reg_eff_list, hands_out_the_whole_chunk_if_little_would_be_left) {
  // Two chunks of the tree's last level and what is left of it.
  one_lane<reg_eff_config{.presplit_bytes = 1024}> lane(6_KiB);
  ASSERT_EQ(lane.heap().ref().manager().fresh().levels(), 2u);
  void* half_of_root = lane.take(1024 - 8);
  EXPECT_EQ(lane.usable(half_of_root), 1024u - 8) << "twice as large: split";
  void* rest_of_root = lane.take(512 - 8 + 1);
  EXPECT_EQ(lane.place(rest_of_root), 1024u);
  EXPECT_EQ(lane.usable(rest_of_root), 1024u - 8) << "less than twice as large: not split";
}

TEST(reg_eff_list, a_free_merges_with_the_next_chunk_once_and_moves_the_offset_behind_it) {
  one_lane<smallest_chunks> lane(1_MiB);
  std::vector<void*> blocks(4);
  for (auto& block : blocks) block = lane.take(56);
  lane.give(blocks[1]);
  EXPECT_EQ(lane.chunks().next_of(4), 8u) << "the chunk behind is in use";
  lane.give(blocks[0]);
  EXPECT_EQ(lane.chunks().next_of(0), 8u) << "merged";
  EXPECT_EQ(lane.place(lane.take(56)), 256u) << "the first free chunk behind the merged one";
  lane.give(blocks[3]);
  lane.give(blocks[2]);
  EXPECT_EQ(lane.chunks().next_of(8), 16u) << "merged with the next";
  EXPECT_EQ(lane.chunks().next_of(0), 8u) << "but not with the one before";
}

TEST(reg_eff_list, what_is_left_of_a_large_chunk_becomes_two_with_room_for_whole_requests) {
  // One chunk of more than 4,000 granules; a request takes 7 of them.
  one_lane<reg_eff_config{.presplit_bytes = 0}> lane(64_KiB);
  void* first = lane.take(100);
  EXPECT_EQ(lane.place(first), 0u);
  const std::uint32_t left = lane.chunks().end() - 7;
  const std::uint32_t half = left / 2 / 7 * 7;
  EXPECT_EQ(lane.chunks().next_of(7), 7 + half);
  EXPECT_EQ(lane.chunks().next_of(7 + half), lane.chunks().end());
  void* small = lane.take(100);
  ASSERT_EQ(lane.place(small), 7u * 16);
  EXPECT_LT(lane.chunks().next_of(14), 7 + half) << "halved again";
  void* rest = lane.take(lane.heap().largest_block() - 2 * 7 * 16);
  EXPECT_EQ(lane.place(rest), 14u * 16) << "a search merges them";
}

template <bool Merges>
void expect_whole_after_frees() {
  one_lane<reg_eff_config{.presplit_bytes = Merges ? 128u : 0u, .merges = Merges}> lane(64_KiB);
  const std::size_t most = lane.heap().largest_block();
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> blocks;
    while (void* block = lane.take(1000)) blocks.push_back(block);
    EXPECT_GT(blocks.size(), 40u);
    EXPECT_EQ(lane.take(most), nullptr);
    for (std::size_t start = 0; start < 3; ++start) {
      for (std::size_t i = start; i < blocks.size(); i += 3) lane.give(blocks[i]);
    }
    EXPECT_EQ(lane.heap().stats().blocks_in_use, 0u);
    void* all = lane.take(most);
    ASSERT_NE(all, nullptr) << "a search merges all chunks";
    EXPECT_EQ(lane.usable(all), most);
    EXPECT_EQ(lane.take(1), nullptr);
    lane.give(all);
  }
}

TEST(reg_eff_list, a_heap_in_pieces_serves_a_block_as_large_as_itself) {
  expect_whole_after_frees<true>();
  expect_whole_after_frees<false>();
}

TEST(reg_eff_list, what_was_exhausted_is_available_again_once_it_is_freed) {
  one_lane<reg_eff_config{}> lane(16_KiB);
  void* large = lane.take(8_KiB);
  ASSERT_NE(large, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lane.take(8_KiB), nullptr);
  void* small = lane.take(16);
  EXPECT_NE(small, nullptr) << "less than what was out";
  lane.give(large);
  EXPECT_NE(lane.take(8_KiB), nullptr);
}

TEST(reg_eff_list, each_multiprocessor_starts_in_a_tree_of_its_own) {
  using manager =
      reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .header_words = 1}>;
  const warpheap::heap<manager> heap(machine(), 4_MiB);
  const auto fresh = heap.ref().manager().fresh();
  const std::uint32_t count = machine().properties().multiprocessors;
  ASSERT_GT(fresh.levels(), 0u);
  constexpr std::uint32_t blocks = 8;
  std::vector<void*> block(blocks);
  std::vector<std::uint32_t> where(blocks);
  machine().launch({blocks, 1}, [&, ref = heap.ref()] {
    const std::uint32_t me = simt::block_rank();
    where[me] = simt::sm_id() % count;
    block[me] = ref.malloc(64);
  });
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t chunk = heap.ref().manager().chunks().chunk_of(block[i]);
    EXPECT_GE(chunk, fresh.tree_start(where[i]));
    EXPECT_LT(chunk, fresh.tree_start(where[i] + 1));
  }
}

TEST(reg_eff_counters, go_from_front_to_back_and_only_the_ring_starts_again) {
  for (const bool wraps : {false, true}) {
    std::vector<std::byte*> blocks(6);
    const auto run = [&]<class M>(const warpheap::heap<M>& heap) {
      EXPECT_EQ(heap.largest_block(), 64u);
      machine().launch({1, 1}, [&, ref = heap.ref()] {
        for (auto& block : blocks) {
          block = static_cast<std::byte*>(ref.malloc(20));
          ref.free(block);
        }
      });
      EXPECT_TRUE(heap.validate().ok());
      return heap.stats();
    };
    const heap_stats stats =
        wraps
            ? run(warpheap::heap<reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>>(
                  machine(), 192))
            : run(warpheap::heap<reg_eff<reg_eff_config{.keeps = book_keeping::counter}>>(machine(),
                                                                                          192));
    EXPECT_EQ(blocks[1] - blocks[0], 32);
    for (std::size_t i = 2; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i], wraps ? blocks[i % 2] : nullptr);
    }
    EXPECT_EQ(stats.failures, wraps ? 0u : 4u);
    EXPECT_EQ(stats.bytes_in_use, 64u);
  }
}

TEST(reg_eff_counters, a_request_that_fails_leaves_room_for_smaller_ones) {
  const warpheap::heap<reg_eff<reg_eff_config{.keeps = book_keeping::counter}>> heap(machine(),
                                                                                     128 + 64);
  std::vector<void*> blocks(4);
  machine().launch({1, 1}, [&, ref = heap.ref()] {
    blocks[0] = ref.malloc(40);
    blocks[1] = ref.malloc(40);
    blocks[2] = ref.malloc(16);
    blocks[3] = ref.malloc(1);
  });
  EXPECT_NE(blocks[0], nullptr);
  EXPECT_EQ(blocks[1], nullptr);
  EXPECT_NE(blocks[2], nullptr);
  EXPECT_EQ(blocks[3], nullptr);
}

/// Of a heap whose memory nobody touches: constructors only compute.
TEST(reg_eff_list, the_terminator_of_the_largest_heap_has_a_number) {
  using manager = reg_eff<smallest_chunks>;
  const auto over = [](std::size_t granules) {
    auto* const nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44);
    return manager(region{nowhere, granules * smallest_chunks.granule_bytes},
                   machine().properties(), {});
  };
  EXPECT_NO_THROW(over((std::size_t{1} << 31) - 1));
  EXPECT_THROW(over(std::size_t{1} << 31), invalid_argument);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
