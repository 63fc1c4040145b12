// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using subjects = type_list<bulk_allocator<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
