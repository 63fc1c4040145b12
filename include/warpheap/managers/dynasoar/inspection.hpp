// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/dynasoar/dynasoar.hpp, and counts what is in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/dynasoar/table.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Called by every lane of a grid of `count` while no lane allocates.
template <class Shape>
WARPHEAP_DEVICE void inspect_blocks(const dynasoar_table<Shape>& blocks, std::uint64_t rank,
                                    std::uint64_t count, inspection& findings) {
  const auto wrong_word = [&](std::uint64_t word) { findings.expect(false, 1, word); };
  blocks.free_blocks().check(rank, count, wrong_word);
  for (std::uint32_t type = 0; type < Shape::types; ++type) {
    blocks.allocated_blocks(type).check(rank, count, wrong_word);
    blocks.active_blocks(type).check(rank, count, wrong_word);
  }
  for (std::uint64_t i = rank; i < blocks.count(); i += count) {
    const auto block = static_cast<std::uint32_t>(i);
    const std::uint64_t free = blocks.free_slots(block).load(simt::order::relaxed);
    int owners = 0;
    if (blocks.free_blocks().contains(block)) {
      ++owners;
      findings.expect(free == 0, 5, block);
    }
    for (std::uint32_t type = 0; type < Shape::types; ++type) {
      const bool allocated = blocks.allocated_blocks(type).contains(block);
      findings.expect(blocks.active_blocks(type).contains(block) == (allocated && free != 0), 3,
                      block);
      if (!allocated) continue;
      ++owners;
      const std::uint64_t all = blocks.all_slots(type);
      findings.expect(blocks.type_of(block) == type && (free & ~all) == 0 && free != all, 4, block);
      const auto used = static_cast<std::uint64_t>(popcount(all & ~free));
      findings.in_use(used, used * Shape::slot_bytes(type));
    }
    findings.expect(owners == 1, 2, block);
  }
  if (rank == 0) findings.expect(!blocks.any_in_progress(blocks.moves()), 6, 0);
}

WARPHEAP_END_NAMESPACE
