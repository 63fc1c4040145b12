// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// One search for runs of consecutive elements of a set of leaf words (bitmap_tree.hpp), made by a
/// group of lanes for all of them: each lane looks at its stretch of the words, and the runs that
/// are there are shared out. If each lane looked at all words by itself, a crowd that searches in
/// vain would use up the caches' bandwidth (docs/decisions/0031).

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What consecutive leaf words, added in ascending order, tell of runs of a certain length or more.
class run_stretch {
 public:
  /// \param first the first element of the stretch
  WARPHEAP_DEVICE explicit run_stretch(std::uint32_t first) : end_(first) {}

  /// The next 64 elements. \param least shorter runs do not matter
  WARPHEAP_DEVICE void add(std::uint64_t bits, std::uint32_t least) {
    const bool has_run = least <= 64 && starts_of_runs(bits, static_cast<int>(least)) != 0;
    if (bits != ~std::uint64_t{0} && !has_run) {
      // What reaches over the ends does.
      const int ones = lowest_bit(~bits);
      reach(ones);
      gap(64 - ones);
      to_end_ = static_cast<std::uint32_t>(63 - highest_bit(~bits));
      return;
    }
    for (int left = 64; left != 0;) {
      const int ones = bits == ~std::uint64_t{0} ? 64 : lowest_bit(~bits);
      reach(ones);
      left -= ones;
      if (left == 0) return;
      bits >>= ones;
      const int zeros = bits == 0 ? left : lowest_bit(bits);
      gap(zeros);
      left -= zeros;
      if (left == 0) return;
      bits >>= zeros;
    }
  }

  /// Consecutive elements at the beginning, and at the end.
  WARPHEAP_DEVICE std::uint32_t from_begin() const { return is_whole() ? to_end_ : from_begin_; }
  WARPHEAP_DEVICE std::uint32_t to_end() const { return to_end_; }
  WARPHEAP_DEVICE bool is_whole() const { return from_begin_ == no_gap; }
  /// The longest run that matters, and the element behind it.
  WARPHEAP_DEVICE std::uint32_t longest() const { return longest_; }
  WARPHEAP_DEVICE std::uint32_t end_of_longest() const { return end_of_longest_; }

 private:
  static constexpr std::uint32_t no_gap = 0xffffffffu;

  WARPHEAP_DEVICE void reach(int count) {
    end_ += static_cast<std::uint32_t>(count);
    to_end_ += static_cast<std::uint32_t>(count);
    if (to_end_ <= longest_) return;
    longest_ = to_end_;
    end_of_longest_ = end_;
  }
  WARPHEAP_DEVICE void gap(int count) {
    if (is_whole()) from_begin_ = to_end_;
    to_end_ = 0;
    end_ += static_cast<std::uint32_t>(count);
  }

  std::uint32_t end_;  // of what has been added
  std::uint32_t from_begin_ = no_gap;
  std::uint32_t to_end_ = 0;
  std::uint32_t longest_ = 0;
  std::uint32_t end_of_longest_ = 0;
};

/// Changes of one leaf word, in one step for all members of a group, of whom no two pass the same
/// bit. Collectives.
struct group_word {
  /// Removes bits: each member gets all of its bits or none. Returns whether the caller does.
  /// Lock-free: tries again only if another lane has taken some of the bits.
  WARPHEAP_DEVICE static bool remove(const simt::group& team, const bitmap_tree& tree,
                                     std::uint32_t word, std::uint64_t bits) {
    for (;;) {
      const std::uint64_t there = team.broadcast(tree.load_word(word));
      const bool is_there = (there & bits) == bits;
      const std::uint64_t all = team.merge_bits(is_there ? bits : 0);
      if (all == 0) return false;
      const bool removed = team.is_leader() && tree.remove_all_bits(word, all);
      team.sync();  // what the leader has acquired is the members' as well
      if (team.any(removed)) return is_there;
    }
  }

  WARPHEAP_DEVICE static void insert(const simt::group& team, const bitmap_tree& tree,
                                     std::uint32_t word, std::uint64_t bits) {
    const std::uint64_t all = team.merge_bits(bits);
    team.sync();  // what members did before is released by the leader
    if (team.is_leader()) tree.insert_bits(word, all);
  }
};

/// A search of a group of lanes of which some want a run each. Lives for one call; all members
/// must make it and call its members together.
class group_run_search {
 public:
  static constexpr std::uint32_t none = bitmap_tree::none;

  /// \param length of the run that the caller wants; `none` if it wants none
  WARPHEAP_DEVICE group_run_search(const simt::group& team, std::uint32_t length)
      : team_(team), length_(length), least_(team.least(length)) {}

  /// The first element of the caller's run, or none. No two members have a common element.
  WARPHEAP_DEVICE std::uint32_t first() const { return first_; }
  /// Whether there may be a run that is long enough for the caller, if alone.
  WARPHEAP_DEVICE bool fits() const { return fits_; }

