// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Sanitizers slow lanes down by a factor of ten and more: tests do less then.
inline constexpr bool sanitized = WARPHEAP_TEST_SANITIZED;

/// ThreadSanitizer slows them down by a hundred and more, for each acquire takes as long as there
/// are lanes. Whether two accesses are ordered does not depend on how many there are of them.
#if WARPHEAP_CUDA_MODEL
inline constexpr bool race_checked = false;
#else
inline constexpr bool race_checked = WARPHEAP_THREAD_SANITIZER;
#endif

/// Whether AddressSanitizer looks at each access.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_checked = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool address_checked = true;
#else
inline constexpr bool address_checked = false;
#endif
#else
inline constexpr bool address_checked = false;
#endif

/// Threads of a block in tests of any size. A lane costs ThreadSanitizer 850 KiB.
inline constexpr std::uint32_t block_threads = WARPHEAP_CUDA_MODEL || !sanitized ? 256 : 64;

/// The machine that this program's tests run on.
inline const device& machine() {
#if WARPHEAP_CUDA_MODEL
  static const device it = device::cuda(0);
#else
  static const device it = device::cpu(simt::cpu_options{.workers = 2});
#endif
  return it;
}

/// At least `threads` threads, in blocks of one size.
inline simt::grid covering(std::uint64_t threads) {
  return simt::grid::covering(threads, block_threads);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
