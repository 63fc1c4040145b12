// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of fdg_malloc.hpp. Counts open warp heaps as blocks, and the
/// bytes of the SuperBlocks that they have.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/fdg_malloc/superblocks.hpp"
#include "warpheap/managers/fdg_malloc/warp_headers.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call, while no lane allocates.
class fdg_inspector {
 public:
  WARPHEAP_DEVICE fdg_inspector(const fdg_superblocks& superblocks, const fdg_headers& headers,
                                int superblock_shift, inspection& findings)
      : superblocks_(superblocks),
        headers_(headers),
        superblock_shift_(superblock_shift),
        findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    const auto wrong_word = [this](std::uint64_t word) { findings_.expect(false, 1, word); };
    superblocks_.free_ones().check(rank, count, wrong_word);
    headers_.free_ones().check(rank, count, wrong_word);
    if (rank == 0) findings_.expect(superblocks_.idle(), 7, 0);
    for (std::uint64_t i = rank; i < superblocks_.count(); i += count) {
      superblock(static_cast<std::uint32_t>(i));
    }
    for (std::uint64_t i = rank; i < headers_.count(); i += count) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      if (headers_.is_open(number)) warp_heap(number);
    }
  }

 private:
  WARPHEAP_DEVICE void superblock(std::uint32_t s) const {
    const fdg_piece& piece = superblocks_.piece(s);
    if (piece.length == 0) {
      // In use without a piece that begins here: in one that began before. That the SuperBlock
      // before it is in use, too, is enough, as pieces see to what comes behind them.
      findings_.expect(is_free(s) || (s != 0 && !is_free(s - 1)), 2, s);
      return;
    }
    const std::uint32_t left = superblocks_.count() - s;
    findings_.expect(piece.length <= left && !is_free(s), 2, s);
    if (piece.length > left) return;
    for (std::uint32_t i = s + 1; i < s + piece.length; ++i) {
      findings_.expect(!is_free(i) && superblocks_.piece(i).length == 0, 2, s);
    }
    const std::uint32_t behind = s + piece.length;
    findings_.expect(
        behind == superblocks_.count() || is_free(behind) || superblocks_.piece(behind).length != 0,
        2, behind);
    findings_.expect(
        piece.owner != 0 && piece.owner <= headers_.count() && headers_.is_open(piece.owner), 6, s);
  }

  WARPHEAP_DEVICE bool is_free(std::uint32_t s) const {
    return superblocks_.free_ones().contains(s);
  }

  WARPHEAP_DEVICE void warp_heap(std::uint32_t number) const {
    const fdg_header& header = headers_.at(number);
    const std::uint64_t place = number - 1;
    const fdg_bump bump = fdg_bump::of(header.bump);
    bool has_current = !bump.is_set();
    std::uint64_t length = 0;
    std::uint32_t listed = 0;
    std::uint32_t next = header.newest;
    for (; next != 0 && listed < header.pieces; ++listed) {
      if (next > superblocks_.count()) break;
      const fdg_piece& piece = superblocks_.piece(next - 1);
      findings_.expect(piece.length != 0 && piece.owner == number, 3, place);
      has_current = has_current || (bump.superblock == next - 1 && piece.length == 1);
      length += piece.length;
      next = piece.next;
    }
    findings_.expect(next == 0 && listed == header.pieces, 3, place);
    const bool fits = std::uint64_t{bump.used} * 16 <= 1ull << superblock_shift_;
    findings_.expect(has_current && fits && !bump.is_replaced, 4, place);
    const fdg_phase phase = fdg_phase::of(header.phase);
    findings_.expect(phase.arrived < phase.participants && phase.participants <= simt::warp_size, 5,
                     place);
    findings_.in_use(1, length << superblock_shift_);
  }

  const fdg_superblocks& superblocks_;
  const fdg_headers& headers_;
  int superblock_shift_;
  inspection& findings_;
};

WARPHEAP_END_NAMESPACE