  /// Looks at `words` leaf words by `look(word)`, from word `from` on and then from the front,
  /// until each member has a run that wants one. Members share a run from its beginning on. O(words
  /// / members) steps.
  template <class Look>
  WARPHEAP_DEVICE void run(std::uint32_t words, std::uint32_t from, const Look& look) {
    pass(from, words, look);
    if (from == 0 || least_ == none) return;
    if (team_.least(first_) != none) {
      // Not what members have been given, nor what lies across `from`, perhaps: those that get
      // nothing have lost to them.
      pass(0, from, look);
      fits_ = true;
      return;
    }
    // And what begins before `from`, and ends behind it.
    const std::uint32_t longest = none - team_.least(none - (length_ == none ? 0 : length_));
    const std::uint32_t further = from + ceil_div<std::uint32_t>(longest, 64) + 1;
    pass(0, further < words ? further : words, look);
  }

 private:
  /// Words of a lane's stretch: as many as lie in a sector of memory. All looks are under way at
  /// the same time.
  static constexpr std::uint32_t share = 4;

  template <class Look>
  WARPHEAP_DEVICE void pass(std::uint32_t from, std::uint32_t until, const Look& look) {
    const auto size = static_cast<std::uint32_t>(team_.size());
    const auto rank = static_cast<std::uint32_t>(team_.rank());
    std::uint32_t reaching = 0;  // consecutive elements before where we are
    shared_ = 0;
    for (std::uint32_t at = from; at < until; at += share * size) {
      const std::uint32_t begin = at + share * rank;
      std::uint64_t seen[share];
      for (std::uint32_t i = 0; i < share; ++i) {
        seen[i] = begin + i < until ? look(begin + i) : 0;
      }
      run_stretch mine(begin * 64);
      for (std::uint32_t i = 0; i < share; ++i) mine.add(seen[i], least_);
      share_out(mine, begin * 64, reaching);
      if (least_ == none) return;
    }
  }

  /// Shares out the longest run that ends in each member's stretch. \param reaching consecutive
  /// elements before the first stretch; receives those before what comes next
  WARPHEAP_DEVICE void share_out(const run_stretch& mine, std::uint32_t begin,
                                 std::uint32_t& reaching) {
    const simt::lane_mask with_gap = team_.ballot(!mine.is_whole());
    const std::uint32_t before =
        reaching_up_to(with_gap.below(simt::lane_id()), team_.rank(), mine, reaching);
    reaching = reaching_up_to(with_gap, team_.size(), mine, reaching);
    std::uint32_t length = mine.longest();
    std::uint32_t end = mine.end_of_longest();
    if (mine.from_begin() != 0 && before + mine.from_begin() > length) {
      length = before + mine.from_begin();
      end = begin + mine.from_begin();
    }
    for (simt::lane_mask rest = team_.ballot(length >= least_); !rest.empty();) {
      const int lane = rest.lowest();
      rest = rest.without(lane);
      take_from(team_.shuffle(length, lane), team_.shuffle(end, lane));
      rest = rest & team_.ballot(length >= least_);
    }
  }

  /// Consecutive elements that reach up to the stretch of rank `rank`, if those of `with_gap`
  /// before it have gaps.
  WARPHEAP_DEVICE std::uint32_t reaching_up_to(simt::lane_mask with_gap, int rank,
                                               const run_stretch& mine, std::uint32_t reaching) {
    const int last = with_gap.empty() ? simt::lane_id() : highest_bit(with_gap.bits());
    const std::uint32_t to_end = team_.shuffle(mine.to_end(), last);
    const auto whole_from = with_gap.empty() ? 0 : team_.mask().below(last).count() + 1;
    const auto whole = static_cast<std::uint32_t>(rank - whole_from) * share * 64;
    return (with_gap.empty() ? reaching : to_end) + whole;
  }

  WARPHEAP_DEVICE void take_from(std::uint32_t length, std::uint32_t end) {
    fits_ = fits_ || length_ <= length;
    // A run that reaches into several stretches may have been shared out in part.
    const std::uint32_t begin = end - length < shared_ ? shared_ : end - length;
    const std::uint32_t left = end - begin;
    const bool asks = length_ <= left;
    const std::uint32_t others = team_.scan_add(asks ? length_ : 0);
    const bool gets = asks && others + length_ <= left;
    // Those that get some come before those for which there is nothing left.
    const simt::lane_mask served = team_.ballot(gets);
    if (served.empty()) return;
    shared_ = team_.shuffle(begin + others + length_, highest_bit(served.bits()));
    if (gets) first_ = begin + others;
    if (gets) length_ = none;
    least_ = team_.least(length_);
  }

  const simt::group& team_;
  std::uint32_t length_;  // none once the caller has a run
  std::uint32_t least_;   // of all
  std::uint32_t first_ = none;
  std::uint32_t shared_ = 0;  // what comes before has been shared out, as far as it was there
  bool fits_ = false;
};

WARPHEAP_END_NAMESPACE
