// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/gallatin/blocks_cases.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// As many requests as fit, or some more: just those that do not fit are refused.
template <simt::grid Shape = two_warps>
class exactly_full : public gallatin_world<Shape> {
 public:
  exactly_full(gallatin_maker make, std::uint32_t segments, std::uint32_t bytes, int fitting,
               int each)
      : gallatin_world<Shape>(make, segments), bytes_(bytes), each_(each) {
    const int all = static_cast<int>(Shape.blocks * Shape.threads_per_block) * each;
    expected_ = fitting < all ? fitting : all;
  }

  void lane() {
    for (int i = 0; i < each_; ++i) this->take(bytes_);
  }
  std::string verdict() {
    if (this->granted != expected_) {
      return std::to_string(this->granted) + " blocks were handed out, and " +
             std::to_string(expected_) + " fit";
    }
    return this->heap.problem();
  }

 private:
  std::uint32_t bytes_;
  int each_;
  int expected_;
};

/// As `exactly_full`, and everything waits, unused, in the buffer of another size.
template <simt::grid Shape>
class idle_buffers : public exactly_full<Shape> {
 public:
  idle_buffers(gallatin_maker make, std::uint32_t idle_bytes, std::uint32_t segments,
               std::uint32_t bytes, int fitting, int each)
      : exactly_full<Shape>(make, segments, bytes, fitting, each) {
    this->give_before(this->take_before(idle_bytes));
    this->start_here();
  }
};

/// Whole blocks come and go beside units.
class whole_blocks : public gallatin_world<> {
 public:
  explicit whole_blocks(gallatin_maker make) : gallatin_world<>(make, 4) {}

  void lane() {
    std::byte* first = take(1000);
    std::byte* second = take(20);
    give(first);
    give(second);
  }
  std::string verdict() { return problem_when_empty(); }
};

/// Blocks run full and empty while segments go from size to size: claims, returns, the search of
/// the buffers and the release of segments meet in every way.
class segments_change_sizes : public gallatin_world<> {
 public:
  segments_change_sizes(gallatin_maker make, std::uint32_t segments,
                        std::vector<std::uint32_t> sizes)
      : gallatin_world<>(make, segments), sizes_(std::move(sizes)) {}

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    for (std::size_t round = 0; round < 3; ++round) {
      std::byte* first = take(sizes_[(rank + round) % sizes_.size()]);
      std::byte* second = take(sizes_[(rank / 4 + round) % sizes_.size()]);
      give(first);
      give(second);
    }
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::vector<std::uint32_t> sizes_;
};

/// The last units of a block come back, and meet those that take what is free then.
class last_units_come_back : public gallatin_world<> {
 public:
  explicit last_units_come_back(gallatin_maker make) : gallatin_world<>(make, 2) {
    std::byte* blocks[32];
    for (auto& block : blocks) block = take_before(32);
    for (int i = 8; i < 32; ++i) give_before(blocks[i]);
    for (int i = 0; i < 8; ++i) first_.push_back({blocks[i], 32});
    start_here(first_);
  }

  void lane() {
    give(first_[simt::thread_rank()].start);
    for (int round = 0; round < 2; ++round) give(take(32));
    give(take(64));
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::vector<gallatin_world<>::held_block> first_;
};

/// The last unit in use of a segment comes back, and the segment moves to where other sizes find
/// it. Its other blocks were free all the time, and are still available.
class free_blocks_move : public gallatin_world<simt::grid{2, 1}> {
 public:
  explicit free_blocks_move(gallatin_maker make) : gallatin_world<simt::grid{2, 1}>(make, 1) {
    std::byte* blocks[32];
    for (auto& block : blocks) block = take_before(16);
    for (int i = 0; i < 31; ++i) give_before(blocks[i]);
    start_here({{blocks[31], 16}});
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(held[0].start);
    } else if (take(16) == nullptr) {
      heap.blocks().note("null, and three blocks were free");
    }
  }
};

/// One lane frees what makes room, and must get some then; another one may have searched in vain.
class refused_before : public gallatin_world<simt::grid{2, 1}> {
 public:
  using gallatin_world<simt::grid{2, 1}>::gallatin_world;

  void lane() {
    const bool frees = simt::thread_rank() == 1;
    if (frees) give(held[0].start);
    if (take(16) == nullptr && frees) heap.blocks().note("null, and there was room");
  }
};

/// Everything waits in the buffer of another size, with one unit in use: of those that were handed
/// out, which are some or all but one.
class last_user_of_a_slot_leaves : public refused_before {
 public:
  last_user_of_a_slot_leaves(gallatin_maker make, int handed_out) : refused_before(make, 1) {
    std::byte* const last = take_before(64);
    std::vector<std::byte*> others;
    for (int i = 1; i < handed_out; ++i) others.push_back(take_before(64));
    for (std::byte* const block : others) give_before(block);
    start_here({{last, 64}});
  }
};

