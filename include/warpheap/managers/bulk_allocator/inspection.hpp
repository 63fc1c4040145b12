// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/bulk_allocator/bulk_allocator.hpp, and counts what is
/// in use.

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/bulk_allocator/arenas.hpp"
#include "warpheap/managers/bulk_allocator/geometry.hpp"
#include "warpheap/managers/bulk_allocator/slab_table.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

/// Lives for one call, while no lane allocates.
template <bulk_allocator_config Config>
class inspector {
 public:
  using sizes = geometry<Config>;
  using arenas_type = arenas<Config>;

  WARPHEAP_DEVICE inspector(const arenas_type& of, inspection& findings)
      : of_(of), buddy_(of.buddy()), table_(of.table()), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    for (int order = 0; order <= buddy_.top(); ++order) {
      // A tree whose words are elsewhere cannot be checked.
      if (!buddy_.words_in_place(order)) {
        return findings_.expect(false, 4, static_cast<std::uint64_t>(order));
      }
    }
    for (int order = 0; order <= buddy_.top(); ++order) {
      tree(order, rank, count);
    }
    of_.reclaims().slabs().check(rank, count,
                                 [this](std::uint64_t word) { findings_.expect(false, 4, word); });
    for (std::uint64_t page = rank; page < buddy_.pages(); page += count) {
      this->page(static_cast<std::uint32_t>(page));
    }
    for (std::uint64_t list = rank; list < of_.lists().count(); list += count) {
      this->list(static_cast<std::uint32_t>(list));
    }
    if (rank == 0) findings_.expect(!of_.is_reclaiming(), 9, 0);
  }

 private:
  WARPHEAP_DEVICE void tree(int order, std::uint64_t rank, std::uint64_t count) const {
    const auto wrong_word = [this](std::uint64_t word) { findings_.expect(false, 4, word); };
    buddy_.nodes(order).check(rank, count, wrong_word);
    buddy_.pairs(order).check(rank, count, wrong_word);
    if (rank == 0) {
      std::int64_t available = 0;
      for (std::uint32_t word = 0; word < buddy_.nodes(order).leaf_words(); ++word) {
        available += popcount(buddy_.nodes(order).load_word(word));
      }
      const auto units = buddy_.units(order).read();
      findings_.expect(units.count == available && units.balance == 0, 2,
                       static_cast<std::uint64_t>(order));
    }
    for (std::uint64_t node = 2 * rank; node + 1 < buddy_.nodes_of(order); node += 2 * count) {
      const auto left = static_cast<std::uint32_t>(node);
      const bool both =
          buddy_.nodes(order).contains(left) && buddy_.nodes(order).contains(left + 1);
      findings_.expect(!both || buddy_.pairs(order).contains(left / 2), 3, left / 2);
    }
  }

  WARPHEAP_DEVICE void page(std::uint32_t page) const {
    findings_.expect(owners(page) == 1, 1, page);
    const page_state state = table_.state(page);
    if (state.is_large_block()) {
      // A block of another order belongs to nothing: I1.
      if (state.order() > buddy_.top()) return;
      findings_.in_use(1, std::uint64_t{Config.page_bytes} << state.order());
    } else if (state.is_slab()) {
      slab(page, state);
    } else {
      findings_.expect(table_.previous(page).load(simt::order::relaxed) == slab_table::unlinked, 7,
                       page);
    }
  }

  /// Nodes, large blocks and chunks that the page is a part of.
  WARPHEAP_DEVICE int owners(std::uint32_t page) const {
    int owners = 0;
    for (int order = 0; order <= buddy_.top(); ++order) {
      const std::uint32_t node = page >> order;
      if (node >= buddy_.nodes_of(order)) break;
      if (buddy_.nodes(order).contains(node)) ++owners;
      const page_state state = table_.state(node << order);
      if (state.is_large_block() && state.order() == order) ++owners;
      if (order == Config.chunk_log2 && is_chunk(node << order)) ++owners;
    }
    return owners;
  }

  WARPHEAP_DEVICE bool is_chunk(std::uint32_t page) const {
    const page_state state = table_.state(page);
    return state.is_slab() && arenas_type::is_of_chunks(state.list()) &&
           sizes::chunk_of(page) == page;
  }

  WARPHEAP_DEVICE void slab(std::uint32_t page, page_state state) const {
    const std::uint32_t list = state.list();
    findings_.expect(list < of_.lists().count(), 7, page);
    if (list >= of_.lists().count()) return;
    const std::uint32_t items = arenas_type::items_of(list);
    findings_.expect(
        table_.count_free(page, items) == state.count() && table_.map_is_closed(page, items), 6,
        page);
    const bool must_be_noted = state.count() == items || state.is_noted();
    findings_.expect(!must_be_noted || of_.reclaims().slabs().contains(page), 10, page);
    const bool linked = table_.previous(page).load(simt::order::relaxed) != slab_table::unlinked;
    findings_.expect(linked == (state.count() != 0), 7, page);
    if (arenas_type::is_of_chunks(list)) {
      const bool fits = is_chunk(page) && page + sizes::chunk_pages <= buddy_.pages();
      findings_.expect(fits, 8, page);
      if (!fits) return;
      for (std::uint32_t i = 0; i < sizes::regular_bins; ++i) {
        const std::uint32_t bin = page + sizes::special_bins + i;
        findings_.expect(is_bin_of(bin, list) == table_.is_claimed(page, i), 8, bin);
      }
    } else {
      findings_.expect(is_chunk(sizes::chunk_of(page)), 8, page);
      const std::uint64_t used = items - state.count();
      findings_.in_use(used, used << sizes::block_shift(list % arenas_type::lists_each));
    }
  }

  WARPHEAP_DEVICE bool is_bin_of(std::uint32_t page, std::uint32_t chunks) const {
    const page_state state = table_.state(page);
    return state.is_slab() && !arenas_type::is_of_chunks(state.list()) &&
           state.list() / arenas_type::lists_each == chunks / arenas_type::lists_each;
  }

  WARPHEAP_DEVICE void list(std::uint32_t list) const {
    std::int64_t free = 0;
    std::uint32_t before = slab_table::first;
    std::uint32_t slab = of_.lists().head(list).load(simt::order::relaxed);
    // Also ends for a ring, which is an error.
    for (std::uint32_t i = 0; slab != slab_table::none && i <= buddy_.pages(); ++i) {
      const bool fits = slab < buddy_.pages() && table_.state(slab).is_slab_of(list) &&
                        table_.previous(slab).load(simt::order::relaxed) == before;
      findings_.expect(fits, 7, list);
      if (!fits) return;
      free += table_.state(slab).count();
      before = slab;
      slab = table_.next(slab).load(simt::order::relaxed);
    }
    const auto units = of_.lists().units(list).read();
    findings_.expect(units.count == free && units.balance == 0 && !of_.lists().is_locked(list), 5,
                     list);
  }

  const arenas_type& of_;
  const buddy_tree& buddy_;
  const slab_table& table_;
  inspection& findings_;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
