// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"

#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A tree that starts with some elements, and who has claimed which. Lanes of the explorer change
/// places at the points of the seam only, so the record is exact with plain accesses.
template <class Tree, simt::grid Shape = simt::grid{2, 4}>
class tree_world {
 public:
  static constexpr simt::grid shape = Shape;

  tree_world(std::uint32_t universe, std::vector<std::uint32_t> elements)
      : words(Tree::words_for(universe)),
        tree(words.data(), universe),
        start_elements(std::move(elements)),
        owners(universe) {
    tree.format(0, 0, 1);
    for (const std::uint32_t e : start_elements) tree.insert(e);
    start_ = words;
  }
  // The tree points to the words.
  tree_world(const tree_world&) = delete;
  tree_world& operator=(const tree_world&) = delete;

  void reset(std::uint64_t seed) {
    words = start_;
    // Every other schedule starts with the last change that the tree can count.
    if (seed % 2 != 0) words[0] = ~std::uint64_t{0} << 32;
    owners.assign(owners.size(), 0);
    wrong.clear();
  }

  std::string verdict() {
    tree.check(0, 1, [this](std::uint64_t word) {
      wrong = "word " + std::to_string(word) + " does not fit the invariants";
    });
    return wrong;
  }

 protected:
  void own(std::uint32_t first, std::uint32_t length) {
    for (std::uint32_t e = first; e < first + length; ++e) {
      if (owners[e]++ != 0) wrong = "claimed twice: " + std::to_string(e);
    }
  }
  void disown(std::uint32_t first, std::uint32_t length) {
    for (std::uint32_t e = first; e < first + length; ++e) --owners[e];
  }
  /// Everything that was there in the beginning is there again.
  std::string verdict_when_all_are_back() {
    for (const std::uint32_t e : start_elements) {
      if (!tree.contains(e)) wrong = "lost: " + std::to_string(e);
    }
    return verdict();
  }

  std::vector<std::uint64_t> words;
  Tree tree;
  std::vector<std::uint32_t> start_elements;
  std::vector<int> owners;
  std::string wrong;

 private:
  std::vector<std::uint64_t> start_;
};

/// As many elements as lanes: each lane claims one, gives it back, and claims again; nobody may go
/// away empty-handed.
template <class Tree, bool Hashed>
class claim_and_insert : public tree_world<Tree> {
 public:
  using tree_world<Tree>::tree_world;

  void lane() {
    for (int round = 0; round < 2; ++round) {
      const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
      const std::uint32_t element =
          Hashed ? this->tree.claim_hashed(rank << 29) : this->tree.claim_first();
      if (element == Tree::none) {
        this->wrong = "none, and there was an element for each lane";
        return;
      }
      this->own(element, 1);
      simt::backoff(1);
      this->disown(element, 1);
      if (!this->tree.insert(element)) this->wrong = "inserted by two";
    }
  }
  std::string verdict() { return this->verdict_when_all_are_back(); }
};

/// Half of the lanes remove the elements that were there, the others insert one each and must see
/// at once that the set has it: a bit above that is cleared at that time must not hide it.
template <class Tree>
class insert_beside_remove : public tree_world<Tree> {
 public:
  using tree_world<Tree>::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const std::uint32_t element = this->start_elements[rank % this->start_elements.size()];
    if (rank % 2 == 0) {
      this->tree.remove(element);
    } else {
      this->tree.insert(element + 1);
      if (!this->tree.any()) this->wrong = "an element that was inserted hides from any";
      if (this->tree.successor(element + 1) == Tree::none) this->wrong = "... from successor";
      if (!this->tree.examine_any()) this->wrong = "... from examine_any";
    }
  }
};

/// The word above two leaf words empties and fills while the bit above it is changed: that is two
/// levels at once, by two lanes.
template <class Tree>
class insert_below_an_emptied_word : public tree_world<Tree, simt::grid{3, 1}> {
 public:
  using tree_world<Tree, simt::grid{3, 1}>::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    if (rank < 2) {
      this->tree.remove(this->start_elements[rank]);
    } else {
      this->tree.insert(this->start_elements[0] + 1);
      if (!this->tree.any()) this->wrong = "an element that was inserted hides";
    }
  }
};

/// Two lanes insert into a word that another one empties. The second to insert finds an element and
/// perhaps the bit above it, which is about to be cleared: its own element must not be hidden when
/// its insertion returns, though the first one has announced nothing yet.
template <class Tree>
class insert_after_insert : public tree_world<Tree, simt::grid{3, 1}> {
 public:
  using tree_world<Tree, simt::grid{3, 1}>::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const std::uint32_t element = this->start_elements[0];
    if (rank == 0) {
      this->tree.remove(element);
    } else {
      this->tree.insert(element + rank);
      if (!this->tree.any()) this->wrong = "an element that was inserted hides";
    }
  }
};

/// An element is removed as soon as it is there: the bit above is cleared before its inserter sets
/// it, which must see that the word is empty again.
template <class Tree>
class remove_beside_insert : public tree_world<Tree, simt::grid{2, 1}> {
 public:
  explicit remove_beside_insert(std::uint32_t universe)
      : tree_world<Tree, simt::grid{2, 1}>(universe, std::vector<std::uint32_t>{}) {}

