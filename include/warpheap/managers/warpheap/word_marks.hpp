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
  /// returns whether the caller has marked it, or no class has such a word now.
  WARPHEAP_RARE static bool retire(const supply& in, std::uint32_t of, std::uint32_t chunk,
                                   std::uint32_t number) {
    const warpheap_slots shape = in.classes().slots(of);
    // Crowds of lanes come to what has just been taken away, so they look first. A look that is too
    // old leaves something in the list or the set, which others will find.
    if (in.listed().contains(chunk, number)) in.listed().unlist(chunk, number);
    const auto came = in.chunks().mark_full({chunk, number, chunk_owner::first_class + of, shape});
    const bool marked = came == chunks::mark::set;
    if (marked) in.classes().count_marked(of, 1);
    const bool is_not_full = came == chunks::mark::not_full;
    const bool has_room = is_not_full && is_word(in, chunk, number);
    if (has_room) in.list(chunk, number);
    forget(in, of, chunk);
    return marked || (is_not_full && !has_room);
  }
  /// Takes a chunk from its class's set of open chunks, unless a word of it is listed; returns
  /// whether it was there and is not any more.
  WARPHEAP_RARE static bool forget(const supply& in, std::uint32_t of, std::uint32_t chunk) {
    const warpheap_chunk_set open = in.classes().open(of);
    if (in.is_open(of, chunk) || !open.contains(chunk)) return false;
    const bool removed = open.remove(chunk);
    if (!in.is_open(of, chunk)) return removed;
    open.insert(chunk);  // what was listed before is seen now
    return false;
  }
  /// Slots of a word were freed that was marked then. The first few are offered; if more follow,
  /// the whole word serves requests faster. If next to nothing is left of the heap, all are: a
  /// listed word draws crowds.
  /// Inline, because near exhaustion it is what a free does (docs/decisions/0034).
  WARPHEAP_DEVICE static void find_again(const supply& in, std::uint32_t of, std::uint32_t chunk,
                                         std::uint32_t number, std::uint64_t before,
                                         std::uint64_t bits) {
    const std::uint64_t all = chunks::slots_in(in.classes().slots(of), number);
    const bool few = popcount(bits) == 1 && (in.whole().seems_dry() || in.parts_left(of) < 8 ||
                                             popcount(all & ~(before & ~bits)) <= most_offered);
    if (few && in.offers().make(of, chunk * in.chunks().stride() + number)) return;
    unmark(in, of, chunk, number);
  }

 private:
  /// Whether the class that has the chunk now has such a word. A lane that is late may list a word
  /// for a class that has lost the chunk to one with fewer words. Such a word has no slots, so each
  /// search that draws it is in vain, and it must not be listed again.
  /// Relaxed: a lane that has unlisted a word after `list_all` has acquired who owns its chunk; one
  /// that did so before, or that has unlisted none, leaves nothing out.
  WARPHEAP_DEVICE static bool is_word(const supply& in, std::uint32_t chunk, std::uint32_t number) {
    const std::uint32_t owner = chunks::owner_of(in.chunks().look(chunk));
    return owner >= chunk_owner::first_class &&
           number < in.classes().slots(owner - chunk_owner::first_class).words;
  }
  /// Removes the mark of a word, and lists it, unless others have removed the mark. Lanes of a
  /// class that call together change the count of its unmarked words together, once before any of
  /// them removes a mark, and once for those that found it gone: in a launch that frees blocks all
  /// over a full heap, all lanes change that count (docs/decisions/0052). Waits for the lanes that
  /// call together: each makes one lock-free change, and waits for no lane outside.
  WARPHEAP_DEVICE static void unmark(const supply& in, std::uint32_t of, std::uint32_t chunk,
                                     std::uint32_t number) {
    const simt::group team = simt::coalesced(&in.whole());
    const simt::group same = team.match(of);
    if (same.is_leader()) {
      in.classes().count_unmarked(of, static_cast<std::uint32_t>(same.size()));
    }
    team.sync();  // what was counted comes before what members do
    const bool removed = in.chunks().unmark(chunk, number, chunk_owner::first_class + of);
    if (removed) in.list(chunk, number);
    team.sync();  // what members have acquired comes before what their leader counts
    const int gone = (team.ballot(!removed) & same.mask()).count();
    if (gone != 0 && same.is_leader()) {
      in.classes().count_marked(of, static_cast<std::uint32_t>(gone));
    }
    team.sync();
  }

  /// The number of free slots of a marked word that may be on offer.
  static constexpr int most_offered = 3;
};

WARPHEAP_END_NAMESPACE
