// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The words of each chunk of the manager `warpheap` that may have free slots: one bit per word. A
/// listed word may be full, or its chunk may have left the class in the meantime, which the word
/// itself shows.
///
/// Changes are read-modify-writes with acquire and release: see chunks.hpp for what they order.
class warpheap_listed_words {
 public:
  /// 64-bit words for a chunk of `words` words.
  WARPHEAP_HD static constexpr std::size_t words_for(std::size_t words) {
    return ceil_div<std::size_t>(words, 64);
  }

  warpheap_listed_words() = default;
  /// \param storage `words_for(words)` a chunk
  /// \param words of a chunk, at most
  warpheap_listed_words(std::uint64_t* storage, std::uint32_t words)
      : storage_(storage), stride_(static_cast<std::uint32_t>(words_for(words))) {}

  WARPHEAP_DEVICE void format(std::uint64_t chunks, std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < chunks * stride_; i += count) storage_[i] = 0;
  }

  /// Lists words 0..words-1 of a chunk that the caller has in hand; each of `members` callers does
  /// a share. Release: a lane that changes these bits later sees the chunk's owner. \pre the caller
  /// has passed a fence with release since it knows of the owner
  WARPHEAP_DEVICE void list_all(std::uint32_t chunk, std::uint32_t words, std::uint32_t rank,
                                std::uint32_t members) const {
    for (std::uint32_t i = rank; i < stride_; i += members) {
      const std::uint32_t left = words > i * 64 ? words - i * 64 : 0;
      const int bits = left < 64 ? static_cast<int>(left) : 64;
      at(chunk, i).store(low_bits<std::uint64_t>(bits), simt::release_by_fence);
    }
  }
  /// Returns whether none of the same 64 words was listed before. Acquire pairs with `list_all`:
  /// who lists the first one then reads the chunk's owner, and others rely on that.
  WARPHEAP_DEVICE bool list(std::uint32_t chunk, std::uint32_t word) const {
    return at(chunk, word / 64).fetch_or(bit_of(word), simt::order::acq_rel) == 0;
  }
  WARPHEAP_DEVICE void unlist(std::uint32_t chunk, std::uint32_t word) const {
    at(chunk, word / 64).fetch_and(~bit_of(word), simt::order::acq_rel);
  }
  WARPHEAP_DEVICE bool contains(std::uint32_t chunk, std::uint32_t word) const {
    return (at(chunk, word / 64).load(simt::order::relaxed) & bit_of(word)) != 0;
  }
  WARPHEAP_DEVICE bool any(std::uint32_t chunk) const {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < stride_; ++i) bits |= at(chunk, i).load(simt::order::relaxed);
    return bits != 0;
  }
  static constexpr std::uint32_t none = 0xffffffffu;
  /// A listed word that `noise` draws, or none.
  WARPHEAP_DEVICE std::uint32_t draw(std::uint32_t chunk, std::uint64_t noise) const {
    std::uint32_t i = scale_to(static_cast<std::uint32_t>(noise), stride_);
    for (std::uint32_t left = stride_; left != 0; --left) {
      const std::uint64_t bits = at(chunk, i).load(simt::order::relaxed);
      if (bits != 0) {
        const auto k = scale_to(static_cast<std::uint32_t>(noise >> 32),
                                static_cast<std::uint32_t>(popcount(bits)));
        return i * 64 + static_cast<std::uint32_t>(kth_set_bit(bits, static_cast<int>(k)));
      }
      i = i + 1 < stride_ ? i + 1 : 0;
    }
    return none;
  }

 private:
  WARPHEAP_HD static constexpr std::uint64_t bit_of(std::uint32_t word) {
    return std::uint64_t{1} << (word % 64);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> at(std::uint32_t chunk, std::uint32_t i) const {
    return simt::atomic_ref(storage_[std::size_t{chunk} * stride_ + i]);
  }

  std::uint64_t* storage_ = nullptr;
  std::uint32_t stride_ = 1;
};

WARPHEAP_END_NAMESPACE
