// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/ouroboros/ouroboros.hpp, and counts what is in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/ouroboros/chunk_table.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

/// Lives for one call, while no lane allocates.
template <class Map, class Items>
class inspector {
  using sizes = typename Map::sizes;

 public:
  WARPHEAP_DEVICE inspector(const Map& map, inspection& findings)
      : map_(map), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < map_.chunk_count(); i += count) {
      chunk(static_cast<std::uint32_t>(i));
    }
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      const auto queue = map_.queue(cls);
      // Wrong ends may be 2^64 entries apart; I4 and I6 report that.
      const std::uint64_t most = map_.all_amounts().room();
      const std::uint64_t entries = queue.size() < most ? queue.size() : most;
      for (std::uint64_t i = rank; i < entries; i += count) {
        Items(map_).inspect_entry(cls, queue.first() + i, findings_);
      }
    }
    for (std::uint64_t cls = rank; cls < sizes::classes; cls += count) {
      size_class(static_cast<std::uint32_t>(cls));
    }
    if (rank == 0) supply();
  }

 private:
  WARPHEAP_DEVICE void chunk(std::uint32_t number) const {
    const auto state = map_.table().get(number);
    if (state.kind() == chunk_kind::data) {
      // Bitmaps of classes that do not exist, or of runs that leave the heap, have no memory.
      const bool fits = state.cls() < sizes::classes &&
                        map_.chunk_count() - number >= 1u << sizes::span_log2(state.cls());
      findings_.expect(fits, 1, number);
      if (!fits) return;
      const std::uint32_t count = 1u << sizes::pages_log2(state.cls());
      findings_.expect(map_.table().free_bits(number, count) == state.free_pages(), 1, number);
      const std::uint64_t held = count - state.free_pages();
      findings_.in_use(held, held << sizes::page_log2(state.cls()));
      for (std::uint32_t i = 1; i < 1u << sizes::span_log2(state.cls()); ++i) {
        findings_.expect(map_.table().get(number + i).word() == chunk_state::tail(i).word(), 2,
                         number + i);
      }
    } else if (state.kind() == chunk_kind::tail) {
      findings_.expect(is_in_a_run(number, state.offset()), 2, number);
    }
    findings_.expect(map_.supply().is_free(number) == (state.kind() == chunk_kind::unused), 2,
                     number);
  }

  /// Whether a data chunk begins `offset` base chunks before, and reaches as far.
  WARPHEAP_DEVICE bool is_in_a_run(std::uint32_t number, std::uint32_t offset) const {
    if (offset > number) return false;
    const auto head = map_.table().get(number - offset);
    return head.kind() == chunk_kind::data && head.cls() < sizes::classes &&
           offset < 1u << sizes::span_log2(head.cls());
  }

  WARPHEAP_DEVICE void size_class(std::uint32_t cls) const {
    std::uint64_t free_pages = 0;
    std::uint64_t with_free = 0;
    std::int64_t whole = 0;
    for (std::uint32_t chunk = 0; chunk < map_.supply().touched(); ++chunk) {
      const auto state = map_.table().get(chunk);
      if (state.kind() != chunk_kind::data || state.cls() != cls) continue;
      free_pages += state.free_pages();
      with_free += state.free_pages() != 0 ? 1 : 0;
      whole += state.free_pages() == 1u << sizes::pages_log2(cls) ? 1 : 0;
    }
    const std::uint64_t entries = map_.queue(cls).size();
    const auto units = map_.units(cls).read();
    const std::uint64_t expected = Items::units_expected(free_pages, entries);
    findings_.expect(units.balance == 0 && units.count == static_cast<std::int64_t>(expected), 4,
                     cls);
    if constexpr (Map::pages) {
      constexpr bool shared = Map::virtualised;
      if (!shared || cls == 0) {
        std::uint64_t bound = map_.queue(cls).bound();
        for (std::uint32_t c = 1; shared && c < sizes::classes; ++c) bound += map_.queue(c).bound();
        const auto room = static_cast<std::uint64_t>(map_.page_queue(cls).room().read().count);
        findings_.expect(room + bound == map_.all_amounts().room(), 3, cls);
      }
    }
    const bool is_counted = Map::pages || map_.words(cls).whole == whole;
    findings_.expect(is_counted && entries == Items::entries_expected(with_free, entries), 6, cls);
  }

  WARPHEAP_DEVICE void supply() const {
    std::uint64_t data = 0;
    std::uint64_t queues = 0;
    for (std::uint32_t chunk = 0; chunk < map_.supply().touched(); ++chunk) {
      const chunk_kind kind = map_.table().get(chunk).kind();
      data += kind == chunk_kind::data || kind == chunk_kind::tail ? 1 : 0;
      queues += kind == chunk_kind::queue ? 1 : 0;
    }
    const auto left = map_.supply().left().read();
    const std::uint64_t for_data = map_.chunk_count() - map_.for_queues();
    findings_.expect(left.count >= 0 && left.balance == 0 &&
                         static_cast<std::uint64_t>(left.count) + data == for_data &&
                         queues <= map_.for_queues(),
                     7, static_cast<std::uint64_t>(left.count));
  }

  const Map& map_;
  inspection& findings_;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
