// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What policy.hpp promises of every policy: random calls against a model of the regions, which come
// and go, grow, and lose and get back memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/policies/registry.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t granule = 256;
constexpr address first_base = 0x10000000;
// Regions that have grown to this size touch, and blocks must not merge across.
constexpr std::size_t most_region = 1024 * granule;
constexpr std::size_t places = 4;

template <class Policy>
class walk {
 public:
  explicit walk(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE(testing::Message() << "step " << step);
      act();
      if (step % 16 == 0) expect_sound();
    }
    give_all_back();
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  void act() {
    const std::size_t action = draw(16);
    if (action == 0) {
      come_or_go();
    } else if (action == 1) {
      grow();
    } else if (action == 2) {
      lose_memory();
    } else if (action == 3) {
      get_memory_back();
    } else if (action <= 5) {
      cut();
    } else if (action <= 10) {
      give_back();
    } else {
      take();
    }
  }

  void come_or_go() {
    const address base = first_base + draw(places) * most_region;
    const auto found = regions_.find(base);
    if (found == regions_.end()) {
      regions_[base] = (16 + draw(300)) * granule;
      policy_.add_region({base, regions_[base]});
      return;
    }
    const auto used = live_.lower_bound(base);
    const bool is_free = used == live_.end() || used->first >= base + found->second;
    ASSERT_EQ(policy_.region_is_free(base), is_free);
    if (!is_free) return;
    policy_.remove_region(base);
    vacant_.erase(vacant_.lower_bound(base), vacant_.lower_bound(base + found->second));
    regions_.erase(found);
  }

  void grow() {
    if constexpr (extendable_policy<Policy>) {
      if (regions_.empty()) return;
      auto& [base, bytes] = *std::next(regions_.begin(), static_cast<int>(draw(regions_.size())));
      const std::size_t room = (most_region - bytes) / granule;
      if (room == 0) return;
      const std::size_t more = (draw(8) == 0 ? room : 1 + draw(std::min<std::size_t>(room, 100)));
      const std::size_t end_before = policy_.free_at_end(base);
      policy_.extend_region(base, more * granule);
      bytes += more * granule;
      // A vacant end stays apart from what comes behind it.
      ASSERT_EQ(policy_.free_at_end(base), end_before + more * granule);
    }
  }

  // A part of what is free or what is vacant, or nothing.
  extent some_unused(bool vacant) {
    std::vector<extent> found;
    if constexpr (vacatable_policy<Policy>) {
      policy_.for_each_unused([&](extent part, bool is_vacant) {
        if (is_vacant == vacant) found.push_back(part);
      });
    }
    if (found.empty()) return {};
    const extent whole = found[draw(found.size())];
    const std::size_t granules = whole.bytes / granule;
    const std::size_t skipped = draw(3) == 0 ? draw(granules) : 0;
    const std::size_t kept = draw(3) == 0 ? 1 + draw(granules - skipped) : granules - skipped;
    return {whole.base + skipped * granule, kept * granule};
  }

  void lose_memory() {
    if constexpr (vacatable_policy<Policy>) {
      const extent part = some_unused(false);
      if (!part) return;
      ASSERT_TRUE(policy_.make_room());
      policy_.vacate(part);
      for (address at = part.base; at != part.end(); at += granule) {
        ASSERT_TRUE(vacant_.insert(at).second);
      }
    }
  }

  void get_memory_back() {
    if constexpr (vacatable_policy<Policy>) {
      const extent part = some_unused(true);
      if (!part) return;
      ASSERT_TRUE(policy_.make_room());
      policy_.fill(part);
      for (address at = part.base; at != part.end(); at += granule) {
        ASSERT_EQ(vacant_.erase(at), 1u);
      }
    }
  }

  void take() {
    const std::size_t size = (1 + draw(draw(4) == 0 ? 100 : 12)) * granule;
    const std::size_t alignment = Policy::aligns && draw(8) == 0 ? granule << draw(5) : granule;
    const effort how = draw(2) == 0 ? effort::bounded : effort::thorough;
    const extent block = policy_.allocate(size - draw(granule), alignment, how);
    if (!block) return;
    ASSERT_GE(block.bytes, size);
    if (Policy::truncates) {
      ASSERT_EQ(block.bytes, size);
    }
    ASSERT_EQ(block.base % alignment, 0u);
    auto region = regions_.upper_bound(block.base);
    ASSERT_NE(region, regions_.begin());
    --region;
    ASSERT_LE(block.end(), region->first + region->second) << "beyond its region";
    const auto above = live_.lower_bound(block.base);
    ASSERT_TRUE(above == live_.end() || block.end() <= above->first) << "overlap";
    ASSERT_TRUE(above == live_.begin() ||
                std::prev(above)->first + std::prev(above)->second <= block.base)
        << "overlap";
    const auto gone = vacant_.lower_bound(block.base);
    ASSERT_TRUE(gone == vacant_.end() || *gone >= block.end()) << "memory that is not there";
    live_[block.base] = block.bytes;
    ASSERT_EQ(policy_.block_at(block.base), block);
  }

