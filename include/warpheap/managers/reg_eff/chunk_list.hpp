// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/reg_eff/config.hpp"
#include "warpheap/managers/reg_eff/presplit.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// The circular list of chunks, and their owners.
///
/// A chunk is identified by its first granule, and ends where the next one starts. Its header, a
/// flag (1: not free) and the next chunk, lies right before its first granule, at the end of the
/// previous chunk, so every block starts at a granule. Only the chunk's owner reads and writes the
/// header: the lane that has claimed it, or holds its block. All other lanes look at two maps:
///
/// - free: chunks without an owner. A lane that takes one out becomes its owner;
/// - starts: all chunks, and the terminator.
///
/// Only the owner of a chunk changes what lies between it and the next chunk, so its header is
/// exact, and the next chunk exists as long as the owner wants.
///
/// Orders: `claim` acquires what `publish` released: header and contents, from the last owner to
/// the next, also of chunks that were merged. Changes of `starts` are released by the change
/// itself, because searches look at it without owning anything.
template <reg_eff_config Config>
class chunk_list {
 public:
  static constexpr std::uint32_t none = bitmap_tree::none;
  /// The most granules of a heap, so that the terminator has a number, too.
  static constexpr std::uint32_t most_granules = (1u << 31) - 1;

  chunk_list() = default;
  chunk_list(region_cursor& cursor, std::uint32_t granules) : end_(granules) {
    free_ = cursor.take<std::uint64_t>(bitmap_tree::words_for(granules + 1), 128);
    starts_ = cursor.take<std::uint64_t>(words(), 128);
    // One more granule, for the first chunk's header.
    base_ = cursor.take<std::byte>((std::size_t{granules} + 1) * granule, granule) + granule;
  }

  /// The granule of the terminator, which is never free.
  WARPHEAP_HD std::uint32_t end() const { return end_; }

  WARPHEAP_DEVICE void format(const presplit& chunks, std::uint64_t rank,
                              std::uint64_t count) const {
    const auto starts = [&](std::uint64_t first, std::uint64_t span) {
      std::uint64_t bits = 0;
      for (std::uint64_t at = first;;) {
        const std::uint32_t start = chunks.next_start(at);
        const std::uint64_t bit = (start - first) / span;
        if (start == end_ || bit >= 64) return bits;
        bits |= std::uint64_t{1} << bit;
        at = first + (bit + 1) * span;
      }
    };
    free_set().format_words(starts, rank, count);
    for (std::uint64_t word = rank; word < words(); word += count) {
      starts_[word] = starts(word * 64, 1);
      for (std::uint64_t rest = starts_[word]; rest != 0; rest &= rest - 1) {
        const std::uint64_t chunk = word * 64 + static_cast<std::uint64_t>(lowest_bit(rest));
        write(static_cast<std::uint32_t>(chunk), false, chunks.next_start(chunk + 1));
      }
    }
    // The lane that has just formatted the last word.
    if ((words() - 1) % count == rank) {
      starts_[end_ / 64] |= bit_of(end_);
      write(end_, true, 0);
    }
  }

  WARPHEAP_DEVICE std::byte* block(std::uint32_t chunk) const {
    return base_ + std::size_t{chunk} * granule;
  }
  WARPHEAP_DEVICE std::uint32_t chunk_of(const void* block) const {
    return static_cast<std::uint32_t>(
        static_cast<std::size_t>(static_cast<const std::byte*>(block) - base_) / granule);
  }

  /// Whether a pointer lies in the heap.
  WARPHEAP_DEVICE bool holds(const void* pointer) const {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(base_);
    return offset / granule < end_;
  }

  /// The first free chunk from `from` on, as far as the set's hints are right.
  WARPHEAP_DEVICE std::uint32_t next_free(std::uint32_t from) const {
    return free_set().template successor<false>(from);
  }

