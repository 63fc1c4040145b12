// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/ouroboros/setups.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <queue_kind Queue, item_kind Item>
registrar small(const char* name, int chunks) {
  const std::size_t bytes =
      Queue == queue_kind::static_array ? 7168 : 8704 + (Item == item_kind::chunks ? 1024 : 0);
  const any_setup how = small_chunks<small_ouroboros<Queue, Item>>(bytes, chunks);
  if constexpr (Item == item_kind::chunks) {
    return registrar{{name, subject_kind::manager, chunk_cases(how), "", ""}};
  } else {
    return registrar{manager_subject(name, how)};
  }
}

const registrar added[]{
    // Behind the words, tables, trees of parked chunks and arrays the rest of the region holds this
    // many chunks.
    small<queue_kind::static_array, item_kind::pages>("ouroboros_s_p", 26),
    // Words of four classes and the supply, tables and arrays for 32 chunks take 4864 bytes. For
    // one chunk more the queues would be twice as long.
    small<queue_kind::static_array, item_kind::chunks>("ouroboros_s_c", 32),
    // Queues may take chunks, too: three for each of four classes, and as many as they fill, which
    // is one for each class with pages. 40 chunks fit, or 35 beside the links of lists.
    small<queue_kind::virtual_array, item_kind::pages>("ouroboros_va_p", 24),
    registrar{
        {"ouroboros_va_p_pair", subject_kind::manager,
         pair_cases(
             small_chunks<small_ouroboros<queue_kind::virtual_array, item_kind::pages>>(8704, 24)),
         "", ""}},
    small<queue_kind::virtual_list, item_kind::pages>("ouroboros_vl_p", 19),
    // Queues of chunks fill 18 of 47 chunks: the entries of all chunks may be in any of three.
    small<queue_kind::virtual_array, item_kind::chunks>("ouroboros_va_c", 17),
    small<queue_kind::virtual_list, item_kind::chunks>("ouroboros_vl_c", 17),
    // 78 chunks: with 7296 bytes before them, they take the whole region.
    registrar{
        {"ouroboros_s_c_stacked", subject_kind::manager,
         stacked_cases(
             stacked_chunks<small_ouroboros<queue_kind::static_array, item_kind::chunks>>(78)),
         "", ""}},
    registrar{manager_subject(
        "ouroboros_vl_p_stacked",
        // 76 chunks, of which queues may take 16.
        stacked_chunks<small_ouroboros<queue_kind::virtual_list, item_kind::pages>>(76 - 16))},
    registrar{manager_subject(
        "ouroboros_s_c_wide",
        // Four chunks of 512 bytes, of 32 pages each, behind 6144 bytes.
        wide_chunks<wide_ouroboros<queue_kind::static_array, item_kind::chunks>>(8448, 4 * 32))},
    // Two chunks of 1024 bytes, behind 9216.
    registrar{
        manager_subject("ouroboros_s_p_wide", wide_chunks<more_pages_than_slots>(11264, 2 * 64))},
    registrar{{"ouroboros_s_p_parked", subject_kind::manager,
               parked_page_cases(wide_chunks<more_pages_than_slots>(11264, 2 * 64)), "", ""}},
    registrar{
        manager_subject("ouroboros_va_p_wide",
                        // 31 chunks, of which queues may take four for each of six classes.
                        wide_chunks<wide_ouroboros<queue_kind::virtual_array, item_kind::pages>>(
                            23552, (31 - 4 * 6) * 32))},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
