// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each policy promises beyond the contract that all share (pools_test.cpp tests that).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "warpheap/host/buddy.hpp"
#include "warpheap/host/fits.hpp"
#include "warpheap/host/hybrid_pool.hpp"
#include "warpheap/host/segregated.hpp"
#include "warpheap/host/simple_segregated.hpp"

namespace warpheap::host {
namespace {

constexpr address base = 0x100000;
constexpr std::size_t granule = 256;

// A policy with one region of so many granules.
template <class Policy>
struct with_region : Policy {
  explicit with_region(std::size_t granules) : Policy(policy_options{granule}) {
    this->add_region({base, granules * granule});
  }
};

template <class Policy>
address take(Policy& policy, std::size_t granules, effort how = effort::bounded) {
  return policy.allocate(granules * granule, granule, how).base;
}

// Free memory as a naive allocator sees it: a sorted map of the free runs.
class model_heap {
 public:
  explicit model_heap(std::vector<extent> regions) : regions_(std::move(regions)) {
    for (const extent& region : regions_) free_[region.base] = region.bytes;
  }

  const std::map<address, std::size_t>& free() const { return free_; }

  void take(extent piece) {
    const auto run = std::prev(free_.upper_bound(piece.base));
    const extent whole{run->first, run->second};
    free_.erase(run);
    if (piece.base != whole.base) free_[whole.base] = piece.base - whole.base;
    if (piece.end() != whole.end()) free_[piece.end()] = whole.end() - piece.end();
  }

  void give_back(extent piece) {
    auto run = free_.emplace(piece.base, piece.bytes).first;
    const auto next = std::next(run);
    if (next != free_.end() && next->first == piece.end() && !is_region_start(next->first)) {
      run->second += next->second;
      free_.erase(next);
    }
    if (run == free_.begin() || is_region_start(run->first)) return;
    const auto prev = std::prev(run);
    if (prev->first + prev->second == run->first) {
      prev->second += run->second;
      free_.erase(run);
    }
  }

 private:
  bool is_region_start(address where) const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const extent& region) { return region.base == where; });
  }

  std::vector<extent> regions_;
  std::map<address, std::size_t> free_;
};

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

// The rule of segregated fit and TLSF, written down naively: holes in the order in which they came
// to be or changed, newest first, and a class worked out from a size without a bit trick.
class model_of_classes {
 public:
  model_of_classes(std::vector<extent> regions, int columns, bool low_addresses)
      : heap_(regions), columns_(columns), low_addresses_(low_addresses) {
    for (const extent& region : regions) newest_first_.insert(newest_first_.begin(), region);
  }

  extent allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t slack = alignment > granule ? alignment - granule : 0;
    const bool small = low_addresses_ && 4 * bytes * used_ < 3 * in_use_;
    const extent hole = find(bytes + slack, small ? 2 * bytes : 0);
    if (!hole) return {};
    const extent block{align_up<address>(hole.base, alignment), bytes};
    change([&] { heap_.take(block); });
    ++used_;
    in_use_ += bytes;
    return block;
  }

  void deallocate(extent block) {
    change([&] { heap_.give_back(block); });
    --used_;
    in_use_ -= block.bytes;
  }

  void truncate(extent tail) {
    change([&] { heap_.give_back(tail); });
    in_use_ -= tail.bytes;
  }

 private:
  // Numbers classes in the order of their sizes.
  std::size_t class_of(std::size_t bytes) const {
    const auto columns = static_cast<std::size_t>(columns_);
    const std::size_t granules = bytes / granule;
    std::size_t row = 1;
    std::size_t start = columns;
    if (granules < columns) return granules;
    for (; 2 * start <= granules; start *= 2) ++row;
    return row * columns + (granules - start) * columns / start;
  }

  extent find(std::size_t bytes, std::size_t widest) const {
    const std::size_t own = class_of(bytes);
    std::map<std::size_t, extent> firsts;  // of the classes above
    extent best;
    int looks = 4;
    for (const extent& hole : newest_first_) {
      const std::size_t its = class_of(hole.bytes);
      if (its > own) firsts.emplace(its, hole);
      if (its == own && looks-- > 0 && !best && hole.bytes >= bytes) best = hole;
    }
    if (best && widest == 0) return best;
    int met = best ? 1 : 0;
    for (const auto& [its, hole] : firsts) {
      if (met++ == 4 || (best && hole.bytes > widest)) break;
      if (!best || hole.base < best.base) best = hole;
    }
    return best;
  }

  // Makes a change of the heap, and puts the holes that are new or another size in front: the one
  // with the highest address foremost.
  template <class Change>
  void change(Change&& make) {
    make();
    std::vector<extent> fresh;
    for (const auto& [where, size] : heap_.free()) {
      const auto known = std::find(newest_first_.begin(), newest_first_.end(), extent{where, size});
      if (known == newest_first_.end()) fresh.push_back({where, size});
    }
    std::erase_if(newest_first_, [&](const extent& old) {
      const auto still = heap_.free().find(old.base);
      return still == heap_.free().end() || still->second != old.bytes;
    });
    for (const extent& hole : fresh) newest_first_.insert(newest_first_.begin(), hole);
  }

  model_heap heap_;
  std::vector<extent> newest_first_;
  int columns_;
  bool low_addresses_;
  std::size_t used_ = 0;
  std::size_t in_use_ = 0;
};

