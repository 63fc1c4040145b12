// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units and blocks, in many orders of the lanes' steps.
#include "tiny_heap.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// As many requests as fit, or some more: just those that do not fit are refused.
class exactly_full : public tiny_heap<> {
 public:
  exactly_full(std::uint32_t segments, std::size_t bytes, int fitting, int each)
      : tiny_heap(segments), bytes_(bytes), fitting_(fitting), each_(each) {}

  void lane() {
    for (int i = 0; i < each_; ++i) take(bytes_);
  }
  std::string verdict() {
    const int expected = fitting_ < 8 * each_ ? fitting_ : 8 * each_;
    if (granted() != expected) {
      return std::to_string(granted()) + " blocks were had, and " + std::to_string(expected) +
             " fit";
    }
    return problem();
  }

 protected:
  std::size_t bytes_;
  int fitting_;
  int each_;
};

TEST(gallatin_schedules, the_last_block_of_the_heap_is_shared_out_to_the_last_slice) {
  explore(exactly_full(1, 64, 8, 1), two_warps);
  explore(exactly_full(2, 64, 16, 2), two_warps);
  explore(exactly_full(1, 16, 32, 4), two_warps, usual_schedules / 2);
}
TEST(gallatin_schedules, only_what_does_not_fit_is_refused) {
  explore(exactly_full(1, 64, 8, 2), two_warps);
  explore(exactly_full(1, 32, 16, 3), two_warps, usual_schedules / 2);
  explore(exactly_full(1, 64, 8, 2), {1, 8});
}
TEST(gallatin_schedules, units_of_several_slices_are_shared_out_to_the_last) {
  explore(exactly_full(2, 192, 4, 1), two_warps);  // two of three slices a block, two are left
  explore(exactly_full(3, 128, 12, 2), two_warps);
  explore(exactly_full(3, 512, 3, 1), two_warps);
}
TEST(gallatin_schedules, all_lanes_of_one_warp_get_their_share) {
  explore(exactly_full(1, 32, 16, 2), {1, 8});
  explore(exactly_full(2, 64, 16, 2), {1, 8});
}

/// Whole blocks: no unit has them.
constexpr gallatin_config two_block_sizes{.segment_bytes = 1024,
                                          .smallest_slice = 16,
                                          .largest_slice = 64,
                                          .least_segments = 1,
                                          .buffer_share = 1};

class whole_blocks : public tiny_heap<two_block_sizes> {
 public:
  explicit whole_blocks(std::size_t bytes) : tiny_heap(4), bytes_(bytes) {}

  void lane() {
    std::byte* first = take(bytes_);
    std::byte* second = take(20);  // of one more tree
    give(first, bytes_);
    give(second, 20);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::size_t bytes_;
};

TEST(gallatin_schedules, whole_blocks_come_and_go_beside_units) {
  explore(whole_blocks(600), two_warps, usual_schedules / 4);
}

class all_whole_blocks : public tiny_heap<two_block_sizes> {
 public:
  all_whole_blocks() : tiny_heap(8) {}
  void lane() { take(1024); }
  std::string verdict() {
    return refused() != 0 ? "refused, and there was a block for each lane" : problem();
  }
};

TEST(gallatin_schedules, every_segment_can_be_a_whole_block) {
  explore(all_whole_blocks(), two_warps);
}

/// Several whole blocks a segment: the lane that formats the only segment has blocks for others.
constexpr gallatin_config halves{.segment_bytes = 2048,
                                 .smallest_slice = 16,
                                 .largest_slice = 64,
                                 .least_segments = 1,
                                 .buffer_share = 1};

class all_halves : public tiny_heap<halves> {
 public:
  explicit all_halves(std::uint32_t segments) : tiny_heap(segments) {}
  void lane() { take(1000); }
  std::string verdict() {
    return refused() != 0 ? "refused, and there was a block for each lane" : problem();
  }
};

TEST(gallatin_schedules, a_segment_on_its_way_into_blocks_is_not_overlooked) {
  explore(all_halves(1), {2, 1});
  explore(all_halves(4), two_warps, usual_schedules / 2);
}

/// All lanes want the blocks that wait, unused, in the buffers of another size.
class idle_buffers : public exactly_full {
 public:
  explicit idle_buffers(std::size_t idle_bytes) : exactly_full(2, 64, 16, 2) {
    alone([this, idle_bytes] { give(take(idle_bytes), idle_bytes); });
    keep_state();
  }
};

TEST(gallatin_schedules, idle_blocks_of_other_sizes_are_given_back_in_time) {
  explore(idle_buffers(16), two_warps, usual_schedules / 2);
  explore(idle_buffers(32), two_warps, usual_schedules / 2);
  explore(idle_buffers(192), two_warps, usual_schedules / 2);
}

/// As `idle_buffers`, with one lane for each warp: how far each gets is as different as can be.
class two_lanes_and_an_idle_buffer : public tiny_heap<> {
 public:
  explicit two_lanes_and_an_idle_buffer(std::size_t idle_bytes) : tiny_heap(1) {
    alone([this, idle_bytes] { give(take(idle_bytes), idle_bytes); });
    keep_state();
  }

