// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Chains of pages that all lanes of a grid append to, as a radix pass needs: `page_chain` is for
/// one lane or team at a time.
///
/// The word `tails[c]` is the address of the chain's last page (a multiple of 16, in 44 bits) and
/// the number of rows asked of it (20 bits), so one addition reserves places for a group of lanes:
///
///     tail -> [ page before | rows ... ] -> [ page before | rows ... ] -> 0
///
/// I1: a chain without pages has the tail {0, capacity}: the first append finds a full page.
/// I2: a page is never freed while its chain grows, so an address in the tail does not come back.
/// I3: all pages but the last are full, the last one holds `min(fill, capacity)` rows.
/// I4: between launches `fill <= capacity`, unless a page was missing; then it is `capacity`.
///
/// The reservation that crosses the page's end belongs to one group, which alone takes the next
/// page; those behind it wait until it has. It holds nothing meanwhile but that duty, and a malloc
/// is bounded, so the wait is.

#include "bench/workloads/group_by/request.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::group_by {

struct row_page {
  std::uint64_t before;

  WARPHEAP_HD bench::keyed_row* rows() { return reinterpret_cast<bench::keyed_row*>(this + 1); }
};

struct chain_tail {
  static constexpr int fill_bits = 20;
  static constexpr std::uint64_t fill_mask = (std::uint64_t{1} << fill_bits) - 1;
  static constexpr std::uint64_t page_unit = 16;

  std::uint64_t word;

  WARPHEAP_HD static constexpr chain_tail of(std::uint64_t page, std::uint64_t fill) {
    return {page / page_unit << fill_bits | fill};
  }
  WARPHEAP_HD constexpr std::uint64_t page() const { return (word >> fill_bits) * page_unit; }
  WARPHEAP_HD constexpr std::uint32_t fill() const {
    return static_cast<std::uint32_t>(word & fill_mask);
  }
};

/// Rows of a page. With pages of 1 MiB at most, each lane of the largest GPU can have a reservation
/// that waits, and `fill` still has room for them.
WARPHEAP_HD constexpr std::uint32_t capacity_of(const bench::row_chains& chains) {
  return static_cast<std::uint32_t>((chains.page_bytes - sizeof(row_page)) /
                                    sizeof(bench::keyed_row));
}

/// How many rows of a page of this chain are there, between launches.
WARPHEAP_DEVICE inline std::uint32_t rows_in(const bench::row_chains& chains, std::uint64_t page,
                                             std::uint64_t chain) {
  const chain_tail tail{chains.tails[chain]};
  const std::uint32_t capacity = capacity_of(chains);
  return tail.page() == page && tail.fill() < capacity ? tail.fill() : capacity;
}

/// Takes the next page behind `before` for a chain; null if there is none.
template <class Heap>
WARPHEAP_DEVICE row_page* take_page(const Heap& heap, const bench::row_chains& into,
                                    std::uint64_t chain, std::uint64_t before) {
  auto* const page = static_cast<row_page*>(heap.malloc(into.page_bytes));
  if (page == nullptr) return nullptr;
  page->before = before;
  // Relaxed: pages are looked at after the launch.
  const std::uint64_t place =
      simt::atomic_ref(*into.page_count).fetch_add(std::uint64_t{1}, simt::order::relaxed);
  into.pages[place] = {reinterpret_cast<std::uint64_t>(page), chain};
  return page;
}

/// Appends a row to a chain. Any lanes call it, with the same chains or others. False, and the row
/// is nowhere, if there is no memory.
template <class Heap>
WARPHEAP_DEVICE bool append(const Heap& heap, const bench::row_chains& into, std::uint64_t chain,
                            const bench::keyed_row& row) {
  const simt::atomic_ref<std::uint64_t> tail(into.tails[chain]);
  const std::uint32_t capacity = capacity_of(into);
  // Ends: a round that places nothing has waited for a page, or for the word that there is none,
  // which every group answers with one request of its own.
  for (;;) {
    // Formed anew each round: nothing says that the lanes of the last one run together again.
    const simt::group together = simt::coalesced().match(chain);
    const auto size = static_cast<std::uint32_t>(together.size());
    std::uint64_t seen = 0;
    // Acquire: the page's address comes from the exchange below. Release: the next grower links it.
    if (together.is_leader()) seen = tail.fetch_add(std::uint64_t{size}, simt::order::acq_rel);
    together
        .sync();  // a broadcast orders nothing: what the leader has acquired is the members' too
    const chain_tail before{together.broadcast(seen)};
    const std::uint32_t mine = before.fill() + static_cast<std::uint32_t>(together.rank());
    if (mine < capacity) reinterpret_cast<row_page*>(before.page())->rows()[mine] = row;
    if (before.fill() > capacity) {
      // Ends: the group that crossed the page's end replaces the tail, with a page or without.
      for (;;) {
        const chain_tail now{tail.load(simt::order::acquire)};
        if (now.page() != before.page() || now.fill() <= capacity) break;
        simt::backoff(100);
      }
      continue;
    }
    if (before.fill() + size <= capacity) return true;
    std::uint64_t address = 0;
    std::uint32_t room = before.fill() + size - capacity;
    if (room > capacity) room = capacity;
    if (together.is_leader()) {
      address = reinterpret_cast<std::uint64_t>(take_page(heap, into, chain, before.page()));
      const chain_tail next =
          address == 0 ? chain_tail::of(before.page(), capacity) : chain_tail::of(address, room);
      // Release: who sees the page sees its link; rows are read after the launch.
      tail.exchange(next.word, simt::order::acq_rel);
    }
    together.sync();  // as above, for the page that the leader has from the heap
    address = together.broadcast(address);
    if (mine < capacity) return true;
    if (address == 0) return false;
    if (mine - capacity < room) {
      reinterpret_cast<row_page*>(address)->rows()[mine - capacity] = row;
      return true;
    }
  }
}

}  // namespace lanes::group_by
WARPHEAP_END_NAMESPACE
