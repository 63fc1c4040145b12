// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/size_exhaustion.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

/// What a round of the searches that lanes share (sync/shared_search.hpp) has seen, and left: the
/// chunk sizes for which pages have room, and one page of each. The end of a round confirms to
/// `size_exhaustion` every size for which nothing suits.
///
/// Layout: [ for each size, 0 for free pages, whether it was seen: bits ][ where: u32 each ]
///
/// Orders: relaxed, as `shared_search` orders a round's notes before its end. A page that is read
/// during the next round is a hint.
template <scatter_config Config>
class room_seen {
  using sizes = geometry<Config>;

 public:
  static constexpr std::uint32_t none = bitmap_tree::none;
  /// Stands for a free page, instead of a chunk size.
  static constexpr std::uint32_t free_page = 0;

  struct storage {
    std::uint64_t* seen;
    std::uint32_t* pages;

    storage() = default;
    explicit storage(region_cursor& cursor)
        : seen(cursor.take<std::uint64_t>(words, 128)),
          pages(cursor.take<std::uint32_t>(sizes::chunk_sizes + 1, 128)) {}
  };

  /// What the lanes that examine pages pass to `shared_search`; they have noted what they saw.
  struct noted {};

  WARPHEAP_DEVICE void format(const size_exhaustion& out, const storage& where) {
    out_ = out;
    in_ = where;
    token_ = 0;
    for (std::uint32_t i = 0; i < words; ++i) in_.seen[i] = 0;
    for (std::uint32_t i = 0; i <= sizes::chunk_sizes; ++i) in_.pages[i] = none;
  }

  WARPHEAP_DEVICE const size_exhaustion& memory() const { return out_; }

  WARPHEAP_DEVICE void begin_round() {
    simt::atomic_ref(token_).store(out_.announce(), simt::order::relaxed);
    for (std::uint32_t i = 0; i < words; ++i) word(i).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(noted /*all*/) const {}
  WARPHEAP_DEVICE void end_round() {
    const std::uint64_t token = simt::atomic_ref(token_).load(simt::order::relaxed);
    if (!out_.stands(token) || (word(0).load(simt::order::relaxed) & 1) != 0) return;
    out_.confirm(token, sizes::page_request);
    std::uint32_t next = none;  // the smallest size seen that is not below the one at hand
    for (std::uint32_t i = words; i-- > 0;) {
      const std::uint64_t bits = word(i).load(simt::order::relaxed);
      for (std::uint32_t bit = 64; bit-- > 0;) {
        const std::uint32_t size = i * 64 + bit;
        if ((bits >> bit & 1) != 0) next = size;
        if (size == free_page || size > sizes::chunk_sizes) continue;
        if (next == none || !sizes::suits(size, next)) out_.confirm(token, size);
      }
    }
  }

  /// A page has room for chunks of this size, or is free.
  WARPHEAP_DEVICE void add(std::uint32_t size, std::uint32_t page) const {
    const std::uint64_t bit = std::uint64_t{1} << size % 64;
    if ((word(size / 64).load(simt::order::relaxed) & bit) != 0) return;
    simt::atomic_ref(in_.pages[size]).store(page, simt::order::relaxed);
    word(size / 64).fetch_or(bit, simt::order::relaxed);
  }

  /// A page that may suit a request, or none.
  WARPHEAP_DEVICE std::uint32_t page_for(std::uint32_t request) const {
    if (request != sizes::page_request) {
      const std::uint32_t last =
          2 * request < sizes::chunk_sizes ? 2 * request : sizes::chunk_sizes;
      for (std::uint32_t size = request; size <= last; size = (size / 64 + 1) * 64) {
        const std::uint64_t bits = word(size / 64).load(simt::order::relaxed) >> size % 64;
        const std::uint32_t found =
            size + (bits == 0 ? 64 : static_cast<std::uint32_t>(lowest_bit(bits)));
        if (bits != 0 && found <= last) return page_of(found);
      }
    }
    const bool any_free = (word(0).load(simt::order::relaxed) & 1) != 0;
    return any_free ? page_of(free_page) : none;
  }

 private:
  static constexpr std::uint32_t words = sizes::chunk_sizes / 64 + 1;

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> word(std::uint32_t i) const {
    return simt::atomic_ref(in_.seen[i]);
  }
  WARPHEAP_DEVICE std::uint32_t page_of(std::uint32_t size) const {
    return simt::atomic_ref(in_.pages[size]).load(simt::order::relaxed);
  }

  size_exhaustion out_;
  storage in_;
  std::uint64_t token_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