  void lane() {
    const std::uint32_t element = this->tree.universe() - 1;
    if (simt::thread_rank() == 0) {
      this->tree.insert(element);
    } else {
      this->tree.remove(element);
    }
  }
};

/// Runs that overlap, and single elements of them: a lane that takes a run has all of it, and in
/// the end everything is there.
template <class Tree>
class overlapping_runs : public tree_world<Tree> {
 public:
  using tree_world<Tree>::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const std::uint32_t length = rank % 4 == 3 ? 1 : 2 + rank % 4;
    const std::uint32_t first = length == 1 ? this->tree.claim_first() : claim_last(length);
    if (first == Tree::none) return;
    this->own(first, length);
    simt::backoff(1);
    this->disown(first, length);
    insert_run(this->tree, first, length);
  }
  std::string verdict() { return this->verdict_when_all_are_back(); }

 private:
  /// As managers do that take runs from the back.
  std::uint32_t claim_last(std::uint32_t length) {
    for (;;) {  // again only if another lane has taken an element of the run
      const std::uint32_t top = find_last_run(this->tree, length);
      if (top == Tree::none) return Tree::none;
      const std::uint32_t first = top + 1 - length;
      if (claim_run(this->tree, first, length)) return first;
    }
  }
};

/// As many runs as lanes, all in one word: a lane that loses one to another finds one that is left.
template <class Tree>
class a_run_for_each : public tree_world<Tree> {
 public:
  using tree_world<Tree>::tree_world;

  void lane() {
    const std::uint32_t first = claim_run_from(this->tree, 2, 0);
    if (first == Tree::none) {
      this->wrong = "none, and there was a run for each lane";
    } else {
      this->own(first, 2);
    }
  }
};

/// One lane writes something and inserts an element, another one writes something else and examines
/// the set. It sees the element, and then what was written before it; or else the first lane sees
/// what was written before the look.
template <class Tree>
class examine_beside_insert : public tree_world<Tree, simt::grid{2, 1}> {
  using base = tree_world<Tree, simt::grid{2, 1}>;

 public:
  examine_beside_insert(std::uint32_t universe, bool whole)
      : base(universe, std::vector<std::uint32_t>{}), whole_(whole) {}

  void reset(std::uint64_t seed) {
    base::reset(seed);
    written_ = {};
    met_ = false;
  }
  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    simt::atomic_ref(written_[rank]).store(1, simt::order::relaxed);
    if (rank == 0) {
      this->tree.insert(0);
    } else if (whole_ ? !this->tree.examine_any() : this->tree.examine_word(0) == 0) {
      return;
    }
    const bool sees = simt::atomic_ref(written_[1 - rank]).load(simt::order::relaxed) != 0;
    if (rank == 1 && !sees) this->wrong = "what came before an element that was seen is missing";
    met_ = met_ || sees;
  }
  std::string verdict() {
    if (!met_) this->wrong = "an insertion and a look have missed each other";
    return base::verdict();
  }

 private:
  bool whole_;
  std::array<std::uint32_t, 2> written_{};
  untracked<bool> met_ = false;
};

template <class Tree>
std::vector<named_case> bitmap_tree_cases() {
  using elements = std::vector<std::uint32_t>;
  const elements across_words{0, 63, 64, 130, 131, 200, 255, 299};
  return {
      case_of<claim_and_insert<Tree, false>>("claim_in_one_word", 60u,
                                             elements{0, 3, 10, 11, 12, 13, 50, 59}),
      case_of<claim_and_insert<Tree, false>>("claim_across_words", 300u, across_words),
      case_of<claim_and_insert<Tree, false>>("claim_across_levels", 9000u,
                                             elements{0, 1, 64, 4095, 4096, 4097, 8191, 8999}),
      case_of<claim_and_insert<Tree, true>>("claim_hashed", 300u, across_words),
      case_of<insert_beside_remove<Tree>>("insert_in_two_levels", 128u, elements{70}),
      case_of<insert_beside_remove<Tree>>("insert_in_three_levels", 9000u,
                                          elements{8000, 8001, 8002, 8003}),
      case_of<insert_beside_remove<Tree>>("insert_in_separate_words", 9000u,
                                          elements{100, 200, 4200, 8000}),
      case_of<insert_below_an_emptied_word<Tree>>("insert_below_an_emptied_word", 9000u,
                                                  elements{8000, 8100}),
      case_of<insert_after_insert<Tree>>("insert_after_insert", 128u, elements{70}),
      case_of<remove_beside_insert<Tree>>("remove_beside_insert", 9000u),
      case_of<overlapping_runs<Tree>>("runs_across_words", 192u,
                                      elements{61, 62, 63, 64, 65, 66, 126, 127, 128}),
      case_of<a_run_for_each<Tree>>(
          "a_run_for_each", 60u, elements{0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22}),
      case_of<examine_beside_insert<Tree>>("examine_a_word", 60u, false),
      case_of<examine_beside_insert<Tree>>("examine_the_set", 60u, true),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
