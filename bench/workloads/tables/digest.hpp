// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::bench {

/// Adds up a hash of each row of a result, so that the same rows in any order give the same sum.
template <class Row>
struct result_digest {
  const Row* rows = nullptr;
  std::uint64_t count = 0;
  std::uint64_t* sum = nullptr;
};

}  // namespace warpheap::bench
