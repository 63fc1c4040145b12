// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each policy promises beyond the contract that all share: pool_interface_test.cpp tests that.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model_heap.hpp"
#include "warpheap/host/policies/registry.hpp"

namespace warpheap::host {
namespace {

using namespace one_region;

// Where the rule of each fit puts a block, written down naively.
address expected(first_fit, const model_heap& heap, std::size_t bytes, std::size_t alignment,
                 address) {
  for (const auto& [where, size] : heap.free()) {
    const address start = align_up<address>(where, alignment);
    if (start + bytes <= where + size) return start;
  }
  return 0;
}
address expected(best_fit, const model_heap& heap, std::size_t bytes, std::size_t alignment,
                 address) {
  std::pair<std::size_t, address> best{~std::size_t{0}, 0};
  for (const auto& [where, size] : heap.free()) {
    const address start = align_up<address>(where, alignment);
    if (start + bytes <= where + size) best = std::min(best, {size, start});
  }
  return best.second;
}
address expected(const next_fit&, const model_heap& heap, std::size_t bytes, std::size_t alignment,
                 address resume) {
  address wrapped = 0;
  for (const auto& [where, size] : heap.free()) {
    const address start = align_up<address>(where, alignment);
    if (start + bytes > where + size) continue;
    if (where + size > resume) return start;
    if (wrapped == 0) wrapped = start;
  }
  return wrapped;
}

template <class Fit, class Store>
void compare_fit_with_its_rule(unsigned seed) {
  // Two regions that touch: blocks must not merge across.
  const std::vector<extent> regions{{base, 128 * granule}, {base + 128 * granule, 64 * granule}};
  fit_policy<Fit, Store> policy{policy_options{granule}};
  for (const extent& region : regions) policy.add_region(region);
  model_heap heap(regions);
  std::vector<extent> live;
  std::mt19937 random(seed);
  address resume = 0;
  for (int step = 0; step < 20000; ++step) {
    const unsigned action = random() % 10;
    if (action < 5 || live.empty()) {
      const std::size_t bytes = (1 + random() % 12) * granule;
      const std::size_t alignment = granule << (random() % 8 == 0 ? random() % 4 : 0);
      const address want = expected(Fit{}, heap, bytes, alignment, resume);
      const extent got = policy.allocate(bytes - random() % granule, alignment, effort::bounded);
      ASSERT_EQ(got, (want == 0 ? extent{} : extent{want, bytes})) << "step " << step;
      if (!got) continue;
      heap.take(got);
      live.push_back(got);
      resume = got.end();
    } else {
      const std::size_t which = random() % live.size();
      extent& block = live[which];
      if (action < 7 && block.bytes > granule) {
        const std::size_t keep = (1 + random() % (block.bytes / granule - 1)) * granule;
        ASSERT_EQ(policy.truncate(block.base, keep - 1), block.bytes - keep);
        heap.give_back({block.base + keep, block.bytes - keep});
        block.bytes = keep;
      } else {
        ASSERT_EQ(policy.deallocate(block.base), block.bytes);
        ASSERT_EQ(policy.deallocate(block.base), 0u) << "freed twice";
        heap.give_back(block);
        block = live.back();
        live.pop_back();
      }
    }
    if (step % 50 == 0) {
      ASSERT_EQ(policy.check(), std::nullopt) << "step " << step;
    }
  }
}

template <class Pair>
class fits : public testing::Test {};
using fit_and_store =
    testing::Types<std::pair<first_fit, hal_store<>>, std::pair<first_fit, hal_store<2>>,
                   std::pair<first_fit, bitmask_store>, std::pair<first_fit, hash_store>,
                   std::pair<best_fit, hal_store<>>, std::pair<best_fit, hal_store<3>>,
                   std::pair<best_fit, bitmask_store>, std::pair<best_fit, hash_store>,
                   std::pair<next_fit, hal_store<>>, std::pair<next_fit, hal_store<4>>,
                   std::pair<next_fit, bitmask_store>, std::pair<next_fit, hash_store>>;
TYPED_TEST_SUITE(fits, fit_and_store);

TYPED_TEST(fits, put_every_block_where_their_rule_says) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_fit_with_its_rule<typename TypeParam::first_type, typename TypeParam::second_type>(
        seed);
  }
}