template <class Policy>
void compare_classes_with_their_rule(int columns, bool low_addresses, unsigned seed) {
  // Two regions that touch: blocks must not merge across.
  const std::vector<extent> regions{{base, 1500 * granule}, {base + 1500 * granule, 700 * granule}};
  Policy policy{policy_options{granule}};
  for (const extent& region : regions) policy.add_region(region);
  model_of_classes model(regions, columns, low_addresses);
  std::vector<extent> live;
  std::mt19937 random(seed);
  for (int step = 0; step < 10000; ++step) {
    const unsigned action = random() % 20;
    if (action < 10 || live.empty()) {
      const std::size_t bytes = (1 + random() % (std::size_t{1} << random() % 9)) * granule;
      const std::size_t alignment = granule << (random() % 8 == 0 ? random() % 4 : 0);
      const extent want = model.allocate(bytes, alignment);
      ASSERT_EQ(policy.allocate(bytes - random() % granule, alignment, effort::bounded), want)
          << "step " << step;
      if (want) live.push_back(want);
    } else {
      extent& block = live[random() % live.size()];
      if (action < 11 && block.bytes > granule) {
        const std::size_t keep = (1 + random() % (block.bytes / granule - 1)) * granule;
        ASSERT_EQ(policy.truncate(block.base, keep), block.bytes - keep);
        model.truncate({block.base + keep, block.bytes - keep});
        block.bytes = keep;
      } else {
        ASSERT_EQ(policy.deallocate(block.base), block.bytes);
        model.deallocate(block);
        block = live.back();
        live.pop_back();
      }
    }
    if (step % 50 == 0) {
      ASSERT_EQ(policy.check(), std::nullopt) << "step " << step;
    }
  }
  for (const extent& block : live) policy.deallocate(block.base);
  for (const extent& region : regions) {
    ASSERT_TRUE(policy.region_is_free(region.base));
    policy.remove_region(region.base);
    ASSERT_EQ(policy.check(), std::nullopt) << "every record of the region is forgotten";
  }
}

TEST(segregated_fit, puts_every_block_where_its_rule_says) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_classes_with_their_rule<segregated_fit>(1, false, seed);
  }
}

TEST(tlsf, puts_every_block_where_its_rule_says) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_classes_with_their_rule<tlsf>(32, true, seed);
  }
}

TEST(segregated_fit, takes_from_the_next_class_only_what_its_own_cannot_serve) {
  with_region<segregated_fit> policy(64);
  const address a = take(policy, 7);
  const address fence = take(policy, 1);
  EXPECT_NE(fence, 0u);
  policy.deallocate(a);
  // 7 granules are in the class of 4 to 7: a request of 7 belongs there and finds them.
  EXPECT_EQ(take(policy, 7), a);
  policy.deallocate(a);
  EXPECT_EQ(take(policy, 5), a);
}

TEST(segregated_fit, a_thorough_search_finds_what_a_bounded_one_misses) {
  with_region<segregated_fit> policy(200);
  // Many blocks of 4 granules on top of one of 6 in the list of the class 4..7.
  std::vector<address> fours;
  const address six = take(policy, 6);
  std::vector<address> fences{take(policy, 1)};
  for (int n = 0; n < 20; ++n) {
    fours.push_back(take(policy, 4));
    fences.push_back(take(policy, 1));
  }
  while (take(policy, 1) != 0) {
  }
  policy.deallocate(six);
  for (const address four : fours) policy.deallocate(four);
  EXPECT_EQ(take(policy, 6, effort::bounded), 0u);
  EXPECT_EQ(take(policy, 6, effort::thorough), six);
}

