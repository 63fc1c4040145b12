// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

namespace warpheap {

/// A number with a noun whose plural takes an s: '1 block', '2 blocks'.
inline std::string count_of(std::uint64_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace warpheap
