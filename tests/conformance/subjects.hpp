// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

#include <gtest/gtest.h>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Every WARPHEAP_SHARDS-th manager of the registry and the variants, from number WARPHEAP_SHARD
/// on.
using subjects = shard_of<decltype(managers::append(variants{})), WARPHEAP_SHARD, WARPHEAP_SHARDS>;
static_assert(subjects::size != 0,
              "fewer managers than shards: lower `shards` in tests/conformance/CMakeLists.txt");

struct subject_names {
  template <class M>
  static std::string GetName(int /*index*/) {
    return M::about.name;
  }
};

using subject_types = subjects::apply<::testing::Types>;
TYPED_TEST_SUITE(conformance, subject_types, subject_names);

}  // namespace test
WARPHEAP_END_NAMESPACE
