// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small cases in many orders of their steps.
#include "exploration.hpp"

#include "warpheap/sync/bitmap_runs.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr simt::grid two_warps{2, 4};

/// A tree that starts with some elements, and who has claimed which.
class tree_world {
 public:
  tree_world(std::uint32_t universe, std::vector<std::uint32_t> elements)
      : words(bitmap_tree::words_for(universe)),
        tree(words.data(), universe),
        start_elements(std::move(elements)),
        owners(universe) {
    tree.format(false, 0, 1);
    for (const std::uint32_t e : start_elements) tree.insert(e);
    start = words;
  }

  void reset(std::uint64_t /*seed*/) {
    words = start;
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
  /// Lanes of the explorer change places at the points of the seam only: plain accesses do.
  void own(std::uint32_t element) {
    if (owners[element]++ != 0) wrong = "claimed twice: " + std::to_string(element);
  }
  void disown(std::uint32_t element) { --owners[element]; }

  std::vector<std::uint64_t> words;
  bitmap_tree tree;
  std::vector<std::uint32_t> start_elements;
  std::vector<int> owners;
  std::vector<std::uint64_t> start;
  std::string wrong;
};

/// As many elements as lanes: each lane claims one, gives it back, and claims again; nobody may go
/// away empty-handed.
struct claim_and_insert : tree_world {
  using tree_world::tree_world;
  bool hashed = false;

  void lane() {
    for (int round = 0; round < 2; ++round) {
      const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
      const std::uint32_t element = hashed ? tree.claim_hashed(rank << 29) : tree.claim_first();
      if (element == bitmap_tree::none) {
        wrong = "none, and there was an element for each lane";
        return;
      }
      own(element);
      simt::backoff(1);
      disown(element);
      if (!tree.insert(element)) wrong = "inserted by two: " + std::to_string(element);
    }
  }
  std::string verdict() {
    for (const std::uint32_t e : start_elements) {
      if (!tree.contains(e)) wrong = "lost: " + std::to_string(e);
    }
    return tree_world::verdict();
  }
};

TEST(bitmap_tree_schedules, claim_and_insert_in_one_word) {
  explore(claim_and_insert({60, {0, 3, 10, 11, 12, 13, 50, 59}}), two_warps);
}
TEST(bitmap_tree_schedules, claim_and_insert_across_words) {
  explore(claim_and_insert({300, {0, 63, 64, 130, 131, 200, 255, 299}}), two_warps);
}
TEST(bitmap_tree_schedules, claim_and_insert_across_levels) {
  explore(claim_and_insert({9000, {0, 1, 64, 4095, 4096, 4097, 8191, 8999}}), two_warps);
}
TEST(bitmap_tree_schedules, claim_from_hashed_places) {
  claim_and_insert world({300, {0, 63, 64, 130, 131, 200, 255, 299}});
  world.hashed = true;
  explore(world, two_warps);
}

/// Half of the lanes remove the elements that were there, the others insert one each and must see
/// at once that the set has it: a bit above that is cleared at that time must not hide it.
struct insert_beside_remove : tree_world {
  using tree_world::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const std::uint32_t element = start_elements[rank % start_elements.size()];
    if (rank % 2 == 0) {
      tree.remove(element);
    } else {
      tree.insert(element + 1);
      if (!tree.any()) wrong = "an element that was inserted hides: any";
      if (tree.successor(element + 1) == bitmap_tree::none) wrong = "hides: successor";
      if (tree.predecessor(element + 1) == bitmap_tree::none) wrong = "hides: predecessor";
    }
  }
};

TEST(bitmap_tree_schedules, an_element_never_hides_in_two_levels) {
  explore(insert_beside_remove({128, {70}}), two_warps);
}
TEST(bitmap_tree_schedules, an_element_never_hides_in_three_levels) {
  explore(insert_beside_remove({9000, {8000, 8001, 8002, 8003}}), two_warps);
}
TEST(bitmap_tree_schedules, an_element_never_hides_in_separate_words) {
  explore(insert_beside_remove({9000, {100, 200, 4200, 8000}}), two_warps);
}

/// The word above two leaf words empties and fills while the bit above it is cleared: that is two
/// levels at once, by two lanes.
struct insert_below_an_emptied_word : tree_world {
  using tree_world::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    if (rank < 2) {
      tree.remove(start_elements[rank]);
    } else {
      tree.insert(start_elements[0] + 1);
      if (!tree.any()) wrong = "an element that was inserted hides";
    }
  }
};

TEST(bitmap_tree_schedules, an_element_never_hides_below_an_emptied_word) {
  explore(insert_below_an_emptied_word({9000, {8000, 8100}}), {3, 1}, 10 * usual_schedules);
}

/// Runs that overlap, and single elements of them: who takes a run has all of it, and in the end
/// everything is there.
struct overlapping_runs : tree_world {
  using tree_world::tree_world;

  void lane() {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    if (rank % 4 == 3) {
      const std::uint32_t element = tree.claim_first();
      if (element == bitmap_tree::none) return;
      hold(element, 1);
    } else {
      const std::uint32_t length = 2 + rank % 4;
      const std::uint32_t first = claim_last_run(tree, length);
      if (first == bitmap_tree::none) return;
      hold(first, length);
    }
  }
  std::string verdict() {
    for (const std::uint32_t e : start_elements) {
      if (!tree.contains(e)) wrong = "lost: " + std::to_string(e);
    }
    return tree_world::verdict();
  }

 private:
  void hold(std::uint32_t first, std::uint32_t length) {
    for (std::uint32_t e = first; e < first + length; ++e) own(e);
    simt::backoff(1);
    for (std::uint32_t e = first; e < first + length; ++e) disown(e);
    insert_run(tree, first, length);
  }
};

TEST(bitmap_tree_schedules, runs_across_words) {
  explore(overlapping_runs({192, {61, 62, 63, 64, 65, 66, 126, 127, 128}}), two_warps);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
