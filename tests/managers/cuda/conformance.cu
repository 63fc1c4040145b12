// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/managers/cuda/cuda.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <>
struct manager_traits<builtin> : default_traits<builtin> {
  static constexpr std::uint64_t most_fill_blocks = 2048;
  static constexpr std::uint64_t most_churn_threads = 128;
};

using subjects = type_list<builtin>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
