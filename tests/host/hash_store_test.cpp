// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the check of the hash tables finds in lists that a caller has spoilt.
#include <gtest/gtest.h>

#include <optional>

#include "warpheap/host/stores/hash_store.hpp"

namespace warpheap::host {
namespace {

/// A store in which every piece of 32 bytes is used, but for those that a test gives back.
hash_store pieces() {
  hash_store store(policy_options{16});
  store.add_region({0x1000, 0x100});
  for (address base = 0x1000; base < 0x1100; base += 0x20) store.take(store.first(), {base, 0x20});
  return store;
}
void take(hash_store& store, address base) { store.take(store.from(base), {base, 0x20}); }

TEST(hash_store, finds_a_free_block_that_its_list_misses) {
  hash_store store = pieces();
  store.give_back(0x1020);
  store.give_back(0x1060);
  const hash_store::cursor of_before = store.first();
  take(store, 0x1020);
  take(store, 0x1060);
  store.give_back(0x10a0);
  ASSERT_EQ(store.check(), std::nullopt);
  store.take(of_before, {0x1020, 0x20});  // a second time: the list begins with what came after it
  EXPECT_EQ(store.check().value_or("").substr(0, 19), "H1: the list misses");
}

TEST(hash_store, finds_a_used_block_behind_the_free_ones_of_its_list) {
  hash_store store = pieces();
  for (const address base : {0x1020, 0x1060, 0x10a0}) store.give_back(base);
  const hash_store::cursor of_before = store.from(0x1060);
  take(store, 0x1060);
  take(store, 0x10a0);
  ASSERT_EQ(store.check(), std::nullopt);
  store.take(of_before, {0x1060, 0x20});
  EXPECT_EQ(store.check(), "H1: the list holds a block that is not free");
}

}  // namespace
}  // namespace warpheap::host