  void lane() { take(64); }
  std::string verdict() {
    return refused() != 0 ? "refused, and an idle block has room" : problem();
  }
};

TEST(gallatin_schedules, an_idle_block_is_never_overlooked) {
  for (const std::size_t idle_bytes : {16, 32, 192}) {
    explore(two_lanes_and_an_idle_buffer(idle_bytes), {2, 1});
    explore(two_lanes_and_an_idle_buffer(idle_bytes), {1, 2});
  }
}

/// Blocks run full and empty while segments go from size to size: claims, returns, the search of
/// the buffers and the release of segments meet in every way.
class churn : public tiny_heap<> {
 public:
  churn(std::uint32_t segments, std::vector<std::size_t> sizes)
      : tiny_heap(segments), sizes_(std::move(sizes)) {}

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    for (std::size_t round = 0; round < 3; ++round) {
      const std::size_t first_bytes = sizes_[(rank + round) % sizes_.size()];
      const std::size_t second_bytes = sizes_[(rank / 4 + round) % sizes_.size()];
      std::byte* first = take(first_bytes);
      std::byte* second = take(second_bytes);
      give(first, first_bytes);
      give(second, second_bytes);
    }
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::vector<std::size_t> sizes_;
};

TEST(gallatin_schedules, nothing_is_lost_in_a_churn_of_one_size) {
  explore(churn(1, {64}), two_warps, usual_schedules / 2);
  explore(churn(1, {16}), two_warps, usual_schedules / 2);
  explore(churn(2, {192}), two_warps, usual_schedules / 2);
}
TEST(gallatin_schedules, nothing_is_lost_when_sizes_compete_for_segments) {
  explore(churn(1, {16, 32}), two_warps, usual_schedules / 2);
  explore(churn(2, {16, 64, 192}), two_warps, usual_schedules / 2);
  explore(churn(2, {32, 64, 512}), {1, 8}, usual_schedules / 2);
}

/// The blocks of the heap are full but for one; those that free the last units of theirs meet
/// those that take what comes back.
class last_units_come_back : public tiny_heap<> {
 public:
  last_units_come_back() : tiny_heap(2) {
    alone([this] {
      for (auto& block : blocks_) block = take(32);
      // A block of eight is held by the eight lanes, the other three by nobody any more.
      for (std::size_t i = 8; i < 32; ++i) give(blocks_[i], 32);
    });
    keep_state();
  }

  void lane() {
    give(blocks_[simt::thread_rank()], 32);
    for (int round = 0; round < 2; ++round) give(take(32), 32);
    give(take(64), 64);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::byte* blocks_[32];
};

TEST(gallatin_schedules, a_block_that_comes_back_is_seen) {
  explore(last_units_come_back(), two_warps, usual_schedules / 2);
}

/// The last unit in use of a segment comes back, and the segment moves to where other sizes find
/// it. Its other blocks were free all the time, and still can be had.
class free_blocks_move : public tiny_heap<> {
 public:
  free_blocks_move() : tiny_heap(1) {
    alone([this] {
      std::byte* blocks[32];
      for (auto& block : blocks) block = take(16);
      for (int i = 0; i < 31; ++i) give(blocks[i], 16);
      last_ = blocks[31];
    });
    keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(last_, 16);
    } else if (take(16) == nullptr) {
      note("null, and three blocks were free");
    }
  }
  std::string verdict() { return problem(); }

 private:
  std::byte* last_ = nullptr;
};

TEST(gallatin_schedules, blocks_that_move_with_their_segment_are_not_overlooked) {
  explore(free_blocks_move(), {2, 1});
  explore(free_blocks_move(), {1, 3});
}

/// One lane of a warp waits for what the next one has yet to do: whoever thinks that the lanes of a
/// warp call together gets stuck.
class one_after_the_other : public tiny_heap<> {
 public:
  one_after_the_other() : tiny_heap(3) {}

  void reset(std::uint64_t seed) {
    tiny_heap::reset(seed);
    turn_ = 7;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const simt::atomic_ref turn(turn_);
    // Ends: lane 7 is first, and each lets the one before it go on.
    while (turn.load(simt::order::acquire) != rank) simt::backoff(1);
    std::byte* block = take(16 + 20 * (rank % 3));
    if (block == nullptr) note("null, and there was memory");
    turn.store(rank - 1, simt::order::release);
    give(block, 16 + 20 * (rank % 3));
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  alignas(8) std::uint32_t turn_ = 0;
};

TEST(gallatin_schedules, lanes_of_a_warp_need_not_call_together) {
  explore(one_after_the_other(), {1, 8}, usual_schedules / 2);
  explore(one_after_the_other(), two_warps, usual_schedules / 2);
}

/// After memory was out, everything is freed by other lanes than those that had it.
class out_and_back : public tiny_heap<> {
 public:
  explicit out_and_back(std::size_t bytes) : tiny_heap(1), bytes_(bytes) {}

  void reset(std::uint64_t seed) {
    tiny_heap::reset(seed);
    arrived_ = 0;
    for (auto& block : blocks_) block = nullptr;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t i = 0; i < 5; ++i) blocks_[5 * rank + i] = take(bytes_);
    wait_for_all(1);
    for (std::uint32_t i = 0; i < 5; ++i) give(blocks_[5 * ((rank + 3) % 8) + i], bytes_);
    wait_for_all(2);
    std::byte* again = take(bytes_);
    if (again == nullptr) note("null after everything was freed");
    give(again, bytes_);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  /// Ends: every lane arrives before it waits.
  void wait_for_all(std::uint32_t time) {
    const simt::atomic_ref arrived(arrived_);
    arrived.fetch_add(1, simt::order::acq_rel);
    while (arrived.load(simt::order::acquire) < 8 * time) simt::backoff(1);
  }

  std::size_t bytes_;
  alignas(8) std::uint32_t arrived_ = 0;
  std::byte* blocks_[40];
};

TEST(gallatin_schedules, memory_that_was_out_is_back_after_frees) {
  explore(out_and_back(16), two_warps, usual_schedules / 4);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
