// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/registry.hpp"
#include "conformance/configurations.hpp"
#include "conformance/registration.hpp"
#include "warpheap/default_manager.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// The suites of all that a manager claims; every manager claims to hand something out.
template <usable_manager M>
std::vector<std::string> suites_of_claims() {
  const std::pair<bool, const char*> claims[]{
      {block_manager<M>, "conformance"},    {page_manager<M>, "pages"},
      {warp_heap_manager<M>, "warp_heaps"}, {object_manager<M>, "objects"},
      {measures_blocks<M>, "resizing"},     {aligns_blocks<M>, "aligning"},
      {growing_manager<M>, "growth"},
  };
  std::vector<std::string> names;
  for (const auto& [claimed, suite] : claims) {
    if (claimed) names.emplace_back(suite);
  }
  return names;
}

TEST(conformance_of_the_registry, every_manager_runs_the_suite_of_all_that_it_claims) {
  if (!with_variants) GTEST_SKIP() << "this build leaves the variants of managers out";
  managers::for_each([](auto type) {
    using manager_type = typename decltype(type)::type;
    const auto suites = suites_of_claims<manager_type>();
    EXPECT_FALSE(suites.empty());
    for (const std::string& suite : suites) {
      EXPECT_TRUE(tested_managers()[suite].contains(typeid(manager_type)))
          << manager_type::about.name << " is in registry.hpp and does not run '" << suite
          << "': it is, in this very configuration, in no `subjects` of "
          << "tests/managers/*/conformance.cpp, or the suite is not part of suite.hpp";
    }
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
