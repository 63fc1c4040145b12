// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/bulk_semaphore_cases.hpp"
#include "sync/index_queue_cases.hpp"
#include "sync/list_directory_cases.hpp"

#include "warpheap/sync/index_queue/list_directory.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <class Memory>
registrar queue(const char* name) {
  return registrar{{name, subject_kind::structure, index_queue_cases<Memory>(), "", ""}};
}

const registrar added[]{
    queue<test::static_memory>("static_queue"),
    queue<test::array_memory<>>("virtual_array_queue"),
    registrar{{"array_directory", subject_kind::structure,
               array_directory_cases<sync::array_directory>(), "", ""}},
    queue<test::list_memory>("virtual_list_queue"),
    registrar{{"list_directory", subject_kind::structure,
               list_directory_cases<sync::list_directory>(), "", ""}},
    registrar{{"bulk_semaphore", subject_kind::structure,
               bulk_semaphore_cases<sync::bulk_semaphore>(), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
