// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Pages as the contract of blocks wants them, for any manager that finds and frees them by number.

#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/random_walk/page_pool.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// The base of `Manager`, which has `pages()`, `take_page()` and `give_page(page)`.
template <class Manager>
class page_blocks {
 public:
  WARPHEAP_HD std::size_t largest_block() const { return self().pages().page_bytes(); }
  WARPHEAP_HD std::uint32_t page_count() const { return self().pages().count(); }

  WARPHEAP_DEVICE void* malloc([[maybe_unused]] std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint32_t page = self().take_page();
    return page == no_page ? nullptr : self().pages().address(page);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    if (self().pages().holds(block)) self().give_page(self().pages().number(block));
  }

  /// 0 for a pointer outside the heap.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    return self().pages().holds(block) ? largest_block() : 0;
  }

 private:
  friend Manager;
  page_blocks() = default;

  WARPHEAP_HD const Manager& self() const { return static_cast<const Manager&>(*this); }
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