/// Of the one segment there is one unit in use, of a block of another size that has left its slot.
class last_user_of_a_segment_leaves : public refused_before {
 public:
  explicit last_user_of_a_segment_leaves(gallatin_maker make) : refused_before(make, 1) {
    std::byte* blocks[8];
    for (auto& block : blocks) block = take_before(64);
    for (int i = 1; i < 8; ++i) give_before(blocks[i]);
    start_here({{blocks[0], 64}});
  }
};

/// Of one block there is one unit in use, of the segment's others all.
class last_user_of_a_block_leaves : public refused_before {
 public:
  explicit last_user_of_a_block_leaves(gallatin_maker make) : refused_before(make, 1) {
    std::vector<held_block> all;
    for (int i = 0; i < 32; ++i) all.push_back({take_before(16), 16});
    for (int i = 1; i < 8; ++i) give_before(all[static_cast<std::size_t>(i)].start);
    all.erase(all.begin() + 1, all.begin() + 8);
    start_here(all);
  }
};

/// A segment becomes free, and a lane that takes exactly the last unit of a block moves it into its
/// slot, where it serves nobody yet. A lane that has looked at that slot before, and finds no free
/// segment afterwards, must not make it known that there is nothing.
class filled_for_nobody : public gallatin_world<simt::grid{3, 1}> {
 public:
  explicit filled_for_nobody(gallatin_maker make) : gallatin_world<simt::grid{3, 1}>(make, 2) {
    std::vector<held_block> all{{take_before(segment_bytes()), segment_bytes()}};
    for (int i = 0; i < 7; ++i) all.push_back({take_before(64), 64});
    start_here(all);
  }

  void lane() {
    if (simt::thread_rank() == 0) take(64);  // where the slot is
    if (simt::thread_rank() == 1) give(held[0].start);
    if (simt::thread_rank() == 2) take(16);
  }

  std::string verdict() {
    // The last unit, and the segment or a part of it.
    if (granted < 2) {
      std::byte* const later = take_before(16);
      if (later == nullptr) return "null, and a segment is free or idle";
      give_before(later);
    }
    return heap.problem();
  }
};

/// A lane looks for what nobody has, and returns an idle block that another lane wants meanwhile.
class returned_by_the_refused : public gallatin_world<simt::grid{2, 1}> {
 public:
  returned_by_the_refused(gallatin_maker make, std::uint32_t segments, std::uint32_t in_vain,
                          std::uint32_t bytes)
      : gallatin_world<simt::grid{2, 1}>(make, segments), in_vain_(in_vain), bytes_(bytes) {
    std::vector<held_block> all;
    while (std::byte* const block = take_before(16)) all.push_back({block, 16});
    // What the first segment, or the first block, has; and one unit of it is allocated again, and
    // freed.
    const std::size_t first = segments == 1 ? 8 : 32;
    for (std::size_t i = 0; i < first; ++i) give_before(all[i].start);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    give_before(take_before(segments == 1 ? 16 : 32));
    start_here(all);
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      take(in_vain_);
    } else if (take(bytes_) == nullptr) {
      heap.blocks().note("null, and there was an idle block");
    }
  }

 private:
  std::uint32_t in_vain_;
  std::uint32_t bytes_;
};

/// Two of three segments wait in the buffers of other sizes. A lane that wants all three in vain
/// returns one of them, and another lane that wants those two the other one.
class idle_run_returned : public gallatin_world<simt::grid{2, 1}> {
 public:
  explicit idle_run_returned(gallatin_maker make) : gallatin_world<simt::grid{2, 1}>(make, 3) {
    std::byte* const first = take_before(16);
    std::byte* const second = take_before(32);
    std::byte* const third = take_before(segment_bytes());
    give_before(first);
    give_before(second);
    start_here({{third, segment_bytes()}});
  }

  void lane() {
    const bool in_vain = simt::thread_rank() == 0;
    if (take((in_vain ? 3 : 2) * segment_bytes()) == nullptr && !in_vain) {
      heap.blocks().note("null, and two segments were idle");
    }
  }
};

/// One lane of a warp waits for what the next one has yet to do: a manager that takes the lanes of
/// a warp for converged gets stuck.
class one_after_the_other : public gallatin_world<simt::grid{1, 8}> {
 public:
  explicit one_after_the_other(gallatin_maker make) : gallatin_world<simt::grid{1, 8}>(make, 3) {}

