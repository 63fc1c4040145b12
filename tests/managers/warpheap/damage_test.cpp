// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(65 * 256, {60, 16, 128, 256},
                               {{1, {46, 726}},
                                {2, {17, 627}},
                                {3, {253, 6411}},
                                {4, {32, 1995}},
                                {5, {44, 791}},
                                {6, {23, 344}},
                                {7, {47, 987}},
                                {8, {356, 7281}}},
                               3);
}

// A lane that takes it would look at memory behind the words.
TEST(warpheap_damage, sees_an_offer_of_a_word_that_the_heap_does_not_have) {
  const exposed_heap<small> subject(65 * 256);
  const auto manager = subject.heap().ref().manager();
  const auto& parts = manager.parts();
  const std::uint32_t all = parts.universe() * parts.chunks().stride();
  for (const bool is_wrong : {false, true}) {
    inspection found;
    subject.heap().on().launch({1, 1}, [&] {
      EXPECT_TRUE(parts.offers().make(0, is_wrong ? all : all - 1));
      manager.inspect(0, 1, found);
    });
    subject.heap().on().synchronize();
    EXPECT_EQ(found.violations[7] != 0, is_wrong);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
