// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/warpheap/warpheap.hpp, and counts what is in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call, while no lane allocates.
template <warpheap_config Config>
class warpheap_inspector {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;
  using classes = typename supply::classes_type;

  WARPHEAP_DEVICE warpheap_inspector(const supply& of, inspection& findings)
      : supply_(of), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    // Chunks beyond the universe have no words.
    if (supply_.backed() > supply_.universe()) {
      return findings_.expect(false, 2, supply_.backed());
    }
    const auto wrong = [this](std::uint64_t word) { findings_.expect(false, 1, word); };
    supply_.pool().check(rank, count, wrong);
    supply_.empties().check(rank, count, wrong);
    for (std::uint64_t i = rank; i < supply_.universe(); i += count) {
      const auto c = static_cast<std::uint32_t>(i);
      i < supply_.backed() ? chunk(c) : reserved(c);
    }
    const std::uint32_t all = supply_.classes().sizes().count();
    for (std::uint32_t of = 0; of < all; ++of) supply_.classes().open(of).check(rank, count, wrong);
    for (std::uint64_t i = rank; i < all; i += count) {
      size_class(static_cast<std::uint32_t>(i));
    }
    if (rank == 0) {
      const bool idle = static_cast<std::uint32_t>(supply_.whole().claims) == 0;
      findings_.expect(idle && !supply_.whole().is_moving(), 7, all);
      const std::uint64_t to_come = supply_.universe() - supply_.backed();
      findings_.bytes_reserved = to_come << supply_.classes().sizes().chunk_shift();
    }
  }

 private:
  WARPHEAP_DEVICE std::uint32_t owner(std::uint32_t chunk) const {
    return chunks::owner_of(supply_.chunks().look(chunk));
  }

  /// Whether a chunk that is there is nobody's although it is not in the pool.
  WARPHEAP_DEVICE bool is_inside(std::uint32_t chunk) const {
    return owner(chunk) == chunk_owner::nobody && !supply_.pool().contains(chunk);
  }

  WARPHEAP_DEVICE void reserved(std::uint32_t c) const {
    const bool known = supply_.pool().contains(c) || supply_.empties().contains(c);
    findings_.expect(!known && owner(c) == chunk_owner::nobody, 2, c);
  }

  WARPHEAP_DEVICE void chunk(std::uint32_t c) const {
    const std::uint32_t whose = owner(c);
    findings_.expect(whose == chunk_owner::nobody || !supply_.pool().contains(c), 2, c);
    if (whose >= chunk_owner::first_class) {
      chunk_of_class(c, whose);
    } else {
      for (std::uint32_t i = 0; i < supply_.chunks().stride(); ++i) {
        findings_.expect(supply_.chunks().word(c, i) == 0, 3, c);
      }
    }
    // Together with what `run_from` finds behind a run, that shows that each is inside one.
    if (is_inside(c)) {
      findings_.expect(c != 0 && (owner(c - 1) == chunk_owner::run || is_inside(c - 1)), 6, c);
    }
    if (whose == chunk_owner::run) run_from(c);
  }

  WARPHEAP_DEVICE void run_from(std::uint32_t first) const {
    const std::uint32_t length = supply_.run_length(first);
    const bool fits = length != 0 && length <= supply_.backed() - first;
    findings_.expect(fits, 6, first);
    if (!fits) return;
    for (std::uint32_t i = 1; i < length; ++i) {
      findings_.expect(is_inside(first + i), 6, first + i);
    }
    const std::uint32_t behind = first + length;
    findings_.expect(behind == supply_.backed() || !is_inside(behind), 6, behind);
    findings_.in_use(1, std::uint64_t{length} << supply_.classes().sizes().chunk_shift());
  }

  WARPHEAP_DEVICE void chunk_of_class(std::uint32_t c, std::uint32_t whose) const {
    const std::uint32_t of = whose - chunk_owner::first_class;
    // Classes that there are not have no words.
    if (of >= supply_.classes().sizes().count()) return findings_.expect(false, 3, c);
    const warpheap_slots slots = supply_.classes().shape(of);
    const std::uint32_t state = supply_.chunks().look(c);
    std::uint32_t used = 0;
    std::uint32_t words = 0;
    bool has_room = false;
    for (std::uint32_t i = 0; i < slots.words; ++i) {
      const std::uint64_t word = supply_.chunks().word(c, i);
      const std::uint64_t bits = chunks::used_of(word);
      const std::uint64_t all = chunks::slots_in(slots, i);
      findings_.expect(chunks::is_of(word, whose) && (bits & ~all) == 0, 3, c);
      const bool room = bits != all && !chunks::is_marked(word);
      findings_.expect(!room || supply_.listed().contains(c, i), 4, c);
      has_room = has_room || room;
      used += static_cast<std::uint32_t>(popcount(bits));
      words += bits != 0 ? 1 : 0;
    }
    findings_.in_use(used, std::uint64_t{used} * slots.bytes);
    findings_.expect(!has_room || supply_.classes().open(of).contains(c), 4, c);
    findings_.expect(chunks::words_in_use(state) == words && (state & chunks::closing) == 0, 5, c);
    findings_.expect(used != 0 || supply_.empties().contains(c), 5, c);
  }

  /// One lane counts for a class, so not in heaps where that takes long.
  static constexpr std::uint64_t most_counted = std::uint64_t{1} << 19;

  WARPHEAP_DEVICE void size_class(std::uint32_t of) const {
    const warpheap_slots slots = supply_.classes().shape(of);
    const warpheap_slots told = supply_.classes().slots(of);
    findings_.expect(told.bytes == slots.bytes && told.count == slots.count &&
                         told.words == slots.words && told.per_word == slots.per_word,
                     8, of);
    const auto& known = supply_.classes().of(of);
    findings_.expect(known.divisors.by_bytes == short_divisor::of(slots.bytes) &&
                         known.turns.by_words == short_divisor::of(slots.words) &&
                         known.divisors.by_per_word == short_divisor::of(slots.per_word),
                     8, of);
    findings_.expect(
        known.turns.growing == 0 && known.searching == 0 && supply_.orders().coming(of) == 0, 7,
        of);
    if (std::uint64_t{supply_.backed()} * supply_.chunks().stride() > most_counted) return;
    std::uint32_t unmarked = 0;
    int hidden = 0;
    for (std::uint32_t c = 0; c < supply_.backed(); ++c) {
      if (owner(c) != chunk_owner::first_class + of) continue;
      for (std::uint32_t i = 0; i < slots.words; ++i) {
        const std::uint64_t word = supply_.chunks().word(c, i);
        if (chunks::is_marked(word)) {
          hidden += popcount(chunks::slots_in(slots, i) & ~chunks::used_of(word));
        } else {
          ++unmarked;
        }
      }
    }
    const int offered = supply_.offers().examine(of, supply_.backed() * supply_.chunks().stride());
    findings_.expect(offered >= hidden, 8, of);
    findings_.expect(static_cast<std::uint32_t>(known.unmarked) == unmarked, 8, of);
  }

  const supply& supply_;
  inspection& findings_;
};

WARPHEAP_END_NAMESPACE
