// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/warpheap/warpheap.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Chunks of few words, so that they become full and empty all the time.
class warpheap_of_small_chunks
    : public warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}> {
  using base = warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "warpheap_4096");
};

using subjects = configurations<type_list<warpheap_manager<>>, type_list<warpheap_of_small_chunks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
