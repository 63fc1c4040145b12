// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <array>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE

/// Bytes to which every manager aligns its blocks, at least.
inline constexpr std::size_t least_alignment = 16;

/// What happens to freed memory.
enum class memory_reuse {
  none,       ///< nothing is handed out again before a reset
  partial,    ///< handed out again under conditions that the manager's header names
  all,        ///< every freed block can be handed out again
  unchecked,  ///< handed out again whether it was freed or not: malloc never returns null, and
              ///< blocks overlap once lanes have asked for more than the heap has. For baselines
};

/// The publication that describes a manager.
struct publication {
  const char* authors = "";
  const char* title = "";
  const char* venue = "";
  int year = 0;
  const char* doi = "";
};

/// What a manager claims beyond the contract that it models (contracts/). The survey skips what a
/// manager does not claim, and says so; the conformance suites check what it claims.
struct capabilities {
  /// Name in the registry, the tool and the results.
  const char* name;
  /// What it is, in a few words; the README's table and the pages in docs/ show it.
  const char* description = "";
  /// Its folder in managers/, whose page in docs/ describes it, if that has another name than the
  /// manager.
  const char* folder = nullptr;
  /// Empty strings for baselines.
  publication published{};
  /// The deviations from the publication, each in a short sentence. The header says why.
  std::array<const char*, 8> deviations{};
  /// Largest request in bytes that a heap of any size serves; 0: limited only by the heap's size.
  /// The limit of a given heap is `heap::largest_block()`.
  std::size_t largest_block = 0;
  /// Every block's address is a multiple of this, which is at least `least_alignment`.
  std::size_t alignment = least_alignment;
  /// Single blocks can be freed. A manager that cannot still accepts every `free` and ignores it.
  bool frees = true;
  memory_reuse reuse = memory_reuse::all;
  /// Memory can be added while lanes use the heap (contracts/growth.hpp).
  bool growth = false;
  /// Blocks come from the heap's region. Otherwise the region is a token, and only its size counts.
  bool uses_region = true;
  /// No block lies outside the heap's region, not even a large one.
  bool blocks_in_region = true;
  /// `heap::reset` frees everything.
  bool resets = true;

  constexpr const char* folder_name() const { return folder == nullptr ? name : folder; }

  /// Two blocks in use never share a byte, and a heap without room for a block says so.
  constexpr bool keeps_blocks_apart() const { return reuse != memory_reuse::unchecked; }
};

WARPHEAP_END_NAMESPACE
