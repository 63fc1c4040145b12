// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/contracts/blocks.hpp"

#include <concepts>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE

/// Blocks are pages of one size, `options.page_bytes`, which is also `largest_block()`. Each
/// request gets a whole page, however small it is, and each page serves requests of every size: a
/// heap holds the same number of blocks whatever their sizes.
template <class M>
concept page_manager = block_manager<M> && requires(typename M::options settings) {
  { (settings.page_bytes) } -> std::same_as<std::size_t&>;
};

/// Blocks of any size up to `largest_block()`.
template <class M>
concept any_size_manager = block_manager<M> && !page_manager<M>;

/// Options that give each block of a heap `overhead` bytes more than callers know of. For layers
/// that keep something of their own in each block.
/// \param overhead a multiple of 16
template <block_manager M>
typename M::options with_block_overhead(typename M::options settings,
                                        [[maybe_unused]] std::size_t overhead) {
  if constexpr (page_manager<M>) settings.page_bytes += overhead;
  return settings;
}

WARPHEAP_END_NAMESPACE