  /// The first chunk that is not free among those that start within the `need` granules from
  /// `chunk` on; none if a block could lie there, once it is claimed and merged. O(need / 64).
  WARPHEAP_DEVICE std::uint32_t obstacle(std::uint32_t chunk, std::uint32_t need) const {
    const std::uint64_t last = std::uint64_t{chunk} + need;
    std::uint32_t word = (chunk + 1) / 64;
    std::uint64_t mask = ~low_bits<std::uint64_t>(static_cast<int>((chunk + 1) % 64));
    // Ends at the terminator.
    for (;; ++word, mask = ~std::uint64_t{0}) {
      const std::uint64_t starts = simt::atomic_ref(starts_[word]).load(simt::order::acquire);
      const std::uint64_t held = starts & ~free_set().load_word(word) & mask;
      if (held != 0) {
        const std::uint32_t first = word * 64 + static_cast<std::uint32_t>(lowest_bit(held));
        return first < last ? first : none;
      }
      if ((std::uint64_t{word} + 1) * 64 >= last) return none;
    }
  }

  /// Takes a free chunk. False if it is not free, like the terminator and chunks that others own.
  WARPHEAP_DEVICE bool claim(std::uint32_t chunk) const {
    // Looks first: most neighbours of a freed block are in use.
    return free_set().contains(chunk) && free_set().remove(chunk);
  }

  /// Merges the chunk after one that the caller owns, and that ends at `next`, if it is free. Then
  /// `next` is the new end, which is not in the owner's header yet.
  WARPHEAP_DEVICE bool merge(std::uint32_t& next) const {
    if (!claim(next)) return false;
    next = simt::as_needed(next);  // what follows from it keeps no registers during the claim
    simt::atomic_ref(starts_[next / 64]).fetch_and(~bit_of(next), simt::order::release);
    next = next_of(next);
    return true;
  }

  /// Makes what the caller owns from `chunk` on a separate chunk, so that the previous chunk ends
  /// there.
  WARPHEAP_DEVICE void split(std::uint32_t chunk) const {
    simt::atomic_ref(starts_[chunk / 64]).fetch_or(bit_of(chunk), simt::order::release);
  }

  /// Frees an owned chunk, up to `next`.
  WARPHEAP_DEVICE void publish(std::uint32_t chunk, std::uint32_t next) const {
    write(chunk, false, next);
    free_set().insert(chunk);
  }
  /// Keeps an owned chunk, up to `next`, for the block in it.
  WARPHEAP_DEVICE void keep(std::uint32_t chunk, std::uint32_t next) const {
    write(chunk, true, next);
  }

  /// Where an owned chunk ends.
  WARPHEAP_DEVICE std::uint32_t next_of(std::uint32_t chunk) const {
    const std::uint32_t* const words = header(chunk);
    return Config.header_words == 2 ? words[1] : words[0] & ~fused_flag;
  }

 private:
  template <reg_eff_config>
  friend class list_inspector;

  static constexpr std::size_t granule = Config.granule_bytes;
  static constexpr std::uint32_t fused_flag = 1u << 31;

  WARPHEAP_HD static constexpr std::uint64_t bit_of(std::uint32_t chunk) {
    return std::uint64_t{1} << (chunk % 64);
  }
  WARPHEAP_HD std::size_t words() const { return std::size_t{end_} / 64 + 1; }
  WARPHEAP_DEVICE bitmap_tree free_set() const { return bitmap_tree(free_, end_ + 1); }

  WARPHEAP_DEVICE std::uint32_t* header(std::uint32_t chunk) const {
    return reinterpret_cast<std::uint32_t*>(block(chunk) - Config.header_bytes());
  }
  WARPHEAP_DEVICE void write(std::uint32_t chunk, bool kept, std::uint32_t next) const {
    std::uint32_t* const words = header(chunk);
    if constexpr (Config.header_words == 2) {
      words[0] = kept ? 1 : 0;
      words[1] = next;
    } else {
      words[0] = next | (kept ? fused_flag : 0);
    }
  }
  WARPHEAP_DEVICE bool is_kept(std::uint32_t chunk) const {
    return Config.header_words == 2 ? header(chunk)[0] == 1 : (header(chunk)[0] & fused_flag) != 0;
  }

  std::uint64_t* free_ = nullptr;
  std::uint64_t* starts_ = nullptr;
  std::byte* base_ = nullptr;
  std::uint32_t end_ = 0;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
