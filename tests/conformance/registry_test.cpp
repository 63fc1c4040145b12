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

TEST(conformance_of_the_registry, the_default_manager_is_one_of_them) {
  bool there = false;
  managers::for_each(
      [&](auto type) { there |= std::is_same_v<typename decltype(type)::type, default_manager>; });
  EXPECT_TRUE(there);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
