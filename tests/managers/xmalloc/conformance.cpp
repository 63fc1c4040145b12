// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <xmalloc_config Config>
struct manager_traits<xmalloc<Config>> : default_traits<xmalloc<Config>> {
  // Larger blocks are Memoryblocks. A lane takes those without a collective, so that lanes of the
  // CPU model follow each other, and never want more than a nearly full heap has.
  static constexpr std::size_t refill_bytes = 4096;
};

using subjects = type_list<xmalloc<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
