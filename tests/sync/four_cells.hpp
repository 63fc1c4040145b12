// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"
#include "untracked.hpp"

#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Four cells for eight lanes, as a heap that is nearly full.
/// \tparam Known knows when none is free
template <class Known>
class four_cells {
 public:
  static constexpr simt::grid shape{2, 4};

  void reset(std::uint64_t /*seed*/) {
    known_.format();
    used_ = {};
    takers_ = {};
    wrong_ = nullptr;
  }

 protected:
  static constexpr int none = -1;
  static constexpr int count = 4;

  /// Whether the cell was free. It is the lane's then.
  bool claim(int cell) {
    const auto i = static_cast<std::size_t>(cell);
    if (simt::atomic_ref(used_[i]).exchange(1, simt::order::acq_rel) != 0) return false;
    if (++takers_[i] != 1) wrong_ = "a cell was taken twice";
    return true;
  }
  void give(int cell) {
    const auto i = static_cast<std::size_t>(cell);
    --takers_[i];
    simt::atomic_ref(used_[i]).exchange(0, simt::order::acq_rel);
    known_.released();
  }

  Known known_;
  std::array<std::uint32_t, count> used_;
  const char* wrong_ = nullptr;

 private:
  std::array<int, count> takers_;
};

/// Nothing is given back: four lanes get a cell, and the others learn that none is left.
/// \tparam Cells four_cells with `take`
template <class Cells>
class each_takes_one : public Cells {
 public:
  void reset(std::uint64_t seed) {
    Cells::reset(seed);
    served_ = 0;
  }
  void lane() {
    if (this->take() >= 0) ++served_;
  }
  std::string verdict() {
    if (this->wrong_ != nullptr) return this->wrong_;
    if (served_ != this->count) return std::to_string(served_) + " of 4 cells were found";
    return this->known_.is_out(1) ? "" : "lanes were refused, and nothing says that all is taken";
  }

 private:
  untracked<int> served_ = 0;
};

/// Two of the cells are free all the time, and no more than two lanes want one at once.
/// \tparam Cells four_cells with `take`
template <class Cells>
class never_refused : public Cells {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t seed) {
    Cells::reset(seed);
    this->used_[seed % this->count] = 1;
    this->used_[(seed + 1) % this->count] = 1;
  }
  void lane() {
    for (int turn = 0; turn < 3; ++turn) {
      const int cell = this->take();
      if (cell < 0) {
        this->wrong_ = "a lane was refused, and a cell was free all the time";
        return;
      }
      this->give(cell);
    }
  }
  std::string verdict() { return this->wrong_ != nullptr ? this->wrong_ : ""; }
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
