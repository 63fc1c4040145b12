// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hybrid array list against a map, the store of two of them, and what their checks find.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "warpheap/host/stores/hal_store.hpp"
#include "warpheap/host/stores/hybrid_array_list.hpp"

namespace warpheap::host {
namespace {

template <std::size_t Capacity>
void compare_hybrid_array_list_with_map() {
  std::mt19937 random(11);
  hybrid_array_list<Capacity> list;
  std::map<address, std::size_t> model;
  for (int step = 0; step < 20000; ++step) {
    const address where = 1 + random() % 400 * 16;
    const auto above = model.upper_bound(where);
    const auto found = list.search(where);
    ASSERT_EQ(static_cast<bool>(found), above != model.begin());
    if (found) {
      ASSERT_EQ(found->base, std::prev(above)->first);
    }
    // Grows for a while, then shrinks, so that chunks split and vanish.
    const bool grow = step / 2000 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
    if (found && found->base == where) {
      if (grow) continue;
      list.erase(found);
      model.erase(where);
    } else if (grow) {
      list.insert_after(found, {where, 16});
      model[where] = 16;
    }
    if (step % 100 == 0) {
      ASSERT_EQ(list.check(), std::nullopt) << "step " << step;
      auto position = list.front();
      for (const auto& [base, bytes] : model) {
        ASSERT_TRUE(position);
        ASSERT_EQ(*position, (extent{base, bytes}));
        position = list.next(position);
      }
      ASSERT_FALSE(position);
    }
  }
}

TEST(hybrid_array_list, agrees_with_a_map_at_every_small_capacity) {
  compare_hybrid_array_list_with_map<2>();
  compare_hybrid_array_list_with_map<3>();
  compare_hybrid_array_list_with_map<4>();
  compare_hybrid_array_list_with_map<254>();
}

TEST(hybrid_array_list, finds_an_entry_that_begins_within_the_one_before) {
  hybrid_array_list<2> list;
  for (address base = 16; base <= 64; base += 16) list.insert_after(list.search(base), {base, 16});
  ASSERT_EQ(list.check(), std::nullopt);
  for (address base = 16; base <= 48; base += 16) {
    list.search(base)->bytes = 17;
    EXPECT_EQ(list.check().value_or("").substr(0, 2), "L2") << base;
    list.search(base)->bytes = 16;
  }
}

TEST(hal_store, finds_a_gap_behind_a_block_and_at_the_end) {
  hal_store<> store(policy_options{16});
  store.add_region({0x1000, 0x100});
  *store.first() = {0x1000, 0xf0};
  EXPECT_EQ(store.check(), "A1: a region is not filled");
  *store.first() = {0x1000, 0x100};
  store.take(store.first(), {0x1040, 0x40});
  *store.first() = {0x1000, 0x30};
  EXPECT_EQ(store.check().value_or("").substr(0, 2), "A1");
}

TEST(hal_store, finds_free_neighbours_that_were_not_merged) {
  hal_store<> store(policy_options{16});
  store.add_region({0x1000, 0x100});
  store.take(store.first(), {0x1040, 0x40});
  ASSERT_EQ(store.check(), std::nullopt);
  // Free blocks that do not reach to what is given back between them until it is there.
  *store.first() = {0x1000, 0x30};
  *store.after(store.first()) = {0x1090, 0x70};
  EXPECT_EQ(store.give_back(0x1040), 0x40u);
  *store.first() = {0x1000, 0x40};
  *store.after(store.after(store.first())) = {0x1080, 0x80};
  EXPECT_EQ(store.check().value_or("").substr(0, 2), "A2");
}

}  // namespace
}  // namespace warpheap::host