TYPED_TEST(fits, serve_whatever_any_of_several_small_regions_has_room_for) {
  fit_policy<typename TypeParam::first_type, typename TypeParam::second_type> policy(
      policy_options{granule});
  for (const std::size_t n : {1, 2, 3}) policy.add_region({n * base, 4 * granule});
  std::vector<address> live;
  std::mt19937 random(3);
  for (int step = 0; step < 2000; ++step) {
    std::size_t most = 0;
    policy.for_each_block([&](extent block, bool used) {
      if (!used) most = std::max(most, block.bytes);
    });
    const std::size_t bytes = (1 + random() % 3) * granule;
    const extent block = policy.allocate(bytes, granule, effort::bounded);
    ASSERT_EQ(block.bytes, bytes <= most ? bytes : 0) << "step " << step;
    if (block) live.push_back(block.base);
    if (block && random() % 8 != 0) continue;
    std::swap(live[random() % live.size()], live.back());
    policy.deallocate(live.back());
    live.pop_back();
  }
}

TYPED_TEST(fits, merge_with_both_neighbours_at_exact_adjacency) {
  with_region<fit_policy<typename TypeParam::first_type, typename TypeParam::second_type>> policy(
      9);
  const address left = take(policy, 3);
  const address middle = take(policy, 3);
  const address right = take(policy, 3);
  EXPECT_EQ(take(policy, 1), 0u) << "the memory is used up";
  policy.deallocate(left);
  policy.deallocate(right);
  EXPECT_EQ(take(policy, 4), 0u);
  policy.deallocate(middle);
  EXPECT_TRUE(policy.region_is_free(base));
  EXPECT_EQ(take(policy, 9), base) << "after out of memory everything is usable in one block";
}

TEST(binary_buddy, merges_only_with_its_buddy) {
  with_region<binary_buddy> policy(8);
  std::vector<address> ones;
  for (int n = 0; n < 8; ++n) ones.push_back(take(policy, 1));
  EXPECT_EQ(take(policy, 1), 0u);
  // 1 and 2 are neighbours, but not buddies.
  const std::set<address> blocks(ones.begin(), ones.end());
  EXPECT_EQ(blocks.size(), 8u);
  policy.deallocate(base + 1 * granule);
  policy.deallocate(base + 2 * granule);
  EXPECT_EQ(take(policy, 2), 0u);
  policy.deallocate(base + 0 * granule);
  EXPECT_EQ(take(policy, 2), base);
}

TEST(binary_buddy, of_two_halves_the_left_one_is_split_on) {
  with_region<binary_buddy> policy(8);
  EXPECT_EQ(take(policy, 1), base);
}

TEST(binary_buddy, a_region_that_is_not_a_power_of_two_is_used_up_to_the_last_granule) {
  with_region<binary_buddy> policy(1 + 2 + 8 + 32);
  EXPECT_NE(take(policy, 32), 0u);
  EXPECT_NE(take(policy, 8), 0u);
  EXPECT_NE(take(policy, 2), 0u);
  EXPECT_NE(take(policy, 1), 0u);
  EXPECT_EQ(take(policy, 1), 0u);
}

TEST(double_buddy, wastes_at_most_a_third_of_a_block) {
  for (std::size_t granules = 1; granules <= 2000; ++granules) {
    with_region<double_buddy> policy(16384);
    const std::size_t got =
        policy.allocate(granules * granule, granule, effort::bounded).bytes / granule;
    ASSERT_GE(got, granules);
    ASSERT_LE(3 * (got - granules), got) << granules << " granules got " << got;
  }
}

