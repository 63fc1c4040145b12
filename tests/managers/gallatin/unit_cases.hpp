// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's units and blocks: which are shared out, come back, and wait in buffers.

#include "managers/gallatin/world.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// As many requests as fit, or some more: just those that do not fit are refused.
template <class M, simt::grid Shape = two_warps>
class exactly_full : public gallatin_world<M, Shape> {
 public:
  exactly_full(std::uint32_t segments, std::uint32_t bytes, int fitting, int each)
      : gallatin_world<M, Shape>(segments), bytes_(bytes), each_(each) {
    const int all = static_cast<int>(Shape.blocks * Shape.threads_per_block) * each;
    expected_ = fitting < all ? fitting : all;
  }

  void lane() {
    for (int i = 0; i < each_; ++i) this->take(bytes_);
  }
  std::string verdict() {
    if (this->granted != expected_) {
      return std::to_string(this->granted) + " blocks were had, and " + std::to_string(expected_) +
             " fit";
    }
    return this->heap.problem();
  }

 private:
  std::uint32_t bytes_;
  int each_;
  int expected_;
};

/// As `exactly_full`, and all that there is waits, unused, in the buffers of another size.
template <class M, simt::grid Shape>
class idle_buffers : public exactly_full<M, Shape> {
 public:
  idle_buffers(std::uint32_t idle_bytes, std::uint32_t segments, int fitting, int each)
      : exactly_full<M, Shape>(segments, 64, fitting, each) {
    this->give_before(this->take_before(idle_bytes));
    this->start_here();
  }
};

/// Whole blocks come and go beside units.
template <class M>
class whole_blocks : public gallatin_world<M> {
 public:
  whole_blocks() : gallatin_world<M>(4) {}

  void lane() {
    std::byte* first = this->take(1000);
    std::byte* second = this->take(20);
    this->give(first);
    this->give(second);
  }
  std::string verdict() { return this->problem_when_empty(); }
};

/// Blocks run full and empty while segments go from size to size: claims, returns, the search of
/// the buffers and the release of segments meet in every way.
template <class M>
class segments_change_sizes : public gallatin_world<M> {
 public:
  segments_change_sizes(std::uint32_t segments, std::vector<std::uint32_t> sizes)
      : gallatin_world<M>(segments), sizes_(std::move(sizes)) {}

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    for (std::size_t round = 0; round < 3; ++round) {
      std::byte* first = this->take(sizes_[(rank + round) % sizes_.size()]);
      std::byte* second = this->take(sizes_[(rank / 4 + round) % sizes_.size()]);
      this->give(first);
      this->give(second);
    }
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  std::vector<std::uint32_t> sizes_;
};

/// The last units of a block come back, and meet those that take what is free then.
template <class M>
class last_units_come_back : public gallatin_world<M> {
 public:
  last_units_come_back() : gallatin_world<M>(2) {
    std::byte* blocks[32];
    for (auto& block : blocks) block = this->take_before(32);
    for (int i = 8; i < 32; ++i) this->give_before(blocks[i]);
    for (int i = 0; i < 8; ++i) first_.push_back({blocks[i], 32});
    this->start_here(first_);
  }

  void lane() {
    this->give(first_[simt::thread_rank()].start);
    for (int round = 0; round < 2; ++round) this->give(this->take(32));
    this->give(this->take(64));
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  std::vector<typename gallatin_world<M>::held_block> first_;
};

/// The last unit in use of a segment comes back, and the segment moves to where other sizes find
/// it. Its other blocks were free all the time, and still can be had.
template <class M>
class free_blocks_move : public gallatin_world<M, simt::grid{2, 1}> {
 public:
  free_blocks_move() : gallatin_world<M, simt::grid{2, 1}>(1) {
    std::byte* blocks[32];
    for (auto& block : blocks) block = this->take_before(16);
    for (int i = 0; i < 31; ++i) this->give_before(blocks[i]);
    this->start_here({{blocks[31], 16}});
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      this->give(this->held[0].start);
    } else if (this->take(16) == nullptr) {
      this->heap.blocks().note("null, and three blocks were free");
    }
  }
};

/// One lane of a warp waits for what the next one has yet to do: whoever thinks that the lanes of a
/// warp call together gets stuck.
template <class M>
class one_after_the_other : public gallatin_world<M, simt::grid{1, 8}> {
 public:
  one_after_the_other() : gallatin_world<M, simt::grid{1, 8}>(3) {}

