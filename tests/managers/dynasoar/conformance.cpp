// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/objects_kernels.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Larger requests, and few slots per block.
class coarse_dynasoar : public dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}> {
  using base = dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "dynasoar_coarse");
};

template <dynasoar_config Config>
struct manager_traits<dynasoar<Config>> : default_traits<dynasoar<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t blocks = 500;
    static_assert(Config.smallest_bytes * Config.slots == 1024);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 8)       // moves
                                       .array(1, 64)      // the handle
                                       .array(15, 128)    // trees
                                       .array(blocks, 8)  // free slots
                                       .array(blocks, 4)  // types
                                       .then(blocks * 1024);
    std::vector<capacity> all;
    for (const std::size_t bytes : {16, 32, 256, 1024}) {
      all.push_back({bytes, heap_bytes, blocks * (1024 / bytes), 1024});
    }
    return all;
  }
};

using subjects =
    configurations<type_list<dynasoar<>, dynasoar_objects<type_list<small_object, large_object>>>,
                   type_list<coarse_dynasoar>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
