// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <gallatin_config Config>
struct manager_traits<gallatin<Config>> : default_traits<gallatin<Config>> {
  // Reuse is partial, for a hole waits until all of its neighbours are free as well. Then it ends.
  static constexpr bool whole_when_emptied = true;
};

using subjects = type_list<gallatin<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
