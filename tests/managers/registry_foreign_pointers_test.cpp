// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer to memory that is not the heap's is not an index into its tables.
#include "manager_names.hpp"
#include "surrounded.hpp"
#include "warpheap/registry.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class foreign_pointers : public ::testing::Test {};
TYPED_TEST_SUITE(foreign_pointers, portable_managers::apply<::testing::Types>, manager_names);

TYPED_TEST(foreign_pointers, are_ignored) {
  if constexpr (block_manager<TypeParam> && TypeParam::about.frees) {
    surrounded<TypeParam> subject;
    EXPECT_TRUE(subject.stays_as_it_is(
        [](const TypeParam& manager, std::byte* foreign) { manager.free(foreign); }));
  } else {
    GTEST_SKIP() << "frees no single blocks";
  }
}

TYPED_TEST(foreign_pointers, have_no_usable_bytes) {
  if constexpr (measures_blocks<TypeParam>) {
    surrounded<TypeParam> subject;
    EXPECT_TRUE(subject.stays_as_it_is([](const TypeParam& manager, std::byte* foreign) {
      EXPECT_EQ(manager.usable_size(foreign), 0u);
    }));
  } else {
    GTEST_SKIP() << "does not know the sizes of its blocks";
  }
}

#if !defined(NDEBUG)
// The handle answers null itself, so managers do not look for it.
TYPED_TEST(foreign_pointers, null_breaks_the_contract) {
  if constexpr (block_manager<TypeParam>) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    const surrounded<TypeParam> subject;
    EXPECT_DEATH(subject.manager().free(nullptr), "does not: (block|pointer) != nullptr");
  } else {
    GTEST_SKIP() << "frees no single blocks";
  }
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
