// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// That inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <initializer_list>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class random_walk_damage : public ::testing::Test {
 protected:
  static void expect(const typename exposed_heap<M>::answers& expected, std::size_t heap_bytes,
                     std::initializer_list<std::size_t> sizes) {
    const exposed_heap<M> subject(heap_bytes);
    for (const std::size_t bytes : sizes) {
      test::take(subject.heap(), bytes, 2);
      give(subject.heap(), test::take(subject.heap(), bytes, 3));
    }
    expect_valid(subject.heap());
    EXPECT_EQ(subject.guarded_words(~0u), expected);
    expect_valid(subject.heap());
  }
};

using rw_malloc_damage = random_walk_damage<rw_malloc<>>;
TEST_F(rw_malloc_damage, sees_words_that_are_wrong) {
  expect({{1, {1, 26}}, {2, {2, 53}}, {3, {2, 38}}, {4, {3, 68}}}, 8192, {64, 16, 128, 24});
}

using rw_damage = random_walk_damage<rw<>>;
TEST_F(rw_damage, sees_words_that_are_wrong) { expect({{1, {24, 1152}}}, 8192, {256, 100}); }

using rw_bm_damage = random_walk_damage<rw_bm<>>;
TEST_F(rw_bm_damage, sees_words_that_are_wrong) { expect({{1, {1, 26}}}, 16384, {256, 100}); }

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
