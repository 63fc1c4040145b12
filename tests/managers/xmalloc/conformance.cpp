// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using subjects = type_list<xmalloc<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
