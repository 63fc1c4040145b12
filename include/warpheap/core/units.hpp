// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>

namespace warpheap {
inline namespace literals {

/// Binary multiples of a byte: `16_MiB`. Not consteval: clang 14 would call them in templates.
WARPHEAP_HD constexpr std::size_t operator""_KiB(unsigned long long count) { return count << 10; }
WARPHEAP_HD constexpr std::size_t operator""_MiB(unsigned long long count) { return count << 20; }
WARPHEAP_HD constexpr std::size_t operator""_GiB(unsigned long long count) { return count << 30; }

}  // namespace literals
}  // namespace warpheap
