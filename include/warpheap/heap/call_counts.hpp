// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <concepts>
#include <cstdint>

namespace warpheap {

/// The calls to a heap since it was created or reset, counted in device memory. Bytes are those
/// that callers asked for.
struct alignas(128) call_counts {
  std::uint64_t mallocs = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_blocks = 0;
  std::uint64_t peak_bytes = 0;

  /// Blocks that were given back.
  std::uint64_t frees() const { return mallocs - live_blocks; }
};

}  // namespace warpheap

WARPHEAP_BEGIN_NAMESPACE

/// A layer that counts calls: where its counts lie.
template <class M>
concept counts_calls = requires(const M m) {
  { m.counts() } -> std::same_as<const call_counts*>;
};

WARPHEAP_END_NAMESPACE