TEST(double_buddy, one_half_serves_when_the_other_is_used_up) {
  with_region<double_buddy> policy(64);
  std::size_t blocks = 0;
  while (take(policy, 1) != 0) ++blocks;
  // 32 of one granule, and the other half in blocks of three with what does not fit those.
  EXPECT_GE(blocks, 32u + 10u);
  EXPECT_EQ(policy.check(), std::nullopt);
}

TEST(double_buddy, each_half_of_a_region_has_the_largest_blocks_of_its_family) {
  // The second half of 16 granules is a block of 6 and what it leaves, that of 6 is a block of 3.
  with_region<double_buddy> sixteen(16);
  for (const std::size_t granules : {8, 6, 2}) EXPECT_NE(take(sixteen, granules), 0u) << granules;
  EXPECT_EQ(take(sixteen, 1), 0u);
  with_region<double_buddy> six(6);
  for (const std::size_t granules : {3, 2, 1}) EXPECT_NE(take(six, granules), 0u) << granules;
  EXPECT_EQ(take(six, 1), 0u);
}

TEST(fibonacci_buddy, the_smaller_part_that_is_large_enough_is_split_on) {
  for (const auto& [granules, offset] : {std::pair{3, 5}, {2, 5}, {5, 0}}) {
    with_region<fibonacci_buddy> policy(8);
    EXPECT_EQ(take(policy, static_cast<std::size_t>(granules)),
              base + static_cast<std::size_t>(offset) * granule)
        << granules << " of 8, which are 5 and 3";
  }
}

TEST(fibonacci_buddy, no_order_has_room_for_more_than_the_largest) {
  using buddies::fibonacci;
  // Constants, since a constant never comes of a read behind the sizes.
  constexpr int largest = fibonacci::wanted(fibonacci::sizes.back()).front();
  constexpr int none = fibonacci::wanted(fibonacci::sizes.back() + 1).front();
  EXPECT_EQ(largest, buddies::orders - 1);
  EXPECT_EQ(none, buddies::unsplit);
}

TEST(fibonacci_buddy, every_tree_of_splits_merges_back) {
  // A region of exactly one root of each size; random splits and merges.
  std::mt19937 random(9);
  for (int order = 1; order <= 14; ++order) {
    const std::size_t size = buddies::fibonacci::granules(order);
    with_region<fibonacci_buddy> policy(size);
    ASSERT_EQ(take(policy, size), base);
    policy.deallocate(base);
    std::vector<address> live;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 2 == 0) {
        const address block = take(policy, 1 + random() % size);
        if (block != 0) live.push_back(block);
      } else if (!live.empty()) {
        const std::size_t which = random() % live.size();
        ASSERT_NE(policy.deallocate(live[which]), 0u);
        live[which] = live.back();
        live.pop_back();
      }
      if (step % 20 == 0) {
        ASSERT_EQ(policy.check(), std::nullopt) << order << " at " << step;
      }
    }
    for (const address block : live) policy.deallocate(block);
    ASSERT_TRUE(policy.region_is_free(base)) << "order " << order;
    ASSERT_EQ(take(policy, size), base) << "order " << order;
  }
}

TEST(simple_segregated, memory_stays_with_its_size_until_the_pool_is_idle) {
  with_region<simple_segregated> policy(8);
  const address four = take(policy, 4);
  const address keep = take(policy, 4);
  policy.deallocate(four);
  EXPECT_EQ(take(policy, 1), 0u) << "a block of four is not split";
  EXPECT_EQ(take(policy, 3), four) << "three are rounded up to four";
  policy.deallocate(four);
  policy.deallocate(keep);
  EXPECT_TRUE(policy.region_is_free(base));
  EXPECT_EQ(take(policy, 8), base);
}

