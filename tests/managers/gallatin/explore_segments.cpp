// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/gallatin/segments_cases.hpp"

#include "run_cases.hpp"

#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// Two lanes want a half of the heap each: neither may be refused because the other holds a part
/// of what it needs.
class two_halves : public gallatin_world<simt::grid{2, 1}> {
 public:
  using gallatin_world<simt::grid{2, 1}>::gallatin_world;

  void lane() {
    if (take(all_bytes() / 2) == nullptr) {
      heap.blocks().note("null, and there was a half for each");
    }
  }
};

/// Lanes that take and free runs, and lanes that take and free units and whole blocks.
class runs_beside_units : public gallatin_world<> {
 public:
  using gallatin_world<>::gallatin_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t round = 0; round < 2; ++round) {
      std::byte* block = take(rank % 2 == 0 ? (2 + rank / 2 % 2) * segment_bytes()
                                            : 16u << (rank / 2 + round) % 3);
      simt::backoff(1);
      give(block);
    }
  }
  std::string verdict() { return problem_when_empty(); }
};

/// Runs that cross the words of the tree of free segments: one that fails halfway is put back, and
/// nothing else is.
class runs_across_words : public gallatin_world<> {
 public:
  explicit runs_across_words(gallatin_maker make) : gallatin_world<>(make, 70) {
    // The last 3 segments of the first word and the first 4 of the second are free.
    for (int s = 0; s < 70; ++s) take_before(segment_bytes());
    std::vector<gallatin_world<>::held_block> taken;
    for (std::uint32_t s = 0; s < 70; ++s) {
      std::byte* segment = first_segment() + s * segment_bytes();
      if (s >= 61 && s < 68) {
        give_before(segment);
      } else {
        taken.push_back({segment, segment_bytes()});
      }
    }
    start_here(taken);
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    std::byte* block = take((rank % 4 == 3 ? 1 : 2 + rank % 4) * segment_bytes());
    simt::backoff(1);
    give(block);
  }
  std::string verdict() {
    std::byte* all = nullptr;
    heap.run_quietly([this, &all] { all = heap.take(7 * segment_bytes()); });
    return all == nullptr ? "segments were lost" : heap.problem();
  }
};

/// One lane frees the last unit in use of a segment, of a block in the last of the segment's four
/// words, and takes the words; another one takes a block of the first word meanwhile, which a third
/// one gives back because it wants the segment for another size. Of the two that each find that the
/// segment is not whole, one has to look again.
class segment_of_four_words : public gallatin_world<simt::grid{3, 1}> {
 public:
  explicit segment_of_four_words(gallatin_maker make) : gallatin_world<simt::grid{3, 1}>(make, 1) {
    std::vector<std::byte*> blocks(2048);
    for (auto& block : blocks) block = take_before(16);
    for (int i = 0; i < 2047; ++i) give_before(blocks[i]);
    start_here({{blocks[2047], 16}});
  }

  void lane() {
    switch (simt::thread_rank()) {
      case 0:
        give(held[0].start);
        break;
      case 1:
        give(take(16));
        break;
      default:
        give(take(128));
    }
  }
  std::string verdict() { return problem_when_empty(); }
};

/// The segments that one lane frees as a run are at once those of others.
class freed_run_is_reused : public gallatin_world<> {
 public:
  explicit freed_run_is_reused(gallatin_maker make) : gallatin_world<>(make, 2) {
    start_here({{take_before(all_bytes()), all_bytes()}});
  }

  void reset(std::uint64_t seed) {
    gallatin_world<>::reset(seed);
    freed_ = 0;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(held[0].start);
      simt::atomic_ref(freed_).store(1, simt::order::release);
    } else {
      std::byte* block = take(32);
      // Ends: lane 0 never waits.
      while (simt::atomic_ref(freed_).load(simt::order::acquire) == 0) simt::backoff(1);
      if (block == nullptr) block = take(32);
      if (block == nullptr) heap.blocks().note("null after the run was freed");
      give(block);
    }
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  alignas(8) std::uint32_t freed_ = 0;
};

/// A run is taken while the last units of another segment come back.
class run_beside_frees : public gallatin_world<> {
 public:
  explicit run_beside_frees(gallatin_maker make) : gallatin_world<>(make, 3) {
    for (int i = 0; i < 8; ++i) blocks_.push_back({take_before(16), 16});
    start_here(blocks_);
  }

  void lane() {
    give(blocks_[simt::thread_rank()].start);
    if (simt::thread_rank() != 7) return;
    std::byte* two = take(2 * segment_bytes());
    if (two == nullptr) heap.blocks().note("null, and two segments were free from the start");
    give(two);
  }
  std::string verdict() { return problem_when_empty(); }

 private:
  std::vector<gallatin_world<>::held_block> blocks_;
};

const registrar added{{"gallatin_segments", subject_kind::manager,
                       gallatin_segment_cases<gallatin_family<gallatin_config, gallatin>>(), "",
                       ""}};

}  // namespace

std::vector<named_case> gallatin_segment_cases(const gallatin_makers& with) {
  std::vector<named_case> cases = {
      case_of<two_halves>("two_halves", with.small, 6u),
      case_of<two_halves>("two_halves_across_words", with.small, 132u),
      case_of<runs_beside_units>("runs_beside_units", with.small, 4u),
      case_of<runs_beside_units>("runs_beside_units_with_room", with.small, 7u),
      case_of<runs_across_words>("runs_across_words", with.small),
      case_of<segment_of_four_words>("segment_of_four_words", with.many_blocks),
      case_of<freed_run_is_reused>("freed_run_is_reused", with.small),
      case_of<run_beside_frees>("run_beside_frees", with.small),
  };
  add_run_cases(with.small(70).how, 512, 63, cases);
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
