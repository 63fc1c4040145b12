// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/registry.hpp"
#include "conformance/configurations.hpp"
#include "conformance/registration.hpp"
#include "warpheap/default_manager.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(conformance_of_the_registry, every_manager_runs_a_suite) {
  if (!with_variants) GTEST_SKIP() << "this build leaves the variants of managers out";
  managers::for_each([](auto type) {
    using manager_type = typename decltype(type)::type;
    EXPECT_TRUE(tested_managers().contains(typeid(manager_type)))
        << manager_type::about.name << " is in registry.hpp, in this very configuration, and in no "
        << "`subjects` of tests/managers/*/conformance.cpp";
  });
}

// But for those that never say that they are full, and one whose memory is not the heap's.
TEST(conformance_of_the_registry, every_manager_has_a_capacity_that_is_checked) {
  if (!with_variants) GTEST_SKIP() << "this build leaves the variants of managers out";
  managers::for_each([](auto type) {
    using manager_type = typename decltype(type)::type;
    if (!manager_type::about.keeps_blocks_apart() || !manager_type::about.uses_region) return;
    EXPECT_TRUE(managers_with_capacities().contains(typeid(manager_type)))
        << manager_type::about.name << ": its `manager_traits` do not say what a new heap holds";
  });
}

TEST(conformance_of_the_registry, the_default_manager_is_one_of_them) {
  bool there = false;
  managers::for_each(
      [&](auto type) { there |= std::is_same_v<typename decltype(type)::type, default_manager>; });
  EXPECT_TRUE(there);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
