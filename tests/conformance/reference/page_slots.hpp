// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Mistakes that the suite of pages must find.
enum class page_fault {
  none,
  overlapping,      ///< pages begin a granule before the last one ends
  spares_some,      ///< small requests get none of the last pages
  keeps_its_sizes,  ///< a page that is freed serves whole pages only
};

struct page_slots_options {
  std::size_t page_bytes = 256;
};

/// The simplest manager of pages: a bitmap tree of those that are free.
///
/// Layout: [ free pages: bitmap tree ][ pages that were freed: u32 each ][ pages ].
template <page_fault Fault = page_fault::none>
class page_slots {
 public:
  using options = page_slots_options;
  static constexpr capabilities about{.name = "page_slots"};

  page_slots(const region& memory, const simt::device_properties& /*machine*/, const options& how)
      : page_bytes_(how.page_bytes),
        pitch_(Fault == page_fault::overlapping ? how.page_bytes - 8 : how.page_bytes) {
    lay_out_most(memory, about.name, 1u, 1u << 20, [&](region_cursor& to, std::uint32_t count) {
      free_ = {to.take<std::uint64_t>(bitmap_tree::words_for(count), 128), count};
      freed_ = to.take<std::uint32_t>(count);
      pages_ = to.take<std::byte>(count * page_bytes_, 128);
    });
  }

  WARPHEAP_HD std::size_t largest_block() const { return page_bytes_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    free_.format(free_.universe(), rank, count);
    for (std::uint64_t page = rank; page < free_.universe(); page += count) freed_[page] = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    const std::uint32_t page = free_.claim_first();
    // Lanes that call together have their pages at the same time, on the CPU model as well.
    simt::coalesced(freed_).sync();
    if (page == bitmap_tree::none) return nullptr;
    const bool refused = bytes != page_bytes_ &&
                         ((Fault == page_fault::spares_some && page + 8 > free_.universe()) ||
                          (Fault == page_fault::keeps_its_sizes &&
                           simt::atomic_ref(freed_[page]).load(simt::order::relaxed) != 0));
    if (!refused) return pages_ + page * pitch_;
    free_.insert(page);
    return nullptr;
  }

  WARPHEAP_DEVICE void free(void* block) const {
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - pages_);
    const auto page = static_cast<std::uint32_t>(offset / pitch_);
    simt::atomic_ref(freed_[page]).store(1u, simt::order::relaxed);
    free_.insert(page);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count, inspection& found) const {
    free_.check(rank, count, [&](std::uint64_t word) { found.expect(false, 1, word); });
    for (std::uint64_t page = rank; page < free_.universe(); page += count) {
      found.in_use(free_.contains(static_cast<std::uint32_t>(page)) ? 0 : 1, page_bytes_);
    }
  }

 private:
  bitmap_tree free_{nullptr, 1};
  std::uint32_t* freed_ = nullptr;
  std::byte* pages_ = nullptr;
  std::size_t page_bytes_;
  std::size_t pitch_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
