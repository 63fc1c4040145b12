// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_cases.hpp"

#include "manager_world.hpp"
#include "untracked.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// All memory is in blocks of one size, but for some neighbours.
class neighbours_are_free : public heap_world {
 public:
  /// \param index of the first of them, when blocks of `bytes` are sorted by address
  /// \param blocks that are free at first
  neighbours_are_free(const any_setup& how, std::uint32_t bytes, std::size_t index, int blocks)
      : heap_world(how), bytes_(bytes) {
    std::vector<std::byte*> all;
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(bytes)) all.push_back(block);
    });
    std::sort(all.begin(), all.end());
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(index);
    neighbours_.assign(begin, begin + blocks);
    heap.run_quietly([&] {
      for (std::byte* const one : neighbours_) heap.give(one);
    });
    heap.keep_state();
  }

 protected:
  std::byte* neighbour(int i) const { return neighbours_.at(static_cast<std::size_t>(i)); }
  /// Takes this many neighbours as one block.
  std::byte* take(std::uint32_t blocks) { return heap.take(blocks * bytes_); }

 private:
  std::uint32_t bytes_;
  std::vector<std::byte*> neighbours_;
};

/// \tparam Runs lanes that want both blocks, beside two that want one each. If several do, one that
/// gives up may have had a block in hand that was refused meanwhile, and that serves a later
/// request.
template <std::uint32_t Runs>
class runs_or_two_blocks : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{Runs + 2, 1};

  runs_or_two_blocks(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 2) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    run_served_ = false;
    singles_served_ = 0;
  }

  void lane() {
    const bool wants_both = simt::thread_rank() < Runs;
    if (take(wants_both ? 2 : 1) == nullptr) return;
    if (wants_both) {
      run_served_ = true;
    } else {
      ++singles_served_;
    }
  }

  std::string verdict() {
    if (Runs > 1 && !run_served_) {
      heap.run_quietly([&] {
        while (take(1) != nullptr) ++singles_served_;
      });
    }
    if (!run_served_ && singles_served_ < 2) {
      return "the run was refused, and only " + std::to_string(singles_served_) +
             " of its two blocks was served alone";
    }
    return heap.problem();
  }

 private:
  untracked<bool> run_served_ = false;
  untracked<int> singles_served_ = 0;
};

/// \tparam Late whether the last of the three becomes free meanwhile
template <bool Late>
class three_two_or_one : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{Late ? 4 : 3, 1};

  three_two_or_one(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 3) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    got_.assign(3, nullptr);
    if constexpr (Late) {
      heap.run_quietly([&] {
        std::byte* const others = take(2);
        last_ = take(1);
        give(others);
      });
    }
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank == got_.size()) {
      give(last_);
    } else {
      got_[rank] = take(3 - static_cast<std::uint32_t>(rank));
    }
  }

  std::string verdict() {
    if (got_[0] != nullptr) return heap.problem();
    std::byte* const one = got_[2];
    if (got_[1] == nullptr) {
      if (one == nullptr) return "three were refused, and one of them too";
      if (one == neighbour(2) || (!Late && one == neighbour(0))) {
        return "three were refused, and the two that one leaves too";
      }
      // The other two are free now, if not before.
      if (one == neighbour(0) && !served_later(2)) return "two are refused although they are free";
    } else if (one == nullptr && !served_later(1)) {
      return "one is refused although it is free";
    }
    return heap.problem();
  }

 private:
  bool served_later(std::uint32_t blocks) {
    bool served = false;
    heap.run_quietly([&] { served = take(blocks) != nullptr; });
    return served;
  }

  std::byte* last_ = nullptr;
  std::vector<untracked<std::byte*>> got_;
};

class run_becomes_free : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{4, 1};

  run_becomes_free(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 2) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.run_quietly([&] {
      for (std::byte*& one : held_) one = take(1);
    });
    served_ = 0;
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < held_.size()) {
      give(held_[rank]);
    } else if (take(2) != nullptr) {
      ++served_;
    }
  }

  std::string verdict() {
    heap.run_quietly([&] { served_ = served_ + (take(2) != nullptr ? 1 : 0); });
    if (served_ != 1) return std::to_string(served_) + " runs were served, and one became free";
    return heap.problem();
  }

 private:
  std::array<std::byte*, 2> held_{};
  untracked<int> served_ = 0;
};

/// \tparam Small whether a block of the first size is wanted in place of one of the two
template <bool Small>
class run_in_vain : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{4, 1};

  run_in_vain(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 2) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.run_quietly([&] { both_ = take(2); });
    served_.assign(wanted, false);
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank == wanted) {
      give(both_);
    } else {
      served_[rank] = want(rank);
    }
  }

  std::string verdict() {
    if (served_[0]) return heap.problem();
    for (std::uint64_t which = 1; which < wanted; ++which) {
      bool served = served_[which];
      if (!served) heap.run_quietly([&] { served = want(which); });
      if (!served) return "a block that a run in vain has put back serves nobody";
    }
    return heap.problem();
  }

 private:
  static constexpr std::uint64_t wanted = 3;

  bool want(std::uint64_t which) {
    return (Small && which == 1 ? heap.take(heap.size(0)) : take(which == 0 ? 2 : 1)) != nullptr;
  }

  std::byte* both_ = nullptr;
  std::vector<untracked<bool>> served_;
};

