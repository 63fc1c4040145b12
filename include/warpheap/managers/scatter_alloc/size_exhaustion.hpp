// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

/// Knows for which chunk sizes the heap is exhausted. Like `exhaustion`, but for sizes where a
/// larger one may be available when a smaller one is not.
///
/// A round of searches that is about to look at every page announces that, and confirms afterwards
/// the sizes for which it found nothing. A lane that makes room withdraws everything, so a
/// confirmation stands only if no room was made between the announcement and the end of the search.
///
/// Layout: [ epoch 63 bits | searching 1 bit ][ for each size: the first word when it was confirmed
/// ]. A withdrawal begins a new epoch, so what was confirmed before it does not match any more.
///
/// Orders: "make room, then look for announcements" and "announce, then look for room" is a
/// store-load race. Both sides touch the word that says whether there is room by a
/// read-modify-write with acquire and release. If the searcher's comes later, it sees the room. If
/// the other one's comes later, it acquires what the searcher released, so its look for
/// announcements, though relaxed, cannot miss the searcher's. The words here are accessed relaxed.
///
/// Progress: wait-free, but for a compare-exchange that repeats only when another lane has changed
/// the word.
class size_exhaustion {
 public:
  static constexpr std::size_t words_for(std::uint32_t sizes) { return std::size_t{1} + sizes; }

  size_exhaustion() = default;
  /// \param words `words_for(sizes)` of them
  size_exhaustion(std::uint64_t* words, std::uint32_t sizes) : words_(words), sizes_(sizes) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i <= sizes_; i += count) words_[i] = 0;
  }

  WARPHEAP_HD std::uint32_t sizes() const { return sizes_; }

  /// True if nothing of this size is known to be there. \pre `0 < size && size <= sizes`
  WARPHEAP_DEVICE bool is_out(std::uint32_t size) const {
    const std::uint64_t now = simt::atomic_ref(words_[0]).load(simt::order::relaxed);
    return (now & searching) != 0 && confirmed(size).load(simt::order::relaxed) == now;
  }

  /// Announces that the caller starts to search everything, each place by a read-modify-write with
  /// acquire and release. Returns what it must keep until `confirm`.
  WARPHEAP_DEVICE std::uint64_t announce() const {
    return simt::atomic_ref(words_[0]).fetch_or(searching, simt::order::relaxed) | searching;
  }

  /// Whether no room was made since the announcement of `mine`. Only then `confirm` may be called.
  WARPHEAP_DEVICE bool stands(std::uint64_t mine) const {
    // Not a load: the latest epoch counts.
    return simt::atomic_ref(words_[0]).fetch_or(0, simt::order::relaxed) == mine;
  }
  /// Records that the search announced as `mine` found nothing of `size`. If an epoch has begun
  /// since `stands` was called, this comes too late, and matches no epoch.
  WARPHEAP_DEVICE void confirm(std::uint64_t mine, std::uint32_t size) const {
    confirmed(size).store(mine, simt::order::relaxed);
  }

  /// Must be called after room was made, by the lane that made it by a read-modify-write with
  /// acquire and release.
  WARPHEAP_DEVICE void withdraw() const {
    simt::atomic_ref word(words_[0]);
    std::uint64_t seen = word.load(simt::order::relaxed);
    // One more than an odd word: the next epoch, with no lane searching.
    while ((seen & searching) != 0 &&
           !word.compare_exchange(seen, seen + 1, simt::order::relaxed)) {
    }
  }

 private:
  static constexpr std::uint64_t searching = 1;

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> confirmed(std::uint32_t size) const {
    return simt::atomic_ref(words_[size]);
  }

  std::uint64_t* words_ = nullptr;
  std::uint32_t sizes_ = 0;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
