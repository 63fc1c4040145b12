// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>

namespace warpheap {
inline namespace literals {

/// Binary multiples of a byte: `16_MiB`.
consteval std::size_t operator""_KiB(unsigned long long count) { return count << 10; }
consteval std::size_t operator""_MiB(unsigned long long count) { return count << 20; }
consteval std::size_t operator""_GiB(unsigned long long count) { return count << 30; }

}  // namespace literals
}  // namespace warpheap
