// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/shared_search_cases.hpp"

#include "warpheap/sync/shared_search.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added{
    {"shared_search", subject_kind::structure, shared_search_cases<shared_search<2>>(), "", ""}};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
