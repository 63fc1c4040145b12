// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

/// Freed blocks that are kept from their manager for a while: a ring, each of whose slots holds a
/// block until the next one takes its place.
class quarantine {
 public:
  quarantine() = default;
  quarantine(std::uint64_t* turns, std::uint64_t* slots, std::uint64_t size)
      : turns_(turns), slots_(slots), size_(size) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0 && size_ != 0) *turns_ = 0;
    for (std::uint64_t i = rank; i < size_; i += count) slots_[i] = 0;
  }

  WARPHEAP_HD std::uint64_t size() const { return size_; }

  /// Keeps a block. Returns the one that it replaces, which the caller now owns, or null. \pre
  /// `size() != 0`
  WARPHEAP_DEVICE std::byte* replace(std::byte* block) const {
    const std::uint64_t turn = simt::atomic_ref(*turns_).fetch_add(1, simt::order::relaxed);
    return exchange(turn % size_, block);
  }
  /// Empties a slot.
  WARPHEAP_DEVICE std::byte* take(std::uint64_t slot) const {
    // A look first: lanes that run out of memory come here again and again.
    if (simt::atomic_ref(slots_[slot]).load(simt::order::relaxed) == 0) return nullptr;
    return exchange(slot, nullptr);
  }
  /// What a slot holds. \pre no lane frees meanwhile
  WARPHEAP_DEVICE std::byte* look(std::uint64_t slot) const {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(slots_[slot]));
  }

 private:
  WARPHEAP_DEVICE std::byte* exchange(std::uint64_t slot, std::byte* block) const {
    // Acquire and release: the poison that one lane has written is checked by another.
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(
        simt::atomic_ref(slots_[slot])
            .exchange(std::uint64_t{reinterpret_cast<std::uintptr_t>(block)},
                      simt::order::acq_rel)));
  }

  std::uint64_t* turns_ = nullptr;
  std::uint64_t* slots_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace checking
WARPHEAP_END_NAMESPACE