TEST(slabs_over_tlsf, small_blocks_share_a_slab_and_the_slab_goes_back) {
  with_region<slabs_over_tlsf> policy(4 * 256);
  std::set<address> small;
  for (int n = 0; n < 256; ++n) small.insert(take(policy, 1));
  ASSERT_EQ(small.size(), 256u);
  EXPECT_EQ(*small.rbegin() - *small.begin(), 255 * granule) << "one slab holds them all";
  EXPECT_EQ(policy.deallocate(*small.begin() + 1), 0u) << "an address inside an object";
  const address large = take(policy, 100);
  EXPECT_NE(large, 0u);
  EXPECT_EQ(policy.check(), std::nullopt);
  for (const address block : small) ASSERT_EQ(policy.deallocate(block), granule);
  EXPECT_EQ(policy.deallocate(*small.begin()), 0u) << "freed twice, after its slab has gone";
  policy.deallocate(large);
  EXPECT_TRUE(policy.region_is_free(base));
}

TEST(slabs_over_tlsf, all_of_a_slab_is_visited_even_what_no_object_fills) {
  with_region<slabs_over_tlsf> policy(4 * 256);
  ASSERT_NE(take(policy, 3), 0u);  // 85 of them fill all but a granule
  std::size_t visited = 0;
  policy.for_each_block([&](extent block, bool) { visited += block.bytes; });
  EXPECT_EQ(visited, 4 * 256 * granule);
}

TEST(slabs_over_tlsf, small_blocks_go_on_when_no_slab_fits) {
  with_region<slabs_over_tlsf> policy(20);
  std::size_t blocks = 0;
  while (take(policy, 1) != 0) ++blocks;
  EXPECT_EQ(blocks, 20u);
}

/// A policy for slabs that tells of its blocks what it is told to.
struct unreliable_tlsf : tlsf {
  using tlsf::tlsf;

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    if (hides) return;
    extent first{};
    tlsf::for_each_block([&](extent block, bool used) {
      if (used && !first) first = block;
      if (used && repeats_the_first) block = first;
      visit(extent{block.base, block.bytes + longer}, used);
    });
  }
  std::size_t deallocate(address base) {
    before_it_is_free();
    return tlsf::deallocate(base);
  }

  static inline bool hides = false;
  static inline bool repeats_the_first = false;
  static inline std::size_t longer = 0;
  static inline std::function<void()> before_it_is_free = [] {};
};

TEST(slabs_over_tlsf, a_slab_that_is_empty_or_not_a_whole_block_is_found) {
  with_region<slabs_over<unreliable_tlsf>> policy(4 * 256);
  const address only = take(policy, 1);
  const auto wrong = [&] { return policy.check().value_or(""); };
  EXPECT_EQ(wrong(), "");
  unreliable_tlsf::longer = granule;
  EXPECT_TRUE(wrong().ends_with("is not as large as a slab")) << wrong();
  unreliable_tlsf::longer = 0;
  unreliable_tlsf::hides = true;
  EXPECT_TRUE(wrong().ends_with("a slab is not a block")) << wrong();
  unreliable_tlsf::hides = false;
  std::string while_it_goes;
  unreliable_tlsf::before_it_is_free = [&] { while_it_goes = wrong(); };
  EXPECT_EQ(policy.deallocate(only), granule);
  unreliable_tlsf::before_it_is_free = [] {};
  EXPECT_TRUE(while_it_goes.ends_with("is empty")) << while_it_goes;
}

TEST(slabs_over_tlsf, a_slab_with_room_that_is_in_no_list_is_found) {
  with_region<slabs_over<unreliable_tlsf>> policy(4 * 256);
  for (int object = 0; object < 256; ++object) take(policy, 1);
  take(policy, 1);  // of a second slab: the first one has no room
  EXPECT_EQ(policy.check(), std::nullopt);
  unreliable_tlsf::repeats_the_first = true;
  EXPECT_EQ(policy.check(), "P2: a slab with room is in no list");
  unreliable_tlsf::repeats_the_first = false;
}

TEST(tlsf, an_aligned_block_needs_no_more_than_it_may_lose_in_front) {
  with_region<tlsf> policy(5 + 3);
  EXPECT_EQ(policy.allocate(5 * granule, 4 * granule, effort::thorough).bytes, 5 * granule);
}

}  // namespace
}  // namespace warpheap::host
