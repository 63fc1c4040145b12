// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/gallatin/gallatin.hpp, and counts what is in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/gallatin/blocks.hpp"
#include "warpheap/managers/gallatin/buffers.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/managers/gallatin/segments.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call, while no lane allocates.
template <gallatin_config Config>
class gallatin_inspector {
 public:
  using geometry = gallatin_geometry<Config>;

  WARPHEAP_DEVICE gallatin_inspector(const gallatin_buffers<Config>& buffers, inspection& findings)
      : buffers_(buffers),
        blocks_(buffers.blocks()),
        segments_(blocks_.segments()),
        shape_(blocks_.shape()),
        findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    const auto wrong_word = [this](std::uint64_t word) { findings_.expect(false, 1, word); };
    segments_.free_segments().check(rank, count, wrong_word);
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
      blocks_.free_blocks(tree).check(rank, count, wrong_word);
    }
    for (std::uint64_t i = rank; i < shape_.segments(); i += count) {
      segment(static_cast<std::uint32_t>(i));
    }
    const std::uint64_t slots = std::uint64_t{shape_.multiprocessors()} * geometry::units;
    for (std::uint64_t i = rank; i < slots; i += count) {
      slot(static_cast<std::uint32_t>(i / geometry::units),
           static_cast<std::uint32_t>(i % geometry::units));
    }
    if (rank == 0) findings_.expect(segments_.idle(), 8, 0);
  }

 private:
  WARPHEAP_DEVICE void segment(std::uint32_t s) const {
    const std::uint32_t kind = segments_.kind(s);
    findings_.expect(segments_.free_segments().contains(s) == (kind == gallatin_segment::free), 2,
                     s);
    const bool in_run = s != 0 && continues_run(s - 1);
    findings_.expect(in_run == (kind == gallatin_segment::inside), 3, s);
    if (gallatin_segment::is_run(kind)) {
      const std::uint32_t length = gallatin_segment::length(kind);
      findings_.expect(run_is_whole(s, length), 3, s);
      findings_.in_use(1, std::uint64_t{length} << shape_.segment_shift());
    }
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
      if (tree == kind) {
        blocks_of(s, tree);
      } else {
        const int shift = geometry::blocks_shift_of(tree);
        for (std::uint32_t i = 0; i < (1u << shift); ++i) {
          findings_.expect(!blocks_.free_blocks(tree).contains((s << shift) + i), 4, s);
        }
      }
    }
    // Counters that do not belong to a block.
    const std::uint32_t used = kind < geometry::trees ? 1u << geometry::blocks_shift_of(kind) : 0;
    for (std::uint32_t i = used; i < (1u << geometry::blocks_shift); ++i) {
      const std::uint32_t counter = (s << geometry::blocks_shift) + i;
      findings_.expect(blocks_.units_left(0, counter) == 0, 5, counter);
    }
  }

  /// Whether the segment after `s` belongs to the same run.
  WARPHEAP_DEVICE bool continues_run(std::uint32_t s) const {
    const std::uint32_t kind = segments_.kind(s);
    if (gallatin_segment::is_run(kind)) return gallatin_segment::length(kind) > 1;
    if (kind != gallatin_segment::inside) return false;
    std::uint32_t first = s;
    while (first != 0 && segments_.kind(first) == gallatin_segment::inside) --first;
    const std::uint32_t head = segments_.kind(first);
    return gallatin_segment::is_run(head) && s + 1 < first + gallatin_segment::length(head);
  }

  WARPHEAP_DEVICE bool run_is_whole(std::uint32_t first, std::uint32_t length) const {
    if (length == 0 || length > shape_.segments() - first) return false;
    for (std::uint32_t i = 1; i < length; ++i) {
      if (segments_.kind(first + i) != gallatin_segment::inside) return false;
    }
    return true;
  }

  WARPHEAP_DEVICE void blocks_of(std::uint32_t s, std::uint32_t tree) const {
    const int shift = geometry::blocks_shift_of(tree);
    bool all_free = true;
    for (std::uint32_t i = 0; i < (1u << shift); ++i) {
      const std::uint32_t block = (s << shift) + i;
      const std::uint32_t left = blocks_.units_left(tree, block);
      const bool is_free = blocks_.free_blocks(tree).contains(block);
      all_free = all_free && is_free;
      const std::uint32_t counter = geometry::counter_of(tree, block);
      findings_.expect(is_free == (left == 0), 5, counter);
      if (is_free) continue;
      const std::uint32_t unit = blocks_.unit_of(tree, block);
      if (unit == gallatin_blocks<Config>::whole_block) {
        findings_.expect(left == 1 && !blocks_.is_in_slot(tree, block), 5, counter);
        findings_.in_use(left, std::uint64_t{left} << shape_.block_shift(tree));
      } else {
        const bool fits = unit < geometry::units && geometry::tree_of(unit) == tree &&
                          left <= shape_.capacity(unit) &&
                          (!blocks_.is_in_slot(tree, block) || has_slot(unit, block));
        findings_.expect(fits, 5, counter);
        if (fits) findings_.in_use(left, std::uint64_t{left} * geometry::unit_bytes(unit));
      }
    }
    findings_.expect(!all_free, 4, s);
  }

  WARPHEAP_DEVICE bool has_slot(std::uint32_t unit, std::uint32_t block) const {
    for (std::uint32_t i = 0; i < shape_.slots(unit); ++i) {
      if (buffers_.look(i, unit).block == block) return true;
    }
    return false;
  }

  WARPHEAP_DEVICE void slot(std::uint32_t i, std::uint32_t unit) const {
    const gallatin_slot now = buffers_.look(i, unit);
    if (now.is_empty()) return;
    const std::uint32_t place = 16 * i + unit;
    const std::uint32_t tree = geometry::tree_of(unit);
    const std::uint32_t blocks = shape_.segments() << geometry::blocks_shift_of(tree);
    const bool usable = now.has_units(shape_.capacity(unit)) && now.block < blocks &&
                        i < shape_.slots(unit) &&
                        segments_.kind(now.block >> geometry::blocks_shift_of(tree)) == tree;
    findings_.expect(usable, 6, place);
    if (!usable) return;
    const std::uint32_t rest = shape_.capacity(unit) - now.taken;
    findings_.expect(!blocks_.free_blocks(tree).contains(now.block) &&
                         blocks_.unit_of(tree, now.block) == unit &&
                         blocks_.is_in_slot(tree, now.block) &&
                         blocks_.units_left(tree, now.block) >= rest,
                     6, place);
    for (std::uint32_t other = 0; other < i; ++other) {
      findings_.expect(buffers_.look(other, unit).block != now.block, 7, place);
    }
    // The counter's rest includes units that no lane has taken yet: they were added with the block
    // and are subtracted here, modulo 2^64.
    const std::uint64_t unused = rest;
    findings_.in_use(0 - unused, 0 - unused * geometry::unit_bytes(unit));
  }

  const gallatin_buffers<Config>& buffers_;
  const gallatin_blocks<Config>& blocks_;
  const gallatin_segments<Config>& segments_;
  geometry shape_;
  inspection& findings_;
};

WARPHEAP_END_NAMESPACE
