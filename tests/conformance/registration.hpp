// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Tests that run for every manager of a translation unit, `subjects`, that models the contract
/// which they are about. Their names are SUITE.TEST/MANAGER.

#include "warpheap/core/type_list.hpp"
#include "warpheap/heap/contracts/contracts.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <typeindex>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The managers that run a suite in this program, by the name of the suite.
inline std::map<std::string, std::set<std::type_index>>& tested_managers() {
  static std::map<std::string, std::set<std::type_index>> all;
  return all;
}

/// A suite is a class with
/// - `models<M>`: whether its tests are for a manager;
/// - `fixture<M>`: the class that they are members of.
template <class Suite, template <class> class Test, class Subjects>
bool add_conformance_test(const char* suite, const char* name, const char* file, int line) {
  Subjects::for_each([&](auto type) {
    using manager_type = typename decltype(type)::type;
    static_assert(usable_manager<manager_type>,
                  "this manager models no contract of heap/contracts, so no suite would test it");
    if constexpr (Suite::template models<manager_type>) {
      tested_managers()[suite].insert(typeid(manager_type));
      ::testing::RegisterTest(suite, (std::string(name) + "/" + manager_type::about.name).c_str(),
                              nullptr, nullptr, file, line,
                              []() -> ::testing::Test* { return new Test<manager_type>; });
    }
  });
  return true;
}

/// Begins the body of a test, in which `TypeParam` is the manager.
#define CONFORMANCE_TEST(suite, name)                                                 \
  template <class TypeParam>                                                          \
  class name : public suite::fixture<TypeParam> {                                     \
   public:                                                                            \
    void TestBody() override;                                                         \
  };                                                                                  \
  [[maybe_unused]] static const bool name##_added =                                   \
      add_conformance_test<suite, name, subjects>(#suite, #name, __FILE__, __LINE__); \
  template <class TypeParam>                                                          \
  void name<TypeParam>::TestBody()

/// A test that needs what the manager does not claim ends here, and says so.
#define WARPHEAP_REQUIRE(claim, what) \
  if (!(claim)) GTEST_SKIP() << TypeParam::about.name << " does not claim: " << what

/// What a test needs that asks for more than the heap has.
#define WARPHEAP_REQUIRE_BLOCKS_APART() \
  WARPHEAP_REQUIRE(TypeParam::about.keeps_blocks_apart(), "blocks that stay apart in a full heap")

}  // namespace test
WARPHEAP_END_NAMESPACE
