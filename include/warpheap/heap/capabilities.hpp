// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE

/// Who may ask a manager for memory, and for what.
enum class allocation_scope {
  thread,  ///< any lane, any size up to the largest block
  warp,    ///< a warp's lanes together; freed together
  object,  ///< objects of types that are known when the manager is compiled
  page,    ///< blocks of one size that is fixed when the heap is made
};

/// What becomes of freed memory.
enum class memory_reuse {
  none,     ///< nothing is handed out again before a reset
  partial,  ///< handed out again under conditions that the manager's header names
  all,      ///< every freed block can be handed out again
};

/// What a manager claims. The survey skips, with the reason, what is not claimed; the conformance
/// suite checks what is.
struct capabilities {
  /// Name in the registry, the tool and the results.
  const char* name;
  /// The publication that describes it; empty strings for baselines.
  const char* authors = "";
  const char* title = "";
  const char* venue = "";
  int year = 0;
  const char* doi = "";
  const char* family = "";
  /// Largest request in bytes that is ever served; 0: limited by the heap alone.
  std::size_t largest_block = 0;
  /// Every block's address is a multiple of this; 16 at least.
  std::size_t alignment = 16;
  /// Single blocks can be freed. A manager that cannot still accepts every `free` and ignores it.
  bool frees = true;
  allocation_scope scope = allocation_scope::thread;
  memory_reuse reuse = memory_reuse::all;
  /// The heap can grow beyond the region that it was made with.
  bool growth = false;
  /// Blocks come out of the heap's region. Otherwise the region is a token, and only its size says
  /// something.
  bool uses_region = true;
  /// `heap::reset` makes everything free again.
  bool resets = true;
};

WARPHEAP_END_NAMESPACE
