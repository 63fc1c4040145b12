// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/halloc/halloc.hpp, and counts what is in use.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/heads.hpp"
#include "warpheap/managers/halloc/slabs.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// Lives for one call, while no lane allocates.
template <halloc_config Config>
class inspector {
 public:
  using slab_table = slabs<Config>;
  using shape_type = geometry<Config>;

  WARPHEAP_DEVICE inspector(const heads<Config>& of, inspection& findings)
      : heads_(of), slabs_(of.table()), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    const std::uint32_t slabs = slabs_.shape().slabs();
    for (std::uint64_t i = rank; i < slabs; i += count) slab(static_cast<std::uint32_t>(i));
    const std::uint64_t words = std::uint64_t{slabs} * slabs_.bit_words();
    for (std::uint64_t i = rank; i < words; i += count) {
      findings_.expect(blocks_fit(static_cast<std::uint32_t>(i / slabs_.bit_words()),
                                  static_cast<std::uint32_t>(i % slabs_.bit_words())),
                       3, i);
    }
    for (std::uint64_t i = rank; i < shape_type::sizes; i += count) {
      const auto size = static_cast<std::uint32_t>(i);
      findings_.expect(!heads_.is_locked(size), 6, i);
      const std::uint32_t head = heads_.head(size);
      if (head == slab_table::none) continue;
      const bool fits =
          head < slabs && slabs_.look(head).head() && slabs_.look(head).size() == size;
      findings_.expect(fits, 4, head);
    }
    for (std::uint32_t i = 0; i < slab_table::sets; ++i) {
      slabs_.set(i).check(rank, count,
                          [this](std::uint64_t word) { findings_.expect(false, 7, word); });
    }
  }

 private:
  WARPHEAP_DEVICE void slab(std::uint32_t number) const {
    const slab_word now = slabs_.look(number);
    std::uint32_t used = 0;
    for (std::uint32_t word = 0; word < slabs_.bit_words(); ++word) {
      used += static_cast<std::uint32_t>(popcount(slabs_.map(number).bits(word)));
    }
    findings_.expect(now.used() == used, 2, number);
    // Sizes that do not exist have no sets and no heads.
    findings_.expect(is_known(now), 1, number);
    if (!is_known(now)) return;
    const std::uint32_t home = slabs_.home(now);
    const bool filed = home == slab_table::nowhere || slabs_.set(home).contains(number);
    if (!now.bound()) {
      findings_.expect(now.used() == 0 && filed, 1, number);
      findings_.expect(!now.head(), 4, number);
      return;
    }
    findings_.expect(now.head() == (heads_.head(now.size()) == number), 4, number);
    if (!now.head()) findings_.expect(now.used() != 0 && filed, 5, number);
  }

  WARPHEAP_DEVICE static bool is_known(slab_word now) {
    return !now.bound() || now.size() < shape_type::sizes;
  }

  /// Whether the bits of a word agree with its blocks, which it counts.
  WARPHEAP_DEVICE bool blocks_fit(std::uint32_t slab, std::uint32_t word) const {
    const chunk_map map = slabs_.map(slab);
    const slab_word now = slabs_.look(slab);
    std::uint32_t of_blocks = 0;
    std::uint32_t blocks = 0;
    // One word of lengths at a time, because most are 0.
    for (std::uint32_t bit = 0; bit < chunk_map::word_chunks; ++bit) {
      const std::uint32_t chunk = word * chunk_map::word_chunks + bit;
      if (bit % chunk_map::length_chunks == 0 && map.has_no_length(chunk)) {
        bit += chunk_map::length_chunks - 1;
        continue;
      }
      const std::uint32_t length = map.length(chunk);
      if (length == 0) continue;
      if (!is_power_of_two(length) || bit % length != 0) return false;
      const auto bits = bit_range<std::uint32_t>(static_cast<int>(bit), static_cast<int>(length));
      if ((of_blocks & bits) != 0) return false;
      of_blocks |= bits;
      ++blocks;
    }
    if (blocks != 0 && (!now.bound() || !is_known(now))) return false;
    if (blocks != 0) {
      const std::uint64_t chunks = static_cast<std::uint64_t>(popcount(of_blocks));
      findings_.in_use(blocks, chunks * shape_type::chunk_bytes(shape_type::kind_of(now.size())));
    }
    return of_blocks == map.bits(word);
  }

  const heads<Config>& heads_;
  const slab_table& slabs_;
  inspection& findings_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
