// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/type_list.hpp"

#include <gtest/gtest.h>
#include <tuple>
#include <type_traits>
#include <vector>

namespace warpheap {
namespace {

template <int Number>
struct item {
  static constexpr int number = Number;
};
using five = type_list<item<0>, item<1>, item<2>, item<3>, item<4>>;

template <class List>
std::vector<int> numbers() {
  std::vector<int> found;
  List::for_each([&]<class T>(std::type_identity<T>) { found.push_back(T::number); });
  return found;
}

TEST(type_list, for_each_visits_in_order) {
  EXPECT_EQ(numbers<five>(), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(numbers<type_list<>>().empty());
  EXPECT_EQ(five::size, 5u);
}

TEST(type_list, append_keeps_the_order) {
  using longer = decltype(five::append(type_list<item<7>, item<6>>{}));
  EXPECT_EQ(numbers<longer>(), (std::vector<int>{0, 1, 2, 3, 4, 7, 6}));
}

TEST(type_list, apply_makes_another_template) {
  EXPECT_TRUE((std::is_same_v<type_list<int, char>::apply<std::tuple>, std::tuple<int, char>>));
}

TEST(type_list, shards_are_every_nth_type) {
  EXPECT_EQ((numbers<shard_of<five, 0, 2>>()), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ((numbers<shard_of<five, 1, 2>>()), (std::vector<int>{1, 3}));
  EXPECT_EQ((numbers<shard_of<five, 0, 1>>()), numbers<five>());
  EXPECT_TRUE((numbers<shard_of<five, 6, 7>>()).empty());
}

TEST(type_list, shards_together_are_the_list) {
  std::vector<int> seen(5);
  const auto count = [&](const std::vector<int>& shard) {
    for (const int number : shard) ++seen[number];
  };
  count(numbers<shard_of<five, 0, 3>>());
  count(numbers<shard_of<five, 1, 3>>());
  count(numbers<shard_of<five, 2, 3>>());
  EXPECT_EQ(seen, std::vector<int>(5, 1));
}

}  // namespace
}  // namespace warpheap
