// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/objects_kernels.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Larger requests, and few slots a block.
class coarse_dynasoar : public dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}> {
  using base = dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "dynasoar_coarse");
};

using subjects =
    configurations<type_list<dynasoar<>, dynasoar_objects<type_list<small_object, large_object>>>,
                   type_list<coarse_dynasoar>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
