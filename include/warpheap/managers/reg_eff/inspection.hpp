// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered list invariants of managers/reg_eff/reg_eff.hpp, and counts what is in use.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/reg_eff/chunk_list.hpp"
#include "warpheap/managers/reg_eff/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// Lives for one call, while no lane allocates.
template <reg_eff_config Config>
class list_inspector {
 public:
  WARPHEAP_DEVICE list_inspector(const chunk_list<Config>& chunks, inspection& findings)
      : chunks_(chunks), findings_(findings) {}

  /// Checks I1 to I4. Lane `rank` of `count` looks at its share.
  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    const bitmap_tree free_set = chunks_.free_set();
    const std::uint64_t* const starts = chunks_.starts_;
    const std::uint32_t end = chunks_.end();
    free_set.check(rank, count, [&](std::uint64_t word) { findings_.expect(false, 4, word); });
    for (std::uint64_t word = rank; word < chunks_.words(); word += count) {
      const std::uint64_t free = free_set.peek_word(static_cast<std::uint32_t>(word));
      findings_.expect((free & ~starts[word]) == 0, 3, word * 64);
      for (std::uint64_t rest = starts[word]; rest != 0; rest &= rest - 1) {
        const auto chunk =
            static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest_bit(rest));
        if (chunk > end) {
          // Nothing lies behind the terminator.
          findings_.expect(false, 1, chunk);
          break;
        }
        const bool is_free = (free & list::bit_of(chunk)) != 0;
        const std::uint32_t next = chunk == end ? 0 : start_behind(chunk);
        findings_.expect(chunks_.next_of(chunk) == next, 1, chunk);
        findings_.expect(chunks_.is_kept(chunk) != is_free && !(is_free && chunk == end), 2, chunk);
        if (!is_free && chunk != end) {
          findings_.in_use(1, std::size_t{next - chunk} * Config.granule_bytes);
        }
      }
    }
    if (rank == 0) {
      findings_.expect((starts[0] & 1) != 0, 1, 0);
      findings_.expect((starts[end / 64] & list::bit_of(end)) != 0, 1, end);
    }
  }

 private:
  using list = chunk_list<Config>;

  /// The start behind `chunk`. There is one: the terminator.
  WARPHEAP_DEVICE std::uint32_t start_behind(std::uint32_t chunk) const {
    const std::uint64_t* const starts = chunks_.starts_;
    std::size_t word = chunk / 64;
    std::uint64_t bits = starts[word] & ~low_bits<std::uint64_t>(static_cast<int>(chunk % 64) + 1);
    while (bits == 0 && ++word < chunks_.words()) bits = starts[word];
    return bits == 0 ? chunks_.end()
                     : static_cast<std::uint32_t>(word * 64) +
                           static_cast<std::uint32_t>(lowest_bit(bits));
  }

  const list& chunks_;
  inspection& findings_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
