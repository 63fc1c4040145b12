// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Sizes and places in XMalloc's memory (layout: xmalloc.hpp), and the word in front of every
/// block, by which free knows what the block is.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

struct xmalloc_config {
  /// Bytes of a Basicblock of the first class, its header included; each class has twice as many.
  std::size_t smallest_block = 512;
  std::uint32_t classes = 5;
  /// Basicblocks of a whole Superblock, and of the smallest one.
  std::uint32_t superblock_blocks = 32;
  std::uint32_t least_blocks = 4;
  /// First-level FIFOs of each class.
  std::uint32_t lists = 4;
  /// Basicblocks that a first-level FIFO holds, in a large heap.
  std::uint32_t list_blocks = 256;
  /// Requests below this many bytes are coalesced.
  std::size_t coalesce_below = 256;
  /// Zones with a list of Memoryblocks each, and bytes of the smallest one.
  std::uint32_t zones = 64;
  std::size_t zone_bytes = std::size_t{4} << 20;
};

/// The number of no unit, and of no Superblock.
inline constexpr std::uint32_t none = ~0u;

enum class block_kind : std::uint32_t { invalid = 0, piece = 1, basic = 2, memory = 3 };

/// The 32 bits before a block's first byte:
///
///     piece:       [ 1:2 | bytes from the parent's first byte to this word:30 ]
///     Basicblock:  [ 2:2 | class:3 | 0:21 | pieces:6 ]
///     Memoryblock: [ 3:2 | 0:24 | pieces:6 ]       pieces: 0 if no coalesced request is in it
///
/// Accessed plainly: only a block's owner accesses it, and handing over the block orders owners.
class block_word {
 public:
  WARPHEAP_HD explicit constexpr block_word(std::uint32_t bits) : bits_(bits) {}
  WARPHEAP_HD static constexpr block_word piece(std::uint32_t back) {
    return block_word(1u << 30 | back);
  }
  WARPHEAP_HD static constexpr block_word basic(std::uint32_t cls) {
    return block_word(2u << 30 | cls << 27);
  }
  WARPHEAP_HD static constexpr block_word memory() { return block_word(3u << 30); }

  WARPHEAP_HD constexpr std::uint32_t bits() const { return bits_; }
  WARPHEAP_HD constexpr block_kind kind() const { return static_cast<block_kind>(bits_ >> 30); }
  WARPHEAP_HD constexpr std::uint32_t back() const { return bits_ & low_bits<std::uint32_t>(30); }
  WARPHEAP_HD constexpr std::uint32_t cls() const { return bits_ >> 27 & 7u; }
  WARPHEAP_HD constexpr std::uint32_t pieces() const { return bits_ & 63u; }
  WARPHEAP_HD constexpr block_word with_pieces(std::uint32_t pieces) const {
    return block_word((bits_ & ~63u) | pieces);
  }

 private:
  std::uint32_t bits_;
};

/// The word before `block`.
WARPHEAP_HD inline std::uint32_t& word_before(std::byte* block) {
  return reinterpret_cast<std::uint32_t*>(block)[-1];
}

template <xmalloc_config Config>
struct geometry {
  /// Memoryblocks are multiples of this many bytes; 32-bit numbers of them reach 256 GiB.
  static constexpr std::size_t unit = 64;
  /// Units of the largest heap: `none` and the end have separate numbers.
  static constexpr std::size_t most_units = none - 1;
  static constexpr std::uint32_t classes = Config.classes;
  static constexpr std::uint32_t lists = Config.lists;
  static constexpr std::uint32_t superblock_blocks = Config.superblock_blocks;
  static constexpr std::uint32_t least_blocks = Config.least_blocks;

  static_assert(is_power_of_two(Config.smallest_block) && Config.smallest_block >= unit,
                "xmalloc_config::smallest_block must be a power of two, at least 64");
  static_assert(classes >= 1 && classes <= 8, "xmalloc_config::classes must be 1 to 8");
  static_assert(superblock_blocks >= 2 && superblock_blocks <= 32,
                "xmalloc_config::superblock_blocks must be 2 to 32");
  static_assert(least_blocks >= 1 && least_blocks <= superblock_blocks,
                "xmalloc_config::least_blocks must be 1 to superblock_blocks");
  static_assert(lists >= 1, "xmalloc_config::lists must be at least 1");
  static_assert(is_power_of_two(Config.list_blocks) && Config.list_blocks >= 2,
                "xmalloc_config::list_blocks must be a power of two, at least 2");