  std::map<address, std::size_t>::iterator some_block() {
    return std::next(live_.begin(), static_cast<int>(draw(live_.size())));
  }

  void give_back() {
    if (live_.empty()) return;
    const auto [base, bytes] = *some_block();
    ASSERT_EQ(policy_.deallocate(base + granule / 2), 0u) << "inside a block";
    ASSERT_EQ(policy_.deallocate(base), bytes);
    live_.erase(base);
    ASSERT_EQ(policy_.deallocate(base), 0u) << "freed twice";
    ASSERT_FALSE(policy_.block_at(base));
  }

  void cut() {
    if (!Policy::truncates || live_.empty()) return;
    auto& [base, bytes] = *some_block();
    const std::size_t keep = draw(4) == 0 ? bytes : granule * (1 + draw(bytes / granule));
    ASSERT_EQ(policy_.truncate(base, keep - draw(granule)), bytes - keep);
    bytes = keep;
    ASSERT_EQ(policy_.block_at(base), (extent{base, keep}));
  }

  // The tiles in address order are the regions without their vacant parts, and those in use are the
  // blocks.
  void expect_sound() {
    ASSERT_EQ(policy_.check(), std::nullopt);
    std::size_t managed = 0;
    for (const auto& [base, bytes] : regions_) managed += bytes;
    std::size_t tiled = 0;
    std::map<address, std::size_t> used;
    address end = 0;
    policy_.for_each_block([&](extent tile, bool is_used) {
      EXPECT_GE(tile.base, end) << "out of order";
      end = tile.end();
      tiled += tile.bytes;
      if (is_used) used[tile.base] = tile.bytes;
    });
    ASSERT_EQ(used, live_);
    ASSERT_EQ(tiled, managed - vacant_.size() * granule);
    if constexpr (vacatable_policy<Policy>) {
      std::size_t vacant = 0;
      std::size_t unused = 0;
      policy_.for_each_unused([&](extent part, bool is_vacant) {
        unused += part.bytes;
        vacant += is_vacant ? part.bytes : 0;
        EXPECT_EQ(vacant_.contains(part.base), is_vacant);
      });
      ASSERT_EQ(vacant, vacant_.size() * granule);
      if (live_.empty()) {
        ASSERT_EQ(unused, managed);
      }
    }
  }

  // Everything merges: each region serves the largest request that one of its size is for.
  void give_all_back() {
    while (!live_.empty() && !testing::Test::HasFatalFailure()) give_back();
    while (!vacant_.empty() && !testing::Test::HasFatalFailure()) get_memory_back();
    if (testing::Test::HasFatalFailure()) return;
    expect_sound();
    while (!regions_.empty()) {
      std::size_t most = 0;
      for (const auto& [base, bytes] : regions_) most = std::max(most, bytes);
      std::size_t served = most;
      while (Policy::region_for(served) > most) served -= granule;
      const extent block = policy_.allocate(served, granule, effort::thorough);
      ASSERT_TRUE(block) << served << " bytes in a region of " << most;
      ASSERT_GE(policy_.deallocate(block.base), served);
      const auto largest = std::find_if(regions_.begin(), regions_.end(),
                                        [&](const auto& one) { return one.second == most; });
      ASSERT_TRUE(policy_.region_is_free(largest->first));
      policy_.remove_region(largest->first);
      regions_.erase(largest);
      expect_sound();
    }
  }

  Policy policy_{policy_options{granule}};
  std::mt19937 random_;
  std::map<address, std::size_t> regions_;
  std::map<address, std::size_t> live_;
  std::set<address> vacant_;  ///< granules
};

TEST(policies, keep_their_contract_whatever_is_called) {
  for_each_policy([](auto policy) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << policy.name << ", seed " << seed);
      walk<typename decltype(policy)::type>(seed).run(2000);
      if (testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace
}  // namespace warpheap::host
