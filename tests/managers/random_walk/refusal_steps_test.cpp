// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served, by steps of the explorer.
#include "refusal_steps.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Searches that a request takes part in if others free something during each of them, and each
/// leaves `left`, which others take before the request can.
int searches_in_vain(random_walk::run_left left) {
  random_walk::shared_rounds search;
  int searches = 0;
  steps({1, 1}, [&] {
    search.format();
    random_walk::search_rounds(
        search, simt::coalesced(nullptr), 1, [] { return 1u; },
        [&](std::uint32_t /*first*/, std::uint32_t /*count*/) {
          ++searches;
          search.released();
          return left;
        },
        [](std::uint32_t /*word*/) {});
  });
  return searches;
}

TEST(search_rounds, are_few_beside_lanes_that_always_free) {
  EXPECT_EQ(searches_in_vain({}), 4);
  EXPECT_EQ(searches_in_vain({.word = 0, .units = 1}), 16);
}

/// A heap of single free units: every second one is in use.
class no_two_units_together : public ::testing::Test {
 protected:
  no_two_units_together() {
    steps({1, 1}, [this] {
      all_.format(0, 1);
      std::vector<void*> blocks;
      while (void* const block = all_.malloc(unit)) blocks.push_back(block);
      std::sort(blocks.begin(), blocks.end());
      for (std::size_t i = 0; i < blocks.size(); i += 2) all_.free(blocks[i]);
    });
  }

  static constexpr std::size_t unit = 256;
  rubbish memory_{256_KiB};
  rw_malloc<> all_{memory_.all(), simt::device_properties{}, {}};
};

// Each of its searches is spoilt: something has become free meanwhile, though never two units.
TEST_F(no_two_units_together, a_request_gives_up_beside_a_lane_that_always_frees) {
  const std::uint64_t taken = steps_of_a_refusal([this] { return all_.malloc(2 * unit); },
                                                 [this] {
                                                   void* const block = all_.malloc(unit);
                                                   if (block != nullptr) all_.free(block);
                                                 });
  constexpr std::uint64_t a_few_searches = 5000;
  EXPECT_LT(taken, a_few_searches);
}

/// All pages are in use.
template <class M>
class no_page_free : public ::testing::Test {
 protected:
  no_page_free() {
    steps({1, 1}, [this] {
      all_.format(0, 1);
      while (all_.malloc(page) != nullptr) {
      }
      search().released();  // nothing is known at first
    });
  }

  static simt::device_properties machine() {
    simt::device_properties properties;
    properties.resident_threads = 2;
    return properties;
  }

  /// What a heap of pages begins with.
  random_walk::shared_rounds& search() const {
    return *reinterpret_cast<random_walk::shared_rounds*>(memory_.all().base);
  }

  static constexpr std::size_t page = 16;
  rubbish memory_{64_KiB};
  M all_{memory_.all(), machine(), {.page_bytes = page}};
};

using managers_of_pages = testing::Types<rw<>, rw_bm<>, corw<>, crw<>>;
TYPED_TEST_SUITE(no_page_free, managers_of_pages);

// Pages become free all the time, and others take them before the search looks there.
TYPED_TEST(no_page_free, a_request_gives_up_beside_lanes_that_always_free) {
  const std::uint64_t taken = steps_of_a_refusal([this] { return this->all_.malloc(this->page); },
                                                 [this] { this->search().released(); });
  const std::uint64_t words = this->all_.page_count() / TypeParam::word_bits;
  // Each as long as the search of one lane that looks at each word, and the walk before. The other
  // lane makes as many steps.
  const std::uint64_t a_few_searches = 6 * (words + 100);
  constexpr std::uint64_t a_walk = 2000;
  EXPECT_LT(taken, 2 * (a_walk + a_few_searches));
}

constexpr std::uint64_t few = 20;

TYPED_TEST(no_page_free, one_search_serves_all_requests_that_follow) {
  const auto ask = [this] { EXPECT_EQ(this->all_.malloc(this->page), nullptr); };
  EXPECT_GT(steps({1, 1}, ask), few);
  EXPECT_LT(steps({1, 1}, ask), few);
}

TEST_F(no_two_units_together, one_search_serves_all_requests_that_follow) {
  const auto ask = [this] { EXPECT_EQ(all_.malloc(2 * unit), nullptr); };
  EXPECT_GT(steps({1, 1}, ask), few);
  EXPECT_LT(steps({1, 1}, ask), few);
}

// A search looks at each page, which takes far longer than a walk.
using no_page_of_rw_free = no_page_free<rw<>>;

TEST_F(no_page_of_rw_free, requests_that_fail_at_once_share_a_search) {
  const auto ask = [this] { EXPECT_EQ(all_.malloc(page), nullptr); };
  const std::uint64_t alone = steps({1, 1}, ask);
  search().released();
  EXPECT_LT(steps({8, 1}, ask), 4 * alone);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
