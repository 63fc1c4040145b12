// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of rw.hpp, bitmap_pages.hpp and rw_malloc.hpp, and counts what is
/// in use. While no lane allocates; lane `rank` of `count` looks at its share.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/managers/random_walk/unit_map.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// rw.hpp: a flag per page.
WARPHEAP_DEVICE inline void inspect_flags(const std::uint32_t* flags, const page_pool& pages,
                                          std::uint64_t rank, std::uint64_t count,
                                          inspection& findings) {
  std::uint64_t used = 0;
  for (std::uint64_t i = rank; i < pages.count(); i += count) {
    findings.expect(flags[i] <= 1, 1, i);
    used += flags[i];
  }
  findings.in_use(used, used * pages.page_bytes());
}

/// bitmap_pages.hpp: a bit per page. \param locks null without a lock map
template <std::unsigned_integral Word>
WARPHEAP_DEVICE void inspect_bits(const Word* used, const Word* locks, const page_pool& pages,
                                  std::uint64_t rank, std::uint64_t count, inspection& findings) {
  constexpr std::uint32_t width = sizeof(Word) * 8;
  const std::uint32_t words = ceil_div(pages.count(), width);
  std::uint64_t in_use = 0;
  for (std::uint64_t i = rank; i < words; i += count) {
    const Word none = bits_beyond<Word>(pages.count(), i);
    findings.expect((used[i] & none) == none, 1, i);
    in_use += static_cast<std::uint64_t>(popcount(static_cast<Word>(used[i] & ~none)));
  }
  if (locks != nullptr) {
    for (std::uint64_t i = rank; i < ceil_div(words, width); i += count) {
      findings.expect(locks[i] == 0, 2, i);
    }
  }
  findings.in_use(in_use, in_use * pages.page_bytes());
}

/// rw_malloc.hpp: the bitmaps of units.
template <class Units>
class unit_inspector {
 public:
  using word = typename Units::word;

  WARPHEAP_DEVICE explicit unit_inspector(const Units& units) : units_(units) {}

  /// The units of a word that are in use, and those of them that a run starts with.
  struct word_state {
    word used;
    word starts;
  };

  /// Looks at word `i`; checks I1 to I3.
  WARPHEAP_DEVICE word_state inspect(std::uint64_t i, inspection& findings) const {
    constexpr std::uint32_t width = Units::width;
    const word* const all = units_.used_;
    const word* const last = units_.last_;
    const word absent = units_.beyond(i);
    const word used = static_cast<word>(all[i] & ~absent);
    findings.expect((all[i] & absent) == absent, 1, i);
    findings.expect((last[i] & ~used) == 0, 2, i);
    // The unit behind each: of the next word for the highest bit, free beyond the end.
    const word next =
        i + 1 < units_.words() ? static_cast<word>(all[i + 1] & ~units_.beyond(i + 1)) : word{0};
    const word behind = static_cast<word>(used >> 1 | next << (width - 1));
    findings.expect((used & ~behind & ~last[i]) == 0, 3, i);
    const word before =
        i == 0 ? word{1} : static_cast<word>((last[i - 1] | ~all[i - 1]) >> (width - 1));
    return {used, static_cast<word>(used & ((last[i] | ~used) << 1 | before))};
  }

 private:
  const Units& units_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
