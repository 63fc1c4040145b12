// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "four_cells.hpp"

#include "warpheap/simt/simt.hpp"

#include <bit>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Four cells that lanes take by looking at all of them, as managers do.
template <class Exhaustion>
class cells : public four_cells<Exhaustion> {
 public:
  void reset(std::uint64_t seed) {
    four_cells<Exhaustion>::reset(seed);
    // Every other schedule starts in the last epoch that the word can count.
    static_assert(sizeof(Exhaustion) == sizeof(std::uint64_t));
    if (seed % 2 != 0) this->known_ = std::bit_cast<Exhaustion>(~std::uint64_t{0} << 24);
  }

 protected:
  /// The number of a cell, or none once it is certain that none is free.
  int take() {
    for (;;) {
      if (this->known_.is_out(1)) return this->none;
      const auto mine = this->known_.announce();
      const auto first = static_cast<int>(simt::noise() % this->count);
      for (int i = 0; i < this->count; ++i) {
        const int cell = (first + i) % this->count;
        if (this->claim(cell)) return cell;
      }
      if (this->known_.confirm(mine, 1)) return this->none;
    }
  }
};

/// Lanes take and give back until each has had two turns: nobody may be told for good that there
/// is nothing.
template <class Exhaustion>
class take_in_turns : public cells<Exhaustion> {
 public:
  void lane() {
    for (int turn = 0; turn < 2; ++turn) {
      int cell = this->take();
      while (cell < 0) {
        simt::backoff(1);
        cell = this->take();
      }
      simt::backoff(1);
      this->give(cell);
    }
  }
  std::string verdict() {
    if (this->wrong_ != nullptr) return this->wrong_;
    return this->known_.is_out(1) ? "all cells are free, and the word says that none is" : "";
  }
};

/// What is known of runs of one length says nothing of shorter ones.
template <class Exhaustion>
class lengths : public cells<Exhaustion> {
 public:
  void lane() {
    const auto units = static_cast<std::uint32_t>(simt::thread_rank() % 4) + 2;
    const auto mine = this->known_.announce();
    this->known_.confirm(mine, units);
  }
  std::string verdict() {
    // Runs of two or more were searched in vain, by lanes that nobody has disturbed.
    if (this->known_.is_out(1)) return "nobody has looked for a single unit";
    return this->known_.is_out(2)
               ? ""
               : "a search for two units was in vain, and the word does not say so";
  }
};

/// A lane that is refused knows all that the lane knew which has searched, after a fence.
template <class Exhaustion>
class told_by_the_word {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    out_.format();
    taken_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    simt::atomic_ref taken(taken_);
    if (simt::thread_rank() == 0) {
      const auto mine = out_.announce();
      taken.store(1, simt::order::relaxed);
      out_.confirm(mine, 1);
    } else if (out_.is_out(1)) {
      simt::fence(simt::order::acquire);
      if (taken.load(simt::order::relaxed) == 0) wrong_ = "what the searcher knew is missing";
    }
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  Exhaustion out_;
  std::uint32_t taken_ = 0;
  const char* wrong_ = nullptr;
};

template <class Exhaustion>
std::vector<named_case> exhaustion_cases() {
  return {case_of<each_takes_one<cells<Exhaustion>>>("take_once"),
          case_of<take_in_turns<Exhaustion>>("take_in_turns"),
          case_of<never_refused<cells<Exhaustion>>>("never_refused"),
          case_of<lengths<Exhaustion>>("lengths"),
          case_of<told_by_the_word<Exhaustion>>("told_by_the_word")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