  void reset(std::uint64_t seed) {
    gallatin_world<M, simt::grid{1, 8}>::reset(seed);
    turn_ = 7;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const simt::atomic_ref turn(turn_);
    // Ends: lane 7 is first, and each lets the one before it go on.
    while (turn.load(simt::order::acquire) != rank) simt::backoff(1);
    std::byte* block = this->take(16 + 20 * (rank % 3));
    if (block == nullptr) this->heap.blocks().note("null, and there was memory");
    turn.store(rank - 1, simt::order::release);
    this->give(block);
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  alignas(8) std::uint32_t turn_ = 7;
};

/// After memory was out, everything is freed by other lanes than those that had it; then each lane
/// gets a block.
template <class M>
class out_and_back : public gallatin_world<M> {
 public:
  out_and_back() : gallatin_world<M>(1) {}

  void reset(std::uint64_t seed) {
    gallatin_world<M>::reset(seed);
    arrived_ = 0;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t i = 0; i < 5; ++i) blocks_[5 * rank + i] = this->take(16);
    wait_for_all(1);
    for (std::uint32_t i = 0; i < 5; ++i) this->give(blocks_[5 * ((rank + 3) % 8) + i]);
    wait_for_all(2);
    std::byte* again = this->take(16);
    if (again == nullptr) this->heap.blocks().note("null after everything was freed");
    this->give(again);
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  /// Ends: every lane arrives before it waits.
  void wait_for_all(std::uint32_t time) {
    const simt::atomic_ref arrived(arrived_);
    arrived.fetch_add(1, simt::order::acq_rel);
    while (arrived.load(simt::order::acquire) < 8 * time) simt::backoff(1);
  }

  alignas(8) std::uint32_t arrived_ = 0;
  std::byte* blocks_[40];
};

/// Units are shared out to the last one.
template <class Family>
std::vector<named_case> gallatin_share_cases() {
  using small = typename Family::small;
  using halves = typename Family::halves;
  constexpr simt::grid two_lanes{2, 1};
  return {
      case_of<exactly_full<small>>("last_block", 1u, 64u, 8, 1),
      case_of<exactly_full<small>>("last_blocks", 1u, 16u, 32, 4),
      case_of<exactly_full<small>>("more_than_fit", 1u, 64u, 8, 2),
      case_of<exactly_full<small, one_warp>>("more_than_fit_one_warp", 1u, 64u, 8, 2),
      // Two of three slices fit into a block, and two slices are left.
      case_of<exactly_full<small>>("three_slices", 2u, 192u, 4, 1),
      case_of<exactly_full<small>>("eight_slices", 3u, 512u, 3, 1),
      case_of<exactly_full<halves, two_lanes>>("last_halves", 1u, 1000u, 2, 1),
      case_of<exactly_full<halves>>("all_halves", 4u, 1000u, 8, 1),
      case_of<one_after_the_other<small>>("one_after_the_other"),
  };
}

/// Units and blocks come back, and are found again.
template <class Family>
std::vector<named_case> gallatin_return_cases() {
  using small = typename Family::small;
  using sizes = std::vector<std::uint32_t>;
  constexpr simt::grid two_lanes{2, 1};
  return {
      case_of<whole_blocks<typename Family::halves>>("whole_blocks"),
      case_of<idle_buffers<small, two_warps>>("idle_buffer", 16u, 2u, 16, 2),
      case_of<idle_buffers<small, two_lanes>>("idle_buffer_two_lanes", 16u, 1u, 2, 1),
      case_of<idle_buffers<small, two_lanes>>("idle_buffer_of_slices", 192u, 1u, 2, 1),
      case_of<segments_change_sizes<small>>("churn_of_64", 1u, sizes{64}),
      case_of<segments_change_sizes<small>>("churn_of_16_and_32", 1u, sizes{16, 32}),
      case_of<segments_change_sizes<small>>("churn_of_three_sizes", 2u, sizes{16, 64, 192}),
      case_of<last_units_come_back<small>>("last_units_come_back"),
      case_of<free_blocks_move<small>>("free_blocks_move"),
      case_of<out_and_back<small>>("out_and_back"),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
