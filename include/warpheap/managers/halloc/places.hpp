// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// From a place in a slab that a lane has claimed to a block, and from a block to its place.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/heads.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"
#include "warpheap/managers/halloc/slabs.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

template <halloc_config Config>
class places {
 public:
  using shape_type = geometry<Config>;
  using slab_table = slabs<Config>;
  using head_table = heads<Config>;

  /// Where a block begins.
  struct place {
    std::uint32_t slab;
    std::uint32_t chunk;
    std::uint32_t chunk_bytes;
  };

  using outcome = typename head_table::outcome;

  places() = default;
  places(const shape_type& shape, region_cursor& cursor)
      : copy_(cursor.take<places>(1, 128)),
        heads_(slab_table(shape, cursor), cursor),
        blocks_(cursor.take<std::byte>(std::size_t{shape.slabs()} << shape.slab_shift(), 256)) {}

  WARPHEAP_HD shape_type shape() const { return table().shape(); }
  WARPHEAP_HD const slab_table& table() const { return heads_.table(); }
  WARPHEAP_HD const head_table& head_slabs() const { return heads_; }
  /// Where slab 0 begins.
  WARPHEAP_HD std::byte* first_slab() const { return blocks_; }

  /// A copy of this object in the heap, for functions that are rarely called: they load what they
  /// need, and their callers keep nothing of it in registers.
  WARPHEAP_DEVICE const places& copy() const { return *copy_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *copy_ = *this;
    table().format(rank, count);
    heads_.format(rank, count);
  }

  /// `heads::renew`, called apart.
  WARPHEAP_DEVICE outcome renew_head(std::uint32_t size, std::uint32_t old, bool used_up) const {
    return simt::call_apart(&renew_apart, copy(), size, old, used_up);
  }

  /// The block at a place that belongs to this lane and has been counted.
  WARPHEAP_DEVICE void* block_of(std::uint32_t slab, std::uint32_t chunk,
                                 std::uint32_t size) const {
    table().map(slab).set_length(chunk, shape_type::span(size));
    return blocks_ + (std::size_t{slab} << shape().slab_shift()) +
           std::size_t{chunk} * shape_type::chunk_bytes(shape_type::kind_of(size));
  }

  /// The place of a live block; its slab therefore keeps the kind of chunks that the word says.
  WARPHEAP_DEVICE place find(void* pointer) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(pointer) - blocks_);
    const std::uint64_t slab = offset >> shape().slab_shift();
    if (slab >= shape().slabs()) return {slab_table::none, 0, 0};  // not of this heap
    const auto number = static_cast<std::uint32_t>(slab);
    const slab_word now = table().look(number);
    if (!now.bound()) return {slab_table::none, 0, 0};
    const std::uint32_t chunk_bytes = shape_type::chunk_bytes(shape_type::kind_of(now.size()));
    const auto inside = static_cast<std::uint32_t>(offset) & (shape().slab_bytes() - 1);
    return {number, inside / chunk_bytes, chunk_bytes};
  }

  /// The block at a place that this lane has claimed. If the slab no longer has chunks of this
  /// kind, undoes the claim and returns null. Lanes that claimed places of one slab and size count
  /// them together, and one of them replaces a head that they have filled.
  WARPHEAP_DEVICE void* settle(std::uint32_t slab, std::uint32_t chunk, std::uint32_t size) const {
    const std::uint32_t span = shape_type::span(size);
    const simt::group same = simt::coalesced(copy_).match(slab << 4 | size);
    const std::uint32_t chunks = static_cast<std::uint32_t>(same.size()) * span;
    same.sync();
    std::uint64_t word = 0;
    if (same.is_leader()) word = table().add(slab, chunks).bits();
    same.sync();  // orders the members after what the leader has acquired
    const slab_word before(same.broadcast(word));
    if (!slab_table::suits(before, size)) {
      table().map(slab).put_back(chunk, span);
      same.sync();
      if (same.is_leader()) table().subtract(slab, chunks);
      return nullptr;
    }
    if (same.is_leader() && before.head() && before.size() == size &&
        !shape().is_full(size, before.used()) && shape().is_full(size, before.used() + chunks)) {
      renew_head(size, slab, false);
    }
    return block_of(slab, chunk, size);
  }

 private:
  WARPHEAP_RARE static outcome renew_apart(const places& in, std::uint32_t size, std::uint32_t old,
                                           bool used_up) {
    return in.heads_.renew(size, old, used_up);
  }

  places* copy_ = nullptr;
  head_table heads_;
  std::byte* blocks_ = nullptr;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
