// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The arithmetic of pages: how many chunks of a size a page has, where its masks are, which
/// chunk sizes suit a request, and the hash that determines the page to start at.
///
/// Sizes of chunks are counted in units of 16 bytes. A page with at most 32 chunks is flat: one
/// 32-bit mask in the page usage table. A page with more chunks has a second level, segments of 32
/// chunks each, whose masks lie at the end of the page:
///
///     [ segment 0: 32 chunks ][ segment 1 ] ... [ last: up to 32 ][ unused ][ masks: u32 each ]

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct scatter_config {
  /// A power of two, at least 256.
  std::uint32_t page_bytes = 4096;
  /// A power of two.
  std::uint32_t region_pages = 16;
  /// The maximum number of Super Blocks of a heap: there are fewer if each would have less than
  /// `least_block_pages`. Their sizes are multiples of that, which is a multiple of `region_pages`;
  /// the last one also has the remaining pages.
  std::uint32_t super_blocks = 8;
  std::uint32_t least_block_pages = 64;
  /// The number of failed searches after which probing skips a region: 3/4 of its pages.
  std::uint32_t rejecting_level = 12;
  /// The number of regions that a request probes, from its hashed page on, before it settles for a
  /// free page.
  std::uint32_t probed_regions = 256;
};

namespace scatter_parts {

template <scatter_config Config>
struct geometry {
  static constexpr std::uint32_t page_bytes = Config.page_bytes;
  static constexpr std::uint32_t unit_bytes = 16;
  /// Larger requests get whole pages.
  static constexpr std::uint32_t largest_chunk = page_bytes / 2;
  static constexpr std::uint32_t chunk_sizes = largest_chunk / unit_bytes;
  /// Stands for a request for a page, instead of the units of a chunk.
  static constexpr std::uint32_t page_request = chunk_sizes + 1;

  static_assert(is_power_of_two(page_bytes) && page_bytes >= 256 && page_bytes <= 65536,
                "scatter_config::page_bytes must be a power of two from 256 to 65536");
  static_assert(is_power_of_two(Config.region_pages),
                "scatter_config::region_pages must be a power of two");
  static_assert(Config.super_blocks != 0 && Config.least_block_pages != 0 &&
                    Config.least_block_pages % Config.region_pages == 0,
                "scatter_config::least_block_pages must be a multiple of region_pages");
  static_assert(Config.rejecting_level > 0 && Config.probed_regions > 0,
                "scatter_config::rejecting_level and probed_regions must not be 0");

  WARPHEAP_HD static constexpr std::uint32_t units_for(std::size_t bytes) {
    return static_cast<std::uint32_t>(align_up<std::size_t>(bytes, unit_bytes) / unit_bytes);
  }
  WARPHEAP_HD static constexpr std::uint64_t pages_for(std::size_t bytes) {
    return (bytes - 1) / page_bytes + 1;
  }

  /// A request takes chunks of up to twice its size.
  WARPHEAP_HD static constexpr bool suits(std::uint32_t wanted_units, std::uint32_t chunk_units) {
    return chunk_units >= wanted_units && chunk_units <= 2 * wanted_units;
  }

  /// One full segment, the mask of a second one, and one chunk in it fit into the page.
  WARPHEAP_HD static constexpr bool has_two_levels(std::uint32_t units) {
    return units * unit_bytes <= (page_bytes - 8) / 33;
  }

  /// Segments with 32 chunks.
  WARPHEAP_HD static constexpr std::uint32_t full_segments(std::uint32_t units) {
    const std::uint32_t full = page_bytes / segment_bytes(units);
    return full < 32 ? full : 32;
  }
  /// Chunks of the segment behind the full ones.
  WARPHEAP_HD static constexpr std::uint32_t extra_chunks(std::uint32_t units) {
    const std::uint32_t full = full_segments(units);
    const std::uint32_t left = page_bytes - full * segment_bytes(units);
    if (full == 32 || left < 4) return 0;
    const std::uint32_t fit = (left - 4) / (units * unit_bytes);
    return fit < 31 ? fit : 31;
  }

  /// Masks of a page with chunks of `units`.
  WARPHEAP_HD static constexpr std::uint32_t segments(std::uint32_t units) {
    return has_two_levels(units) ? full_segments(units) + (extra_chunks(units) != 0 ? 1 : 0) : 1;
  }
  /// Chunks of a page.
  WARPHEAP_HD static constexpr std::uint32_t capacity(std::uint32_t units) {
    if (has_two_levels(units)) return full_segments(units) * 32 + extra_chunks(units);
    const std::uint32_t fit = page_bytes / (units * unit_bytes);
    return fit < 32 ? fit : 32;
  }
  /// The bits of segment `segment` that stand for chunks. \pre `segment < segments(units)`
  WARPHEAP_HD static constexpr std::uint32_t chunk_bits(std::uint32_t units,
                                                        std::uint32_t segment) {
    const std::uint32_t left = capacity(units) - segment * 32;
    return low_bits<std::uint32_t>(static_cast<int>(left < 32 ? left : 32));
  }

  /// The page, of `pages`, where a request starts to look: those of different sizes,
  /// multiprocessors and warps are far apart, those of one warp are adjacent, and each warp has as
  /// many pages of its own as its 32 requests may need. The constants are those of the published
  /// code.
  WARPHEAP_HD static constexpr std::uint32_t start_page(std::uint32_t bytes,
                                                        std::uint32_t multiprocessor,
                                                        std::uint32_t warp, std::uint32_t lane,
                                                        std::uint32_t pages) {
    const std::uint32_t stride = 1 + static_cast<std::uint32_t>(32ull * bytes / page_bytes);
    const auto of_lane = static_cast<std::uint32_t>(std::uint64_t{lane} * bytes / page_bytes);
    return (bytes * 38183u + multiprocessor * 17497u + stride * warp + of_lane) % pages;
  }

 private:
  WARPHEAP_HD static constexpr std::uint32_t segment_bytes(std::uint32_t units) {
    return 32 * units * unit_bytes + 4;
  }
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
