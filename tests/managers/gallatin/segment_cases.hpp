// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's segments: runs of them beside units, and their release.

#include "managers/gallatin/world.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two lanes want a half of the heap each: neither may be refused because the other holds a part
/// of what it needs.
template <class M>
class two_halves : public gallatin_world<M, simt::grid{2, 1}> {
 public:
  using gallatin_world<M, simt::grid{2, 1}>::gallatin_world;

  void lane() {
    if (this->take(this->all_bytes() / 2) == nullptr) {
      this->heap.blocks().note("null, and there was a half for each");
    }
  }
};

/// Lanes that take and free runs, and lanes that take and free units and whole blocks.
template <class M>
class runs_beside_units : public gallatin_world<M> {
 public:
  using gallatin_world<M>::gallatin_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    for (std::uint32_t round = 0; round < 2; ++round) {
      std::byte* block = this->take(rank % 2 == 0 ? (2 + rank / 2 % 2) * this->segment_bytes()
                                                  : 16u << (rank / 2 + round) % 3);
      simt::backoff(1);
      this->give(block);
    }
  }
  std::string verdict() { return this->problem_when_empty(); }
};

/// Runs that cross the words of the tree of free segments: one that fails halfway is put back, and
/// nothing else is.
template <class M>
class runs_across_words : public gallatin_world<M> {
 public:
  runs_across_words() : gallatin_world<M>(70) {
    // The last 3 segments of the first word and the first 4 of the second are free.
    for (int s = 0; s < 70; ++s) this->take_before(this->segment_bytes());
    std::vector<typename gallatin_world<M>::held_block> taken;
    for (std::uint32_t s = 0; s < 70; ++s) {
      std::byte* segment = this->heap.manager().segments() + s * this->segment_bytes();
      if (s >= 61 && s < 68) {
        this->give_before(segment);
      } else {
        taken.push_back({segment, this->segment_bytes()});
      }
    }
    this->start_here(taken);
  }

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    std::byte* block = this->take((rank % 4 == 3 ? 1 : 2 + rank % 4) * this->segment_bytes());
    simt::backoff(1);
    this->give(block);
  }
  std::string verdict() {
    std::byte* all = nullptr;
    this->heap.run_quietly([this, &all] { all = this->heap.take(7 * this->segment_bytes()); });
    return all == nullptr ? "segments were lost" : this->heap.problem();
  }
};

/// One lane frees the last unit in use of a segment, of a block in the last of the segment's four
/// words, and takes the words; another one takes a block of the first word meanwhile, which a third
/// one gives back because it wants the segment for another size. Of the two that each find that the
/// segment is not whole, one has to look again.
template <class M>
class segment_of_four_words : public gallatin_world<M, simt::grid{3, 1}> {
 public:
  segment_of_four_words() : gallatin_world<M, simt::grid{3, 1}>(1) {
    std::vector<std::byte*> blocks(2048);
    for (auto& block : blocks) block = this->take_before(16);
    for (int i = 0; i < 2047; ++i) this->give_before(blocks[i]);
    this->start_here({{blocks[2047], 16}});
  }

  void lane() {
    switch (simt::thread_rank()) {
      case 0:
        this->give(this->held[0].start);
        break;
      case 1:
        this->give(this->take(16));
        break;
      default:
        this->give(this->take(128));
    }
  }
  std::string verdict() { return this->problem_when_empty(); }
};

/// The segments that one lane frees as a run are at once those of others.
template <class M>
class freed_run_is_reused : public gallatin_world<M> {
 public:
  freed_run_is_reused() : gallatin_world<M>(2) {
    this->start_here({{this->take_before(this->all_bytes()), this->all_bytes()}});
  }

  void reset(std::uint64_t seed) {
    gallatin_world<M>::reset(seed);
    freed_ = 0;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      this->give(this->held[0].start);
      simt::atomic_ref(freed_).store(1, simt::order::release);
    } else {
      std::byte* block = this->take(32);
      // Ends: lane 0 waits for nobody.
      while (simt::atomic_ref(freed_).load(simt::order::acquire) == 0) simt::backoff(1);
      if (block == nullptr) block = this->take(32);
      if (block == nullptr) this->heap.blocks().note("null after the run was freed");
      this->give(block);
    }
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  alignas(8) std::uint32_t freed_ = 0;
};

/// A run is had while the last units of another segment come back.
template <class M>
class run_beside_frees : public gallatin_world<M> {
 public:
  run_beside_frees() : gallatin_world<M>(3) {
    for (int i = 0; i < 8; ++i) blocks_.push_back({this->take_before(16), 16});
    this->start_here(blocks_);
  }

  void lane() {
    this->give(blocks_[simt::thread_rank()].start);
    if (simt::thread_rank() != 7) return;
    std::byte* two = this->take(2 * this->segment_bytes());
    if (two == nullptr) this->heap.blocks().note("null, and two segments were free from the start");
    this->give(two);
  }
  std::string verdict() { return this->problem_when_empty(); }

 private:
  std::vector<typename gallatin_world<M>::held_block> blocks_;
};

template <class Family>
std::vector<named_case> gallatin_segment_cases() {
  using small = typename Family::small;
  return {
      case_of<two_halves<small>>("two_halves", 6u),
      case_of<two_halves<small>>("two_halves_across_words", 132u),
      case_of<runs_beside_units<small>>("runs_beside_units", 4u),
      case_of<runs_beside_units<small>>("runs_beside_units_with_room", 7u),
      case_of<runs_across_words<small>>("runs_across_words"),
      case_of<segment_of_four_words<typename Family::many_blocks>>("segment_of_four_words"),
      case_of<freed_run_is_reused<small>>("freed_run_is_reused"),
      case_of<run_beside_frees<small>>("run_beside_frees"),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
