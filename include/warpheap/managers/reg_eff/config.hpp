// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What can be chosen about Reg-Eff, and how its variants differ.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

enum class book_keeping {
  counter,           ///< A: a counter, nothing is freed
  wrapping_counter,  ///< AW: a counter that starts again at the front, over blocks in use
  list,              ///< C and its variants: a circular list of chunks
};

enum class memory_offsets {
  one,                 ///< C, CF: all searches start at one place
  per_multiprocessor,  ///< CM, CFM: each multiprocessor has a place and a part of its own
};

struct reg_eff_config {
  book_keeping keeps = book_keeping::list;
  memory_offsets offsets = memory_offsets::one;
  /// 2: a flag and the next chunk in separate words. 1: fused in one (CF, CFM).
  int header_words = 2;
  /// A chunk is split if its size is at least this share of the request; otherwise, the whole chunk
  /// is handed out. More than 100: how much of a chunk may be left over inside the block.
  std::uint32_t max_fragmentation_percent = 200;
  /// Bytes of the smallest chunks into which an empty heap is split; 0: it is one chunk.
  std::size_t presplit_bytes = 128;
  /// What a request leaves of a chunk becomes two chunks if it has room for this many requests of
  /// the kind, at least 2: else lanes that all want a part of one chunk take them one by one.
  std::uint32_t halves_from = 64;
  /// A free merges its chunk with the next one if that is free. Searches merge in any case.
  bool merges = true;
  /// Blocks are aligned to this, and chunks are multiples of it: a power of two, at least 16.
  /// Positions are 31-bit numbers of granules, so 16 bytes limit a heap to
  /// 34,359,738,352 bytes, one granule less than 32 GiB.
  std::size_t granule_bytes = 16;

  WARPHEAP_HD constexpr bool has_list() const { return keeps == book_keeping::list; }
  WARPHEAP_HD constexpr std::size_t header_bytes() const {
    return has_list() ? sizeof(std::uint32_t) * static_cast<std::size_t>(header_words) : 0;
  }
  constexpr bool is_valid() const {
    return (header_words == 1 || header_words == 2) && max_fragmentation_percent >= 100 &&
           halves_from >= 2 && presplit_bytes % granule_bytes == 0 &&
           presplit_bytes <= std::size_t{1} << 20 && granule_bytes >= 16 &&
           is_power_of_two(granule_bytes);
  }
  /// Granules of a chunk whose block has `bytes` bytes.
  WARPHEAP_HD constexpr std::uint64_t granules_for(std::uint64_t bytes) const {
    return ceil_div<std::uint64_t>(bytes + header_bytes(), granule_bytes);
  }
  /// Whether a chunk of `size` granules is split for a request of `need`.
  WARPHEAP_HD constexpr bool splits(std::uint32_t size, std::uint32_t need) const {
    return need < size &&
           std::uint64_t{need} * max_fragmentation_percent <= std::uint64_t{size} * 100;
  }

  /// Granules of the first of two chunks that `rest` granules become after a request of `need`, a
  /// multiple of `need` so that nothing is wasted between requests of one size; 0: of one chunk.
  WARPHEAP_HD constexpr std::uint32_t half_of(std::uint32_t rest, std::uint32_t need) const {
    return rest / halves_from < need ? 0 : rest / 2 / need * need;
  }

  constexpr const char* name() const {
    if (keeps == book_keeping::counter) return "reg_eff_a";
    if (keeps == book_keeping::wrapping_counter) return "reg_eff_aw";
    if (offsets == memory_offsets::one) return header_words == 2 ? "reg_eff_c" : "reg_eff_cf";
    return header_words == 2 ? "reg_eff_cm" : "reg_eff_cfm";
  }
  constexpr const char* description() const {
    if (keeps == book_keeping::counter) return "the paper's baseline: a counter without reuse";
    if (keeps == book_keeping::wrapping_counter) {
      return "the paper's baseline: a ring that overwrites blocks in use once it is full";
    }
    if (offsets == memory_offsets::one) {
      return header_words == 2 ? "a circular list of chunks, searched from one offset"
                               : "a circular list of chunks with one-word headers";
    }
    return header_words == 2 ? "a circular list of chunks with one offset per multiprocessor"
                             : "like reg_eff_cm, with one-word headers";
  }
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
