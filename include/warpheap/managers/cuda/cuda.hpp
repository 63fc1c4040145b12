// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The allocator that comes with CUDA, as the reference that everyone has. Exists in the CUDA
/// model only. Its algorithm is not published; nothing can be inspected, and a reset frees nothing.
///
/// Deviation: requests beyond the heap's size never reach it. CUDA 13.0 answers some of those near
/// SIZE_MAX with a pointer that is not a block.
///
/// A pointer that is not a block of CUDA's heap is not refused, as by the other managers: where
/// that heap lies is not known, and what CUDA does with such a pointer is undefined.
///
/// Null: CUDA promises nothing about it.

#include "warpheap/managers/cuda/about.hpp"

#if WARPHEAP_CUDA_MODEL

#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/cuda/builtin_heap.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

class builtin {
 public:
  using options = no_options;

  static constexpr capabilities about = builtin_about;

  builtin(const region& memory, const simt::device_properties& /*machine*/, const options& /*none*/)
      : limit_(memory.bytes) {
    simt::builtin_heap::set_size(memory.bytes);
  }

  /// Blocks share the heap with their metadata, so the very largest ones fail.
  WARPHEAP_HD std::size_t largest_block() const { return limit_; }

  WARPHEAP_DEVICE void format(std::uint64_t /*rank*/, std::uint64_t /*count*/) const {}

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    return simt::builtin_heap::malloc(bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    simt::builtin_heap::free(block);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t /*rank*/, std::uint64_t /*count*/,
                               inspection& /*findings*/) const {}

 private:
  std::size_t limit_;
};

WARPHEAP_END_NAMESPACE

#endif
