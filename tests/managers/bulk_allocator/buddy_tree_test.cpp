// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tree of pages by itself: of numbers of pages that fill no word of a bitmap, and of pairs of
// buddies that cannot be merged at once.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/bulk_allocator/buddy_tree.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A tree in memory of its own, which is not zero.
class small_tree {
 public:
  explicit small_tree(std::uint32_t pages) : cursor_(memory_.cursor()) {
    tree_.lay_out(cursor_, pages);
    in_a_lane([this] { tree_.format(0, 1); });
  }
  ~small_tree() { EXPECT_TRUE(memory_.is_untouched_behind(cursor_)); }
  const bulk_parts::buddy_tree* operator->() const { return &tree_; }

  /// Calls a function in a lane.
  template <class Function>
  static void in_a_lane(const Function& what) {
    machine().launch({1, 1}, what);
    machine().synchronize();
  }

 private:
  rubbish memory_{16384};
  region_cursor cursor_;
  bulk_parts::buddy_tree tree_;
};

TEST(buddy_tree, of_any_number_of_pages_yields_each_once) {
  for (const std::uint32_t pages : {1u, 2u, 3u, 63u, 64u, 65u, 127u, 128u, 129u, 193u}) {
    const small_tree tree(pages);
    std::vector<int> taken(pages);
    small_tree::in_a_lane([&] {
      for (std::uint32_t left = pages; left != 0; --left) {
        const std::uint32_t page = tree->take(0);
        ASSERT_LT(page, pages) << left << " of " << pages << " are left";
        ++taken[page];
      }
      EXPECT_EQ(tree->take(0), bulk_parts::buddy_tree::none);
    });
    EXPECT_EQ(taken, std::vector<int>(pages, 1)) << pages;
    small_tree::in_a_lane([&] {
      for (std::uint32_t page = 0; page < pages; ++page) EXPECT_TRUE(tree->give(0, page));
      // All are merged again, so the largest node is there.
      EXPECT_EQ(tree->take(tree->top()), 0u);
    });
  }
}

// Some of them get pages that are there, the others parts of nodes that they split.
TEST(buddy_tree, yields_each_page_once_to_lanes_that_take_together) {
  for (const std::uint32_t lanes : {2u, 3u, 31u, 32u}) {
    for (const std::uint32_t pages : {1u, 3u, 31u, 64u, 127u, 193u}) {
      const small_tree tree(pages);
      std::vector<int> taken(pages);
      const auto take_together = [&] {
        std::uint32_t node = bulk_parts::buddy_tree::none;
        const simt::group members = simt::coalesced(&tree);
        const std::uint32_t got = tree->take(members, 0, node);
        EXPECT_LE(got, lanes);
        if (static_cast<std::uint32_t>(members.rank()) < got) {
          ASSERT_LT(node, pages);
          simt::atomic_ref(taken[node]).fetch_add(1, simt::order::relaxed);
        }
      };
      small_tree::in_a_lane([&] { ++taken[tree->take(0)]; });  // small nodes are left
      for (std::uint32_t left = pages; left != 0; --left) {    // at least one each time
        machine().launch({1, lanes}, take_together);
        machine().synchronize();
      }
      EXPECT_EQ(taken, std::vector<int>(pages, 1)) << pages << " pages, " << lanes << " lanes";
      for (std::uint32_t from = 0; from < pages; from += lanes) {
        machine().launch({1, std::min(lanes, pages - from)}, [&] {
          const auto page = from + static_cast<std::uint32_t>(simt::thread_rank());
          EXPECT_TRUE(tree->give(simt::coalesced(&tree), 0, page));
        });
        machine().synchronize();
      }
      small_tree::in_a_lane([&] { EXPECT_EQ(tree->take(tree->top()), 0u); });
    }
  }
}

TEST(buddy_tree, a_pair_one_of_whose_units_is_lent_is_merged_later) {
  for (const std::uint32_t pair : {0u, 2u, 64u, 126u}) {
    const small_tree tree(128);
    small_tree::in_a_lane([&] {
      for (int left = 128; left != 0; --left)
        ASSERT_NE(tree->take(0), bulk_parts::buddy_tree::none);
      EXPECT_TRUE(tree->give(0, pair));
      // Another lane has a unit, and is about to take a page.
      ASSERT_EQ(tree->units(0).ask(1, 2, false).granted, 1);
      EXPECT_FALSE(tree->give(0, pair + 1));
      EXPECT_FALSE(tree->merge_pairs());
      EXPECT_FALSE(tree->merge_pairs()) << "the note is gone";
      EXPECT_EQ(tree->take(1), bulk_parts::buddy_tree::none);
      tree->units(0).signal(1);
      EXPECT_TRUE(tree->merge_pairs());
      EXPECT_EQ(tree->take(1), pair / 2);
    });
  }
}

