// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "end_of_memory_cases.hpp"
#include "manager_cases.hpp"
#include "manager_world.hpp"

#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Chunks of 64 bytes with up to four pages, or eight entries of a queue; one stacked size.
template <queue_kind Queue, item_kind Item>
using small_ouroboros = ouroboros<ouroboros_config{
    .queue = Queue, .item = Item, .smallest_page = 16, .queues = 3, .second_queues = 1}>;

/// Chunks of 512 bytes with up to 32 pages, enough for a warp.
template <queue_kind Queue, item_kind Item>
using wide_ouroboros = ouroboros<ouroboros_config{
    .queue = Queue, .item = Item, .smallest_page = 16, .queues = 6, .second_queues = 0}>;

/// Chunks of 64 pages, and queues of 32: pages are parked.
using more_pages_than_slots = ouroboros<ouroboros_config{.queue = queue_kind::static_array,
                                                         .item = item_kind::pages,
                                                         .smallest_page = 16,
                                                         .queues = 7,
                                                         .second_queues = 0}>;

template <class M>
setup<M> small_chunks(std::size_t region_bytes = 9216, std::vector<int> holds = {}) {
  return {.region_bytes = region_bytes,
          .sizes = {16, 24, 64},
          .holds = std::move(holds),
          .reuses = true};
}

/// Blocks of the stacked instance, which are runs of two chunks.
template <class M>
setup<M> stacked_chunks(std::vector<int> holds = {}) {
  return {.region_bytes = 12 * 1024,
          .sizes = {128, 64, 100},
          .holds = std::move(holds),
          .reuses = true};
}

/// A wholly free chunk changes its size while a warp is short of one page: five pages of the first
/// size are free, four of them on one chunk.
inline named_case chunk_changes_size(const any_setup& how) {
  return {"large_among_small", [how] { return large_among_small(how, 5); }};
}
/// A wholly free chunk is reclaimed for two sizes: for one it will do, for the other it is too
/// short and goes back to the supply.
class chunk_is_too_short : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit chunk_is_too_short(const any_setup& how) : heap_world(how) {
    heap.fill_quietly();
    heap.empty_quietly(heap.blocks().count() - 5);
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      heap.take(128);
    } else if (heap.take(64) == nullptr) {
      heap.blocks().note("null, and a chunk was free all the time");
    }
  }
};

inline named_case chunk_for_one_size(const any_setup& how) {
  return case_of<chunk_is_too_short>("chunk_for_one_size", how);
}

inline std::vector<named_case> chunk_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  cases.push_back(chunk_changes_size(how));
  cases.push_back(chunk_for_one_size(how));
  return cases;
}

template <class M>
setup<M> wide_chunks(std::size_t region_bytes, std::vector<int> holds = {}) {
  return {.region_bytes = region_bytes,
          .sizes = {16, 12, 8},
          .holds = std::move(holds),
          .reuses = true};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
