// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/bump/bump.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <bump_config Config>
struct manager_traits<bump<Config>> : default_traits<bump<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // A counter a share, and shares that are full to the last byte.
    const std::size_t shares =
        Config.counters == bump_counters::sharded ? on.multiprocessors : std::size_t{1};
    std::vector<capacity> all;
    for (const std::size_t bytes : {16, 48, 1024}) {
      const std::size_t heap_bytes = layout_bytes().array(shares, 128).then(shares * 100 * bytes);
      all.push_back({bytes, heap_bytes, shares * 100, 16});
    }
    return all;
  }
};

using subjects = type_list<bump<bump_config{.counters = bump_counters::one}>,
                           bump<bump_config{.counters = bump_counters::warp}>,
                           bump<bump_config{.counters = bump_counters::sharded}>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
