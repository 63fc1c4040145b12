// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

namespace warpheap::bench {

/// Two columns of a table: row i is (keys[i], values[i]).
struct table {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> values;

  std::uint64_t rows() const { return keys.size(); }
};

}  // namespace warpheap::bench
