// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of segments beside units, in many orders of the lanes' steps.
#include "tiny_heap.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Two lanes want a half of the heap each: neither may be refused because the other holds a part
/// of what it needs.
class two_halves : public tiny_heap<> {
 public:
  explicit two_halves(std::uint32_t segments) : tiny_heap(segments) {}

  void lane() {
    if (take(segment_span() / 2) == nullptr) note("null, and there was a half for each");
  }
  std::string verdict() { return problem(); }
};

TEST(gallatin_schedules, runs_do_not_take_each_other_to_pieces) {
  explore(two_halves(6), {2, 1});
  explore(two_halves(6), {1, 2});
  explore(two_halves(132), {2, 1}, usual_schedules / 4);  // words of the tree in both halves
}

/// Lanes that take and free runs, and lanes that take and free units and whole blocks.
class runs_beside_units : public tiny_heap<> {
 public:
  explicit runs_beside_units(std::uint32_t segments) : tiny_heap(segments) {}

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    for (std::size_t round = 0; round < 2; ++round) {
      const std::size_t bytes =
          rank % 2 == 0 ? (2 + rank / 2 % 2) * 512 : std::size_t{16} << (rank / 2 + round) % 3;
      std::byte* block = take(bytes);
      simt::backoff(1);
      give(block, bytes);
    }
  }
  std::string verdict() { return problem_when_empty(); }
};

TEST(gallatin_schedules, runs_and_units_do_not_meet) {
  explore(runs_beside_units(4), two_warps, usual_schedules / 2);
  explore(runs_beside_units(7), two_warps, usual_schedules / 2);
}

/// More than one word of the tree of free segments: runs cross words, and are put back.
class runs_across_words : public tiny_heap<> {
 public:
  runs_across_words() : tiny_heap(70) {
    // All is taken but the last 3 segments of the first word and the first 4 of the second.
    alone([this] {
      for (std::uint32_t s = 0; s < 70; ++s) take(512);
      for (std::uint32_t s = 61; s < 68; ++s) give(manager().segments() + s * 512, 512);
    });
    keep_state();
  }

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    const std::size_t bytes = rank % 4 == 3 ? 512 : (2 + rank % 4) * 512;
    std::byte* block = take(bytes);
    simt::backoff(1);
    give(block, bytes);
  }
  std::string verdict() {
    std::string what = problem();
    if (!what.empty()) return what;
    std::byte* all = nullptr;
    alone([this, &all] { all = take(7 * 512); });
    return all == nullptr ? "segments were lost" : problem();
  }
};

TEST(gallatin_schedules, a_run_that_fails_halfway_is_put_back_and_nothing_else) {
  explore(runs_across_words(), two_warps, usual_schedules / 4);
}

/// A segment whose blocks fill four words of their tree. One lane frees the last unit in use, of a
/// block in the last word, and takes all four words together; another one takes a block of the
/// first word meanwhile, which a third one gives back because it wants the segment for another
/// size. Of the two that each find that the segment is not whole, one has to look again.
constexpr gallatin_config many_blocks{.segment_bytes = 32768, .least_segments = 1};

class segment_of_four_words : public tiny_heap<many_blocks> {
 public:
  segment_of_four_words() : tiny_heap(1) {
    alone([this] {
      std::byte* blocks[2048];
      for (auto& block : blocks) block = take(16);
      for (std::uint32_t i = 0; i < 2047; ++i) give(blocks[i], 16);
      last_ = blocks[2047];
    });
    keep_state();
  }

  void lane() {
    switch (simt::thread_rank()) {
      case 0:
        give(last_, 16);
        break;
      case 1:
        give(take(16), 16);
        break;
      default:
        give(take(128), 128);
    }
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::byte* last_ = nullptr;
};

TEST(gallatin_schedules, a_segment_of_many_blocks_is_released_by_one_lane) {
  explore(segment_of_four_words(), {3, 1}, 4 * usual_schedules);
}

/// The segments that one lane frees as a run are at once those of others.
class freed_run_is_reused : public tiny_heap<> {
 public:
  freed_run_is_reused() : tiny_heap(2) {
    alone([this] { run_ = take(2 * 512); });
    keep_state();
  }

  void reset(std::uint64_t seed) {
    tiny_heap::reset(seed);
    freed_ = 0;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(run_, 2 * 512);
      simt::atomic_ref(freed_).store(1, simt::order::release);
    } else {
      std::byte* block = take(32);
      // Ends: lane 0 waits for nobody.
      while (simt::atomic_ref(freed_).load(simt::order::acquire) == 0) simt::backoff(1);
      if (block == nullptr) block = take(32);
      if (block == nullptr) note("null after the run was freed");
      give(block, 32);
    }
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::byte* run_ = nullptr;
  alignas(8) std::uint32_t freed_ = 0;
};

TEST(gallatin_schedules, a_freed_run_serves_other_sizes_at_once) {
  explore(freed_run_is_reused(), two_warps, usual_schedules / 2);
}

/// The whole heap in one block, while its last units come back.
class everything_at_once : public tiny_heap<> {
 public:
  everything_at_once() : tiny_heap(3) {
    alone([this] {
      for (auto& block : blocks_) block = take(16);
    });
    keep_state();
  }

  void lane() {
    give(blocks_[simt::thread_rank()], 16);
    if (simt::thread_rank() != 7) return;
    std::byte* two = take(2 * 512);
    if (two == nullptr) note("null, and two segments were free from the start");
    give(two, 2 * 512);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::byte* blocks_[8];
};

TEST(gallatin_schedules, a_run_is_had_while_the_last_units_come_back) {
  explore(everything_at_once(), two_warps);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