  void reset(std::uint64_t seed) {
    gallatin_world<simt::grid{1, 8}>::reset(seed);
    turn_ = 7;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const simt::atomic_ref turn(turn_);
    // Ends: lane 7 is first, and each lets the one before it go on.
    while (turn.load(simt::order::acquire) != rank) simt::backoff(1);
    std::byte* block = take(16 + 20 * (rank % 3));
    if (block == nullptr) heap.blocks().note("null, and there was memory");
    turn.store(rank - 1, simt::order::release);
    give(block);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  alignas(8) std::uint32_t turn_ = 7;
};

/// After exhaustion, everything is freed by other lanes than those that had it; then each lane
/// gets a block.
class out_and_back : public gallatin_world<> {
 public:
  explicit out_and_back(gallatin_maker make) : gallatin_world<>(make, 1) {}

  void reset(std::uint64_t seed) {
    gallatin_world<>::reset(seed);
    arrived_ = 0;
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t i = 0; i < 5; ++i) blocks_[5 * rank + i] = take(16);
    wait_for_all(1);
    for (std::uint32_t i = 0; i < 5; ++i) give(blocks_[5 * ((rank + 3) % 8) + i]);
    wait_for_all(2);
    std::byte* again = take(16);
    if (again == nullptr) heap.blocks().note("null after everything was freed");
    give(again);
  }
  std::string verdict() { return problem_when_empty(); }

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

using family = gallatin_family<gallatin_config, gallatin>;

const registrar common{manager_subject("gallatin", gallatin_makers::of<family>().small(12).how)};
const registrar shares{
    {"gallatin_shares", subject_kind::manager, gallatin_share_cases<family>(), "", ""}};
const registrar returns{
    {"gallatin_returns", subject_kind::manager, gallatin_return_cases<family>(), "", ""}};

}  // namespace

std::vector<named_case> gallatin_share_cases(const gallatin_makers& with) {
  constexpr simt::grid two_lanes{2, 1};
  return {
      case_of<exactly_full<>>("last_block", with.small, 1u, 64u, 8, 1),
      case_of<exactly_full<>>("last_blocks", with.small, 1u, 16u, 32, 4),
      case_of<exactly_full<>>("more_than_fit", with.small, 1u, 64u, 8, 2),
      case_of<exactly_full<one_warp>>("more_than_fit_one_warp", with.small, 1u, 64u, 8, 2),
      // Two of three slices fit into a block, and two slices are left.
      case_of<exactly_full<>>("three_slices", with.small, 2u, 192u, 4, 1),
      case_of<exactly_full<>>("eight_slices", with.small, 3u, 512u, 3, 1),
      case_of<exactly_full<two_lanes>>("last_halves", with.halves, 1u, 1000u, 2, 1),
      case_of<exactly_full<>>("all_halves", with.halves, 4u, 1000u, 8, 1),
      case_of<one_after_the_other>("one_after_the_other", with.small),
  };
}

std::vector<named_case> gallatin_return_cases(const gallatin_makers& with) {
  using sizes = std::vector<std::uint32_t>;
  constexpr simt::grid two_lanes{2, 1};
  return {
      case_of<whole_blocks>("whole_blocks", with.halves),
      case_of<idle_buffers<two_warps>>("idle_buffer", with.small, 16u, 2u, 64u, 16, 2),
      case_of<idle_buffers<two_lanes>>("idle_buffer_two_lanes", with.small, 16u, 1u, 64u, 2, 1),
      case_of<idle_buffers<two_lanes>>("idle_buffer_of_slices", with.small, 192u, 1u, 64u, 2, 1),
      case_of<idle_buffers<two_lanes>>("idle_buffer_for_slices", with.small, 64u, 1u, 192u, 2, 1),
      case_of<segments_change_sizes>("churn_of_64", with.small, 1u, sizes{64}),
      case_of<segments_change_sizes>("churn_of_16_and_32", with.small, 1u, sizes{16, 32}),
      case_of<segments_change_sizes>("churn_of_three_sizes", with.small, 2u, sizes{16, 64, 192}),
      case_of<last_units_come_back>("last_units_come_back", with.small),
      case_of<free_blocks_move>("free_blocks_move", with.small),
      case_of<returned_by_the_refused>("block_returned_by_the_refused", with.small, 1u, 64u, 16u),
      case_of<returned_by_the_refused>("segment_returned_by_the_refused", with.small, 2u, 1024u,
                                       64u),
      case_of<idle_run_returned>("idle_run_returned", with.small),
      case_of<filled_for_nobody>("filled_for_nobody", with.small),
      case_of<last_user_of_a_slot_leaves>("last_user_of_a_slot_leaves", with.small, 1),
      case_of<last_user_of_a_slot_leaves>("last_user_of_a_used_slot_leaves", with.small, 7),
      case_of<last_user_of_a_block_leaves>("last_user_of_a_block_leaves", with.small),
      case_of<last_user_of_a_segment_leaves>("last_user_of_a_segment_leaves", with.small),
      case_of<out_and_back>("out_and_back", with.small),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
