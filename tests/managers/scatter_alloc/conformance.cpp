// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/scatter_alloc/traits.hpp"
#include "warpheap/core/type_list.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using subjects = type_list<scatter_alloc<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