TEST(tlsf, a_search_never_returns_a_block_that_is_too_small) {
  std::mt19937 random(5);
  with_region<tlsf> policy(100000);
  std::vector<address> live;
  for (int step = 0; step < 50000; ++step) {
    const std::size_t granules = 1 + random() % (1u << (random() % 12));
    const extent block = policy.allocate(granules * granule, granule, effort::bounded);
    if (block) {
      ASSERT_EQ(block.bytes, granules * granule);
      live.push_back(block.base);
    }
    if (live.size() > 200) {
      const std::size_t which = random() % live.size();
      ASSERT_NE(policy.deallocate(live[which]), 0u);
      live[which] = live.back();
      live.pop_back();
    }
  }
  EXPECT_EQ(policy.check(), std::nullopt);
  for (const address block : live) policy.deallocate(block);
  EXPECT_TRUE(policy.region_is_free(base));
}

TEST(size_index, a_class_that_becomes_empty_is_not_searched) {
  with_region<segregated_fit> policy(16);
  EXPECT_EQ(take(policy, 16), base) << "an exact fit uses the last block of its class up";
  EXPECT_EQ(take(policy, 16), 0u);
  EXPECT_EQ(take(policy, 1), 0u);
  EXPECT_EQ(policy.check(), std::nullopt);
  policy.deallocate(base);
  EXPECT_EQ(take(policy, 16), base);
}

TEST(size_index, a_block_of_another_size_is_its_class_s_newest) {
  block_table table(100);
  size_index<0> index(policy_options{granule});
  const auto add = [&](std::size_t granules) {
    const auto made = table.add_region({base, granules * granule});
    index.insert(table, made);
    return made;
  };
  const auto find = [&](std::size_t granules) {
    return index.find(table, granules * granule, 0, effort::bounded);
  };
  const auto older = add(6);
  const auto newer = add(6);
  EXPECT_EQ(find(4), newer);
  table[older].bytes = 5 * granule;
  index.resized(table, older);
  EXPECT_EQ(find(4), older) << "it stays in its class and comes first";
  table[older].bytes = 9 * granule;
  index.resized(table, older);
  EXPECT_EQ(find(4), newer) << "it left the class";
  EXPECT_EQ(find(8), older) << "it is in its new class";
  EXPECT_EQ(index.check(table, 2), std::nullopt);
  index.remove(table, older);
  EXPECT_EQ(find(8), block_table::none);
  table[newer].bytes = 20 * granule;
  EXPECT_NE(index.check(table, 1), std::nullopt) << "the index was not told of the new size";
}

TEST(binary_buddy, merges_only_with_its_buddy) {
  with_region<binary_buddy> policy(8);
  std::vector<address> ones;
  for (int n = 0; n < 8; ++n) ones.push_back(take(policy, 1));
  EXPECT_EQ(take(policy, 1), 0u);
  // Neighbours that are no buddies: 1 and 2.
  const std::set<address> blocks(ones.begin(), ones.end());
  EXPECT_EQ(blocks.size(), 8u);
  policy.deallocate(base + 1 * granule);
  policy.deallocate(base + 2 * granule);
  EXPECT_EQ(take(policy, 2), 0u);
  policy.deallocate(base + 0 * granule);
  EXPECT_EQ(take(policy, 2), base);
}

TEST(binary_buddy, a_region_that_is_no_power_of_two_is_used_up_to_the_last_granule) {
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

TEST(hybrid_pool, small_blocks_share_a_slab_and_the_slab_goes_back) {
  with_region<hybrid_pool> policy(4 * 256);
  std::set<address> small;
  for (int n = 0; n < 256; ++n) small.insert(take(policy, 1));
  ASSERT_EQ(small.size(), 256u);
  EXPECT_EQ(*small.rbegin() - *small.begin(), 255 * granule) << "one slab holds them all";
  EXPECT_EQ(policy.deallocate(*small.begin() + 1), 0u) << "an address inside of an object";
  const address large = take(policy, 100);
  EXPECT_NE(large, 0u);
  EXPECT_EQ(policy.check(), std::nullopt);
  for (const address block : small) ASSERT_EQ(policy.deallocate(block), granule);
  EXPECT_EQ(policy.deallocate(*small.begin()), 0u) << "freed twice, after its slab has gone";
  policy.deallocate(large);
  EXPECT_TRUE(policy.region_is_free(base));
}

TEST(hybrid_pool, small_blocks_go_on_when_no_slab_fits) {
  with_region<hybrid_pool> policy(20);
  std::size_t blocks = 0;
  while (take(policy, 1) != 0) ++blocks;
  EXPECT_EQ(blocks, 20u);
}

}  // namespace
}  // namespace warpheap::host
