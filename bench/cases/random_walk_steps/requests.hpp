// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::bench {

/// No page, where the number of a page is expected.
inline constexpr std::uint32_t no_page = 0xffffffffu;

/// `threads` lanes take a page each. Stores its number or `no_page`, and the number of steps.
struct page_taking {
  std::uint64_t threads = 0;
  std::uint32_t* pages = nullptr;
  std::uint32_t* steps = nullptr;
};

/// The lanes return their pages.
struct page_giving {
  std::uint64_t threads = 0;
  const std::uint32_t* pages = nullptr;
};

}  // namespace warpheap::bench
