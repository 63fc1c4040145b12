// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Words of the heap as a whole, each in a cache line of its own.
struct warpheap_state {
  /// Runs that are being claimed, and chunks on their way to the pool.
  alignas(128) std::uint64_t changes;
  /// {chunks that came back to the pool or became empty: 32 | length of a run: 32}: no run of that
  /// length or a longer one was there when so many had come back.
  alignas(128) std::uint64_t no_run;
  alignas(128) std::uint32_t came_back;
  /// Chunks in the pool, for those who only guess.
  alignas(128) std::uint32_t left;
  /// The leaf word of the pool where the last run was found.
  alignas(128) std::uint32_t run_word;
};

WARPHEAP_END_NAMESPACE