/// Five neighbours are wanted by lanes that share warps, so one may take or refuse for others. As
/// nobody frees, what is there in the end was there all the time.
class runs_of_warps : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{2, 2};

  runs_of_warps(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 5) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    served_.assign(lengths.size(), false);
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    served_[rank] = take(lengths[rank]) != nullptr;
  }

  std::string verdict() {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      bool is_there = false;
      if (!served_[i]) heap.run_quietly([&] { is_there = take(lengths[i]) != nullptr; });
      if (is_there) return std::to_string(lengths[i]) + " were refused although they were free";
    }
    return heap.problem();
  }

 private:
  static constexpr std::array<std::uint32_t, 4> lengths{3, 2, 2, 4};

  std::vector<untracked<bool>> served_;
};

/// Lanes of two warps want runs of two and three, and of two and six, of the seven that are left
/// where the last run was taken.
class runs_in_one_place : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{2, 2};

  runs_in_one_place(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 9) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    served_ = 0;
    heap.run_quietly([&] { take(2); });
  }

  void lane() {
    if (take(lengths[simt::thread_rank()]) != nullptr) ++served_;
  }

  std::string verdict() {
    if (served_ == 0) return "all were refused, and seven were free";
    return heap.problem();
  }

 private:
  static constexpr std::array<std::uint32_t, 4> lengths{2, 3, 2, 6};

  untracked<int> served_ = 0;
};

/// \tparam Late whether the pair becomes free meanwhile
template <bool Late>
class aligned_pair_or_one : public neighbours_are_free {
 public:
  static constexpr simt::grid shape{Late ? 3 : 2, 1};

  aligned_pair_or_one(const any_setup& how, std::uint32_t bytes, std::size_t index)
      : neighbours_are_free(how, bytes, index, 3), bytes_(2 * bytes) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    pair_ = one_ = held_ = nullptr;
    if constexpr (Late) heap.run_quietly([&] { held_ = take_pair(); });
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank == 0) pair_ = take_pair();
    if (rank == 1) one_ = take(1);
    if (rank == 2) give(held_);
  }

  std::string verdict() {
    if (pair_ == nullptr && one_is_beside()) {
      bool served = false;
      if constexpr (Late) heap.run_quietly([&] { served = take_pair() != nullptr; });
      if (!served) return "an aligned pair is refused although it is free";
    }
    return heap.problem();
  }

 private:
  std::byte* take_pair() { return heap.take_aligned(bytes_, bytes_); }
  /// Whether the other lane has none of the pair's blocks: the aligned one of three neighbours is
  /// the first two, or the last two.
  bool one_is_beside() const {
    const bool first_two = reinterpret_cast<std::uintptr_t>(neighbour(0)) % bytes_ == 0;
    return one_ == nullptr || one_ == neighbour(first_two ? 2 : 0);
  }

  std::uint32_t bytes_;
  std::byte* held_ = nullptr;
  untracked<std::byte*> pair_ = nullptr;
  untracked<std::byte*> one_ = nullptr;
};

template <class Case>
named_case case_of_runs(const char* name, const any_setup& how, std::uint32_t bytes,
                        std::size_t index) {
  return {name, [=] { return std::make_unique<scenario_over<Case>>(how, bytes, index); }};
}

}  // namespace

void add_aligned_run_cases(const any_setup& how, std::uint32_t bytes, std::size_t index,
                           std::vector<named_case>& cases) {
  cases.push_back(
      case_of_runs<aligned_pair_or_one<false>>("aligned_pair_or_one", how, bytes, index));
  cases.push_back(
      case_of_runs<aligned_pair_or_one<true>>("aligned_pair_becomes_free", how, bytes, index));
}

void add_run_cases(const any_setup& how, std::uint32_t bytes, std::size_t index,
                   std::vector<named_case>& cases) {
  const auto add = [&]<class Case>(const char* name, std::type_identity<Case>) {
    cases.push_back(case_of_runs<Case>(name, how, bytes, index));
  };
  add("run_or_singles", std::type_identity<runs_or_two_blocks<1>>{});
  add("runs_or_singles", std::type_identity<runs_or_two_blocks<2>>{});
  add("runs_of_three", std::type_identity<three_two_or_one<false>>{});
  add("run_grows", std::type_identity<three_two_or_one<true>>{});
  add("run_becomes_free", std::type_identity<run_becomes_free>{});
  add("run_in_vain", std::type_identity<run_in_vain<false>>{});
  add("run_in_vain_beside_small", std::type_identity<run_in_vain<true>>{});
  add("runs_of_warps", std::type_identity<runs_of_warps>{});
}

void add_runs_in_one_place(const any_setup& how, std::uint32_t bytes, std::size_t index,
                           std::vector<named_case>& cases) {
  cases.push_back(case_of_runs<runs_in_one_place>("runs_in_one_place", how, bytes, index));
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
