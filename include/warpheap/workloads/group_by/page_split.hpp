// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a block distributes the rows of a segment over pages of chains. It looks at the rows twice,
/// so that it knows how many pages it needs before it takes them, and its lanes take all of them at
/// once. No two blocks share a page, and lanes wait for each other only at the block's barriers.
///
/// In block-shared memory:
///
///     [ rows per child ][ first page per child | all pages ][ first taken ][ pages by child ... ]
///
/// I1: of the pages that a segment takes for a child, all but the last are full.
/// I2: a chain's `page_counts` and `row_counts` are those of its pages, and the places of its pages
///     are the numbers below its count.

#include "warpheap/containers/block_heap.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/group_by/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace group_by {

WARPHEAP_HD constexpr std::uint32_t rows_in_page(std::uint32_t page_bytes) {
  return page_bytes / static_cast<std::uint32_t>(sizeof(group_by_data::keyed_row));
}

/// Splits one segment. All lanes of its block construct and run it.
/// \tparam Children of a chain
template <std::uint32_t Children>
class page_split {
 public:
  /// \param shift the lowest bit of a key that selects the child
  WARPHEAP_DEVICE page_split(const group_by_data::row_chains& into, std::uint64_t parent,
                             std::uint32_t shift)
      : into_(into),
        first_chain_(parent * Children),
        shift_(shift),
        capacity_(rows_in_page(into.page_bytes)),
        counts_(reinterpret_cast<std::uint32_t*>(simt::block_shared())),
        firsts_(counts_ + Children),
        first_taken_(reinterpret_cast<std::uint64_t*>(counts_) + Children + 1),
        pages_(first_taken_ + 1) {}

  /// Bytes of block-shared memory for a segment that would fill `full_pages` pages.
  WARPHEAP_HD static constexpr std::uint32_t shared_bytes(std::uint32_t full_pages) {
    return sizeof(std::uint64_t) * (Children + 2 + full_pages + Children);
  }

  /// \param for_each_row calls its argument for each of the lane's rows, twice for the same rows
  /// \param lose is called for each row for which there is no memory
  template <containers::block_heap Heap, class ForEachRow, class Lose>
  WARPHEAP_DEVICE void run(const Heap& heap, const ForEachRow& for_each_row,
                           const Lose& lose) const {
    for (std::uint32_t i = me(); i < Children; i += simt::block_size()) counts_[i] = 0;
    simt::block_sync();
    // Relaxed, here and below: the barriers order the rest.
    for_each_row([&](const group_by_data::keyed_row& row) {
      simt::block_atomic_ref<std::uint32_t>(counts_[child_of(row)])
          .fetch_add(1u, simt::order::relaxed);
    });
    simt::block_sync();
    lay_pages_out();
    take_pages(heap);
    for_each_row([&](const group_by_data::keyed_row& row) {
      const std::uint32_t child = child_of(row);
      // The counts have been used; decremented one by one, they now hand out places from the last.
      const std::uint32_t place = simt::block_atomic_ref<std::uint32_t>(counts_[child])
                                      .fetch_add(~0u, simt::order::relaxed) -
                                  1;
      const std::uint64_t page = pages_[firsts_[child] + place / capacity_];
      if (page == 0) {
        lose(row);
      } else {
        reinterpret_cast<group_by_data::keyed_row*>(page)[place % capacity_] = row;
      }
    });
  }

 private:
  WARPHEAP_DEVICE static std::uint32_t me() { return simt::thread_in_block(); }
  WARPHEAP_DEVICE std::uint32_t child_of(const group_by_data::keyed_row& row) const {
    return row.key >> shift_ & (Children - 1);
  }

  /// The place of a page in `pages_` determines the child that gets it.
  WARPHEAP_DEVICE void lay_pages_out() const {
    if (me() < simt::warp_size) {
      const simt::group together = simt::warp();
      std::uint32_t before = 0;
      for (std::uint32_t first = 0; first < Children;
           first += static_cast<std::uint32_t>(together.size())) {
        const std::uint32_t child = first + me();
        const std::uint32_t needed =
            child < Children ? ceil_div(counts_[child], capacity_) : std::uint32_t{0};
        const auto sum = sync::sum_over(together, needed);
        if (child < Children) firsts_[child] = before + sum.before;
        before += sum.total;
      }
      if (together.is_leader()) {
        firsts_[Children] = before;
        // Relaxed: the next launch reads it.
        *first_taken_ = simt::atomic_ref(*into_.taken_count)
                            .fetch_add(std::uint64_t{before}, simt::order::relaxed);
      }
    }
    simt::block_sync();
    for (std::uint32_t child = me(); child < Children; child += simt::block_size()) {
      for (std::uint32_t i = firsts_[child]; i < firsts_[child + 1]; ++i) pages_[i] = child;
    }
    simt::block_sync();
  }

  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void take_pages(const Heap& heap) const {
    for (std::uint32_t i = me(); i < firsts_[Children]; i += simt::block_size()) {
      const auto child = static_cast<std::uint32_t>(pages_[i]);
      const std::uint64_t chain = first_chain_ + child;
      const std::uint32_t before = (i - firsts_[child]) * capacity_;
      const std::uint32_t left = counts_[child] - before;
      const std::uint32_t rows = left < capacity_ ? left : capacity_;
      pages_[i] = reinterpret_cast<std::uint64_t>(heap.malloc(into_.page_bytes));
      group_by_data::taken_page& taken = into_.taken[*first_taken_ + i];
      taken = {{pages_[i], static_cast<std::uint32_t>(chain), rows}, 0};
      if (pages_[i] == 0) continue;
      // Relaxed: the next launch reads them.
      taken.place = simt::atomic_ref(into_.page_counts[chain])
                        .fetch_add(std::uint64_t{1}, simt::order::relaxed);
      simt::atomic_ref(into_.row_counts[chain]).fetch_add(rows, simt::order::relaxed);
    }
    simt::block_sync();
  }

  const group_by_data::row_chains& into_;
  std::uint64_t first_chain_;
  std::uint32_t shift_;
  std::uint32_t capacity_;
  std::uint32_t* counts_;
  std::uint32_t* firsts_;
  std::uint64_t* first_taken_;
  std::uint64_t* pages_;
};

}  // namespace group_by
WARPHEAP_END_NAMESPACE