// Two pairs are noted, of pages and of nodes of two. A unit of the former is still lent.
TEST(buddy_tree, a_pair_that_cannot_be_merged_keeps_no_other_one_from_it) {
  const small_tree tree(128);
  small_tree::in_a_lane([&] {
    for (int left = 128; left != 0; --left) ASSERT_NE(tree->take(0), bulk_parts::buddy_tree::none);
    for (std::uint32_t page = 0; page < 3; ++page) EXPECT_TRUE(tree->give(0, page));
    ASSERT_EQ(tree->units(1).ask(1, 2, false).granted, 1);
    EXPECT_FALSE(tree->give(0, 3));
    tree->units(1).signal(1);
    EXPECT_TRUE(tree->give(0, 64));
    ASSERT_EQ(tree->units(0).ask(1, 2, false).granted, 1);
    EXPECT_FALSE(tree->give(0, 65));
    EXPECT_FALSE(tree->merge_pairs());
    EXPECT_EQ(tree->take(2), 0u);
  });
}

// A merge goes on as far as buddies are available.
TEST(buddy_tree, pairs_of_pairs_are_merged_as_well) {
  const small_tree tree(8);
  small_tree::in_a_lane([&] {
    for (int left = 8; left != 0; --left) ASSERT_NE(tree->take(0), bulk_parts::buddy_tree::none);
    for (std::uint32_t page = 0; page < 7; ++page) tree->give(0, page);
    ASSERT_EQ(tree->units(0).ask(1, 2, false).granted, 1);
    EXPECT_FALSE(tree->give(0, 7));
    tree->units(0).signal(1);
    EXPECT_TRUE(tree->merge_pairs());
    EXPECT_EQ(tree->take(3), 0u);
  });
}

// A unit is lent, so one is expected, and two lanes ask together for more than that.
TEST(buddy_tree, lanes_give_up_that_want_more_than_is_expected) {
  const small_tree tree(1);
  small_tree::in_a_lane([&] { ASSERT_TRUE(tree->units(0).borrow_all(1)); });
  simt::explorer explorer({1, 2}, 2'000);
  std::uint32_t got = 1;
  const auto outcome = explorer.run({simt::strategy::sticky, 1}, [&] {
    std::uint32_t node = bulk_parts::buddy_tree::none;
    const std::uint32_t nodes = tree->take(simt::group(simt::lane_mask::first(2)), 0, node);
    if (simt::lane_id() == 0) got = nodes;
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_EQ(got, 0u);
}

// A lane that has waited at one order for a unit that did not come splits a node of the next one.
// There it waits first, too, as another lane has undertaken to split.
TEST(buddy_tree, what_was_in_vain_at_one_order_is_not_so_at_the_next_one) {
  const small_tree tree(12);  // nodes of orders 3 and 2
  std::uint32_t page = bulk_parts::buddy_tree::none;
  simt::explorer explorer({2, 1});
  sync::bulk_semaphore::answer asked{};
  small_tree::in_a_lane([&] {
    // A lane that never goes on has asked for a page before.
    ASSERT_EQ(tree->units(0).ask(1, 2, false).batches, 1u);
    asked = tree->units(1).ask(1, 2, false);
    ASSERT_EQ(asked.batches, 1u);
  });
  const auto outcome = explorer.run({simt::strategy::sticky, 1}, [&] {
    if (simt::thread_rank() == 0) {
      page = tree->take(0);
      return;
    }
    const auto units = tree->units(1);
    const std::int64_t alone = units.read().expected();
    while (units.read().expected() == alone) simt::backoff(1);
    ASSERT_EQ(units.promise(asked, 2), 1u);
    const std::uint32_t node = tree->take(2);
    tree->nodes(1).insert(2 * node);
    units.deliver(1, 1);
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_EQ(page, 9u) << "of the node that the other lane has split";
  EXPECT_EQ(tree->units(3).read().count, 1) << "a second node has been split";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
