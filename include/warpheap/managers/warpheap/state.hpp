// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What concerns the heap as a whole.
template <warpheap_config Config>
struct warpheap_state {
  /// For a chunk whose slots are all free.
  shared_search<Config.chunks_a_slice> emptied;
  /// Runs that are being claimed: {ended: 32 | in progress: 32}.
  alignas(128) std::uint64_t claims;
  /// Chunks in the pool, for those who only guess.
  alignas(128) std::uint32_t left;
  /// The leaf word of the pool where the last run was found.
  std::uint32_t run_word;
};

WARPHEAP_END_NAMESPACE
