// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <scatter_config Config>
struct manager_traits<scatter_alloc<Config>> : default_traits<scatter_alloc<Config>> {
  // Runs start at hashed places, and where they happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.page_bytes;
};

using subjects = type_list<scatter_alloc<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