  /// In front of a Memoryblock's first byte, and of a Basicblock's.
  static constexpr std::size_t memory_header = 16;
  static constexpr std::size_t basic_header = 8;
  /// From a Superblock's first unit to the first byte of its first Basicblock: its headers as a
  /// Memoryblock and as a Superblock, and the header of that Basicblock.
  static constexpr std::size_t first_block = memory_header + 24 + basic_header;
  static_assert(first_block % 16 == 0 && first_block < unit,
                "a Basicblock's unit is the one that it begins in");

  WARPHEAP_HD static constexpr std::size_t block_bytes(std::uint32_t cls) {
    return Config.smallest_block << cls;
  }
  /// Bytes of a Basicblock that its owner can use.
  WARPHEAP_HD static constexpr std::size_t usable(std::uint32_t cls) {
    return block_bytes(cls) - basic_header;
  }
  static constexpr std::size_t largest_basic = (Config.smallest_block << (classes - 1)) - 8;

  /// The smallest class whose blocks hold `bytes`. \pre `bytes <= largest_basic`
  WARPHEAP_HD static constexpr std::uint32_t class_of(std::size_t bytes) {
    const std::size_t gross = bytes + basic_header;
    return gross <= Config.smallest_block
               ? 0u
               : static_cast<std::uint32_t>(ceil_log2(gross) - floor_log2(Config.smallest_block));
  }

  static constexpr std::uint32_t most_zones = Config.zones;
  /// Units of the smallest zone of a heap that has several.
  static constexpr auto least_zone = static_cast<std::uint32_t>(Config.zone_bytes / unit);
  static_assert(most_zones >= 1 && most_zones <= 64, "xmalloc_config::zones must be 1 to 64");
  static_assert(is_power_of_two(Config.zone_bytes) && Config.zone_bytes / unit < most_units,
                "xmalloc_config::zone_bytes must be a power of two, below 256 GiB");

  /// Units from one Basicblock of a Superblock to the next.
  WARPHEAP_HD static constexpr std::uint32_t block_units(std::uint32_t cls) {
    return static_cast<std::uint32_t>(block_bytes(cls) / unit);
  }
  /// Units of a Superblock: those of its blocks, and one for the headers.
  WARPHEAP_HD static constexpr std::uint32_t superblock_units(
      std::uint32_t cls, std::uint32_t blocks = superblock_blocks) {
    return 1 + blocks * block_units(cls);
  }
  WARPHEAP_HD static constexpr std::uint32_t least_units(std::uint32_t cls) {
    return superblock_units(cls, least_blocks);
  }
  static_assert(least_zone >=
                    1 + superblock_blocks * (Config.smallest_block << (classes - 1)) / unit,
                "xmalloc_config::zone_bytes must have room for a Superblock");

  /// Blocks of the largest Superblock that fits into `units`.
  WARPHEAP_HD static constexpr std::uint32_t blocks_that_fit(std::uint32_t cls,
                                                             std::uint32_t units) {
    const std::uint32_t blocks = (units - 1) / block_units(cls);
    return blocks < superblock_blocks ? blocks : superblock_blocks;
  }
  /// Units of a Memoryblock for `bytes`.
  WARPHEAP_HD static constexpr std::uint32_t units_for(std::size_t bytes) {
    return static_cast<std::uint32_t>(align_up<std::size_t>(bytes + memory_header, unit) / unit);
  }

  // Coalesced requests: [ live pieces: u32 | 8 B | word, piece | word, piece | ... ].

  /// From the parent's first byte to the word of its first piece.
  static constexpr std::uint32_t first_piece = 12;
  static_assert(Config.coalesce_below + 4 + 15 + first_piece <= largest_basic,
                "xmalloc_config::coalesce_below must leave room for a piece in a Basicblock");

  /// From one piece's word to the next. A multiple of 16, as 16 minus `first_piece` is a word.
  WARPHEAP_HD static constexpr std::uint32_t piece_pitch(std::size_t bytes) {
    return static_cast<std::uint32_t>(align_up<std::size_t>(bytes + 4, 16));
  }
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
