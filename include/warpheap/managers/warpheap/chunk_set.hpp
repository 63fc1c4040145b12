// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A set of chunks of the manager `warpheap`. Functions that change it are out of line: changes are
/// rare, their code is long, and many places make one.
class warpheap_chunk_set : public bitmap_tree {
 public:
  using bitmap_tree::bitmap_tree;
  WARPHEAP_HD constexpr explicit warpheap_chunk_set(const bitmap_tree& tree) : bitmap_tree(tree) {}

  WARPHEAP_DEVICE bool insert(std::uint32_t chunk) const {
    return simt::call_apart(&insert_apart, *this, chunk);
  }
  WARPHEAP_DEVICE bool remove(std::uint32_t chunk) const {
    return simt::call_apart(&remove_apart, *this, chunk);
  }
  WARPHEAP_DEVICE word_elements claim_some(int want, std::uint32_t word) const {
    return simt::call_apart(&claim_apart, *this, want, word);
  }

 private:
  WARPHEAP_RARE static bool insert_apart(bitmap_tree set, std::uint32_t chunk) {
    return set.insert(chunk);
  }
  WARPHEAP_RARE static bool remove_apart(bitmap_tree set, std::uint32_t chunk) {
    return set.remove(chunk);
  }
  WARPHEAP_RARE static word_elements claim_apart(bitmap_tree set, int want, std::uint32_t word) {
    return set.claim_some(want, word);
  }
};

WARPHEAP_END_NAMESPACE
