// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::bench {

/// No page, where the number of a page is expected.
inline constexpr std::uint32_t no_page = 0xffffffffu;

/// `threads` lanes take a page each: its number or `no_page`, and how many steps that took.
struct page_taking {
  std::uint64_t threads = 0;
  std::uint32_t* pages = nullptr;
  std::uint32_t* steps = nullptr;
};

/// They give them back.
struct page_giving {
  std::uint64_t threads = 0;
  const std::uint32_t* pages = nullptr;
};

}  // namespace warpheap::bench
