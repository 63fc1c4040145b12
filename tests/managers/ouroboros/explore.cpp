// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/ouroboros/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <queue_kind Queue, item_kind Item>
registrar small(const char* name, std::vector<int> holds = {}) {
  const std::size_t bytes =
      Queue == queue_kind::static_array ? 7168 : 8704 + (Item == item_kind::chunks ? 1024 : 0);
  const any_setup how = small_chunks<small_ouroboros<Queue, Item>>(bytes, std::move(holds));
  if constexpr (Item == item_kind::chunks) {
    return registrar{{name, subject_kind::manager, chunk_cases(how), "", ""}};
  } else {
    return registrar{manager_subject(name, how)};
  }
}

const registrar added[]{
    small<queue_kind::static_array, item_kind::pages>("ouroboros_s_p"),
    // Words of four classes and the supply, tables and arrays for 32 chunks take 4864 bytes. For
    // one chunk more the queues would be twice as long.
    small<queue_kind::static_array, item_kind::chunks>("ouroboros_s_c", {4 * 32, 2 * 32, 32}),
    small<queue_kind::virtual_array, item_kind::pages>("ouroboros_va_p"),
    small<queue_kind::virtual_array, item_kind::chunks>("ouroboros_va_c"),
    small<queue_kind::virtual_list, item_kind::pages>("ouroboros_vl_p"),
    small<queue_kind::virtual_list, item_kind::chunks>("ouroboros_vl_c"),
    registrar{manager_subject(
        "ouroboros_s_c_stacked",
        // 78 chunks: with 7296 bytes before them, they take the whole region.
        stacked_chunks<small_ouroboros<queue_kind::static_array, item_kind::chunks>>(
            {78 / 2, 78, 78 / 2}))},
    registrar{manager_subject(
        "ouroboros_vl_p_stacked",
        stacked_chunks<small_ouroboros<queue_kind::virtual_list, item_kind::pages>>())},
    registrar{
        manager_subject("ouroboros_s_c_wide",
                        // Four chunks of 512 bytes, of 32 pages each, behind 6144 bytes.
                        wide_chunks<wide_ouroboros<queue_kind::static_array, item_kind::chunks>>(
                            8448, {4 * 32, 4 * 32, 4 * 32}))},
    registrar{manager_subject("ouroboros_s_p_wide", wide_chunks<more_pages_than_slots>(11264))},
    registrar{manager_subject(
        "ouroboros_va_p_wide",
        wide_chunks<wide_ouroboros<queue_kind::virtual_array, item_kind::pages>>(23552))},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
