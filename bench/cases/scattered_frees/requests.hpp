// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::bench {

/// The request of the kernel that takes `picks` of the `count` addresses of a table out of it, at
/// random places and in random order. \pre `picks <= count`
struct block_picking {
  std::uint64_t* addresses = nullptr;
  std::uint64_t count = 0;
  std::uint64_t picks = 0;
  std::uint64_t seed = 0;
  std::uint64_t* picked = nullptr;
};

}  // namespace warpheap::bench
