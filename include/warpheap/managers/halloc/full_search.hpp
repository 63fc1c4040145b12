// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The last resort of a request: a search of all slabs for a place. Slabs that are free, or empty
/// heads of other sizes, are taken as a whole.

#include "warpheap/core/hash.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/places.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// Lives for one request of one lane, which has the number `request` among those of its size.
template <halloc_config Config>
class full_search {
 public:
  using shape_type = geometry<Config>;
  using slab_table = slabs<Config>;

  struct result {
    void* block;
    /// There was no place, and nothing came back during the search.
    bool is_out;
  };

  WARPHEAP_DEVICE full_search(const places<Config>& where, std::uint32_t size,
                              std::uint32_t request)
      : places_(where),
        slabs_(where.table()),
        size_(size),
        hash_(static_cast<std::uint32_t>(mix64(request) >> 32)) {}

  /// From a slab on that the request's number is hashed to, round and round.
  WARPHEAP_DEVICE result run() const {
    exhaustion& memory = slabs_.known().of(shape_type::kind_of(size_));
    const exhaustion::token mine = memory.announce();
    const std::uint32_t slabs = slabs_.shape().slabs();
    const std::uint32_t start = scale_to(hash_, slabs);
    bool on_its_way = false;
    for (std::uint32_t i = 0; i < slabs; ++i) {
      const std::uint32_t slab = place_in_round(start, i, slabs);
      void* const block = look_in(slab, on_its_way);
      if (block != nullptr) return {block, false};
    }
    return {nullptr, !on_its_way && memory.confirm(mine, shape_type::span(size_))};
  }

 private:
  /// \param on_its_way set if another lane is about to change what the slab is
  WARPHEAP_DEVICE void* look_in(std::uint32_t slab, bool& on_its_way) const {
    const slab_word now = slabs_.examine(slab);
    if (slab_table::suits(now, size_)) {
      if (now.used() + shape_type::span(size_) > slabs_.shape().chunks(size_)) return nullptr;
      return take_place(slab, on_its_way);
    }
    return !now.bound() || now.used() == 0 ? take_slab(slab, now, on_its_way) : nullptr;
  }

  WARPHEAP_DEVICE void* take_place(std::uint32_t slab, bool& on_its_way) const {
    const std::uint32_t chunk = find_place(slab);
    if (chunk == chunk_map::none) return nullptr;
    void* const block = places_.settle(slab, chunk, size_);
    on_its_way = on_its_way || block == nullptr;
    return block;
  }

  /// Of a slab of another kind of chunks that is empty, or free.
  WARPHEAP_DEVICE void* take_slab(std::uint32_t slab, slab_word now, bool& on_its_way) const {
    if (now.head()) {
      places_.head_slabs().release_head(slab);
    } else if (now.bound()) {
      slabs_.release(slab);
    }
    on_its_way = true;
    if (!slabs_.open(slab, size_)) return nullptr;
    const std::uint32_t chunk = find_place(slab);
    if (chunk == chunk_map::none) {
      slabs_.subtract(slab, shape_type::span(size_));
      return nullptr;
    }
    return places_.block_of(slab, chunk, size_);  // its chunks are counted
  }

  WARPHEAP_DEVICE std::uint32_t find_place(std::uint32_t slab) const {
    const std::uint32_t chunks = slabs_.shape().chunks(size_);
    const std::uint32_t start = scale_to(hash_, chunks / chunk_map::word_chunks + 1);
    return slabs_.map(slab).search(start, chunks, shape_type::span(size_));
  }

  const places<Config>& places_;
  const slab_table& slabs_;
  std::uint32_t size_;
  std::uint32_t hash_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
