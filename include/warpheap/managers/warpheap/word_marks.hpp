// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Words of the manager `warpheap` are marked when they are full, so that searches do not come back
/// to them; and found again when one of their slots is freed. `retire` and `forget` are out of
/// line, since most calls of `malloc` and `free` need neither.
template <warpheap_config Config>
class warpheap_word_marks {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;

  /// Takes a word in which the caller found no room from the list, unless it has room again;
  /// returns whether the caller has marked it.
  WARPHEAP_RARE static bool retire(const supply& in, std::uint32_t of, std::uint32_t chunk,
                                   std::uint32_t number) {
    const warpheap_slots shape = in.classes().slots(of);
    // Crowds of lanes come to what has just been taken away, so they look first. A look that is too
    // old leaves something in the list or the set, which others will find.
    if (in.listed().contains(chunk, number)) in.listed().unlist(chunk, number);
    const auto came = in.chunks().mark_full({chunk, number, chunk_owner::first_class + of, shape});
    const bool marked = came == chunks::mark::set;
    if (marked) in.classes().count_marked(of, 1);
    if (came == chunks::mark::not_full) in.list(chunk, number);
    forget(in, of, chunk);
    return marked;
  }
  /// Takes a chunk from its class's set of open chunks, unless a word of it is listed.
  WARPHEAP_RARE static void forget(const supply& in, std::uint32_t of, std::uint32_t chunk) {
    const warpheap_chunk_set open = in.classes().open(of);
    if (in.is_open(of, chunk) || !open.contains(chunk)) return;
    open.remove(chunk);
    if (in.is_open(of, chunk)) open.insert(chunk);  // what was listed before is seen now
  }
  /// Slots of a word were freed that was marked then. The first few are offered; if more follow,
  /// the whole word serves requests faster. With an empty pool all are: a listed word draws crowds.
  /// Inline, because near exhaustion it is what a free does (docs/decisions/0034).
  WARPHEAP_DEVICE static void find_again(const supply& in, std::uint32_t of, std::uint32_t chunk,
                                         std::uint32_t number, std::uint64_t before,
                                         std::uint64_t bits) {
    const std::uint64_t all = chunks::slots_in(in.classes().slots(of), number);
    const bool few = popcount(bits) == 1 && (in.whole().seems_dry() || in.eighths_left() == 0 ||
                                             popcount(all & ~(before & ~bits)) <= most_offered);
    if (few && in.offers().make(of, chunk * in.chunks().stride() + number)) return;
    // The mark was seen by a release: what the lane that set it did comes before what follows.
    simt::fence(simt::order::acquire);
    in.classes().count_unmarked(of, 1);
    if (in.chunks().unmark(chunk, number, chunk_owner::first_class + of)) {
      in.list(chunk, number);
    } else {
      in.classes().count_marked(of, 1);
    }
  }

 private:
  /// The number of free slots of a marked word that may be on offer.
  static constexpr int most_offered = 3;
};

WARPHEAP_END_NAMESPACE
