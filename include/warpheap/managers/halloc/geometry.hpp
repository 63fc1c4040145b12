// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What can be chosen about Halloc, and the sizes, counts and thresholds that follow from it: plain
/// arithmetic, the same on host and device.
///
/// Size 2k has blocks of 16 << k bytes, size 2k + 1 has blocks of 24 << k bytes, for k in 0..7. The
/// sizes share four kinds of chunks, of 16, 24, 256 and 384 bytes; a block is 1, 2, 4 or 8 chunks
/// and starts at a multiple of that number.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/core/units.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

struct halloc_config {
  /// Bytes of a slab: as many as possible, within these bounds, if the heap is to have `slabs`
  /// slabs.
  std::uint32_t largest_slab = 4_MiB;
  std::uint32_t smallest_slab = 256_KiB;
  std::uint32_t slabs = 64;
  /// Fill levels in thousandths of a slab's chunks. Up to `sparse`, a slab may change its size
  /// within its kind of chunks; above `roomy`, it becomes a head only if there is no other; from
  /// `busy` on, a head is replaced.
  std::uint32_t sparse = 12;
  std::uint32_t roomy = 600;
  std::uint32_t busy = 835;
  /// Places of a head that a request looks at before it searches the slab word by word.
  std::uint32_t probes = 31;
};

/// A class of slabs by their fill level.
enum class fill { empty, sparse, roomy, busy, full };

template <halloc_config Config>
class geometry {
 public:
  static_assert(is_power_of_two(Config.smallest_slab) && is_power_of_two(Config.largest_slab) &&
                    Config.smallest_slab >= 4_KiB && Config.smallest_slab <= Config.largest_slab &&
                    Config.largest_slab <= 16_MiB,
                "halloc: slabs must be powers of two, of 4 KiB to 16 MiB");
  static_assert(Config.slabs != 0, "halloc: a heap has at least one slab");
  static_assert(Config.sparse < Config.roomy && Config.roomy < Config.busy && Config.busy >= 500 &&
                    Config.busy <= 1000,
                "halloc: sparse < roomy < busy must hold, and 500 <= busy <= 1000");

  static constexpr std::uint32_t sizes = 16;
  static constexpr std::uint32_t kinds = 4;
  static constexpr std::uint32_t smallest_chunk = 16;
  static constexpr std::size_t largest_block = 3072;

  geometry() = default;
  WARPHEAP_HD constexpr explicit geometry(std::size_t heap_bytes)
      : shift_(floor_log2(Config.largest_slab)) {
    while (shift_ > floor_log2(Config.smallest_slab) && heap_bytes >> shift_ < Config.slabs) {
      --shift_;
    }
  }
  WARPHEAP_HD constexpr void set_slabs(std::uint32_t count) { slabs_ = count; }

  WARPHEAP_HD constexpr std::uint32_t slabs() const { return slabs_; }
  WARPHEAP_HD constexpr int slab_shift() const { return shift_; }
  WARPHEAP_HD constexpr std::uint32_t slab_bytes() const { return 1u << shift_; }

  /// The size that serves `bytes`. Size 1 is left out: blocks of 24 bytes are not aligned to 16.
  /// \pre `0 < bytes <= largest_block`
  WARPHEAP_HD static constexpr std::uint32_t size_for(std::size_t bytes) {
    const auto wanted = static_cast<std::uint32_t>(bytes);
    if (wanted <= 16) return 0;
    const auto doublings = static_cast<std::uint32_t>(ceil_log2(wanted)) - 4;
    const bool between = doublings > 1 && wanted <= 12u << doublings;
    return between ? 2 * doublings - 1 : 2 * doublings;
  }
  WARPHEAP_HD static constexpr std::uint32_t block_bytes(std::uint32_t size) {
    return ((size & 1) != 0 ? 24u : 16u) << (size >> 1);
  }
  WARPHEAP_HD static constexpr std::uint32_t kind_of(std::uint32_t size) {
    return (size >> 3) * 2 + (size & 1);
  }
  WARPHEAP_HD static constexpr std::uint32_t chunk_bytes(std::uint32_t kind) {
    return ((kind & 1) != 0 ? 24u : 16u) << (kind >> 1) * 4;
  }
  /// The size whose blocks are `1 << doublings` chunks of this kind.
  WARPHEAP_HD static constexpr std::uint32_t size_of(std::uint32_t kind, std::uint32_t doublings) {
    return (kind >> 1) * 8 + 2 * doublings + (kind & 1);
  }
  static constexpr std::uint32_t largest_span = 8;
  /// The number of chunks of a block.
  WARPHEAP_HD static constexpr std::uint32_t span(std::uint32_t size) {
    return 1u << (size >> 1 & 3);
  }
  /// The number of successive requests that begin at neighbouring blocks.
  WARPHEAP_HD static constexpr std::uint32_t neighbours(std::uint32_t size) {
    return size < 4 ? 4u >> (size >> 1) : 1u;
  }

  /// The number of blocks of a slab.
  WARPHEAP_HD constexpr std::uint32_t blocks(std::uint32_t size) const {
    const int doublings = static_cast<int>(size >> 1);
    const std::uint32_t room =
        (size & 1) != 0 ? (slab_bytes() >> (doublings + 3)) / 3 : slab_bytes() >> (doublings + 4);
    return align_down(room, neighbours(size));
  }
  WARPHEAP_HD constexpr std::uint32_t chunks(std::uint32_t size) const {
    return blocks(size) * span(size);
  }
  /// A share of a slab's chunks in thousandths.
  WARPHEAP_HD constexpr std::uint32_t share(std::uint32_t size, std::uint32_t thousandths) const {
    return static_cast<std::uint32_t>(std::uint64_t{chunks(size)} * thousandths / 1000);
  }
  WARPHEAP_HD constexpr bool is_full(std::uint32_t size, std::uint32_t used) const {
    return used >= share(size, Config.busy);
  }
  /// The class of a slab with this many chunks in use.
  WARPHEAP_HD constexpr fill fill_of(std::uint32_t size, std::uint32_t used) const {
    if (used == 0) return fill::empty;
    if (used <= share(size, Config.sparse)) return fill::sparse;
    if (used <= share(size, Config.roomy)) return fill::roomy;
    return is_full(size, used) ? fill::full : fill::busy;
  }

 private:
  int shift_ = 0;
  std::uint32_t slabs_ = 0;
};

/// The places of a slab in the order in which one request looks at them. The request's number is
/// hashed to the first one; the step is a prime that is larger than any number of blocks, so all
/// blocks are visited before one is visited again.
class walk {
 public:
  /// \param neighbours a power of two
  WARPHEAP_HD constexpr walk(std::uint32_t request, std::uint32_t blocks, std::uint32_t neighbours)
      : place_((align_down(request, neighbours) * spread + (request & (neighbours - 1))) % blocks),
        step_(prime % blocks),
        blocks_(blocks) {}

  WARPHEAP_HD constexpr std::uint32_t place() const { return place_; }
  WARPHEAP_HD constexpr void advance() {
    place_ += step_;
    if (place_ >= blocks_) place_ -= blocks_;
  }

 private:
  static constexpr std::uint32_t spread = 11;
  static constexpr std::uint32_t prime = 2654435761u;

  std::uint32_t place_;
  std::uint32_t step_;
  std::uint32_t blocks_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
