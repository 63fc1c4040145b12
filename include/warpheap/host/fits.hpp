// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "warpheap/host/bitmask_store.hpp"
#include "warpheap/host/hal_store.hpp"
#include "warpheap/host/hash_store.hpp"

namespace warpheap::host {

/// Where a piece of `bytes` bytes goes in a free block: its lowest aligned address, or nowhere.
constexpr extent place_in(extent free, std::size_t bytes, std::size_t alignment) {
  const address base = align_up<address>(free.base, alignment);
  const std::size_t lost = base - free.base;
  return lost <= free.bytes && free.bytes - lost >= bytes ? extent{base, bytes} : extent{};
}

/// The lowest free block that is large enough.
struct first_fit {
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    auto where = store.first();
    while (where && !place_in(store.at(where), bytes, alignment)) where = store.after(where);
    return where;
  }
  void taken(extent) {}
};

/// The smallest free block that is large enough, the lowest one of equals. An exact fit ends the
/// search (host-based paper, algorithm 3 with its corrections).
struct best_fit {
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    typename Store::cursor best{};
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (auto where = store.first(); where && least != bytes; where = store.after(where)) {
      const extent free = store.at(where);
      if (free.bytes < least && place_in(free, bytes, alignment)) {
        best = where;
        least = free.bytes;
      }
    }
    return best;
  }
  void taken(extent) {}
};

/// The first free block that is large enough at or after the end of the block that was handed out
/// last, and from the start when there is none. The place is kept as an address: no merge or split
/// invalidates it.
class next_fit {
 public:
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    for (auto where = store.from(resume_); where; where = store.after(where)) {
      if (place_in(store.at(where), bytes, alignment)) return where;
    }
    for (auto where = store.first(); where && store.at(where).end() <= resume_;
         where = store.after(where)) {
      if (place_in(store.at(where), bytes, alignment)) return where;
    }
    return {};
  }
  void taken(extent piece) { resume_ = piece.end(); }

 private:
  address resume_ = 0;
};

/// The sequential fits of the host-based paper (O. Bell, A. Kumar, C. Gill, arXiv:2405.07079, 2024,
/// section IV): a rule `Fit` that chooses among the free blocks, over a `Store` that keeps them.
/// The stores visit free blocks in the same order, so a fit gives the same addresses over each of
/// them.
///
/// Invariants: those of the store. Complexity: allocate O(free blocks) steps of the store; give
/// back as the store says.
template <class Fit, class Store>
class fit_policy {
 public:
  static constexpr bool truncates = true;
  static constexpr bool aligns = true;

  static constexpr std::size_t region_for(std::size_t bytes) { return bytes; }

  explicit fit_policy(policy_options options) : granule_(options.granule_bytes), store_(options) {}

  void add_region(extent region) { store_.add_region(region); }
  void remove_region(address base) { store_.remove_region(base); }
  bool region_is_free(address base) const { return store_.region_is_free(base); }
  std::size_t free_at_end(address base) const { return store_.free_at_end(base); }
  void extend_region(address base, std::size_t bytes) { store_.extend_region(base, bytes); }

  extent allocate(std::size_t bytes, std::size_t alignment, effort) {
    if (!store_.has_room()) return {};
    const std::size_t size = align_up(bytes, granule_);
    const auto where = fit_.choose(store_, size, alignment);
    if (!where) return {};
    const extent piece = place_in(store_.at(where), size, alignment);
    store_.take(where, piece);
    fit_.taken(piece);
    return piece;
  }

  std::size_t deallocate(address base) { return store_.give_back(base); }

  std::size_t truncate(address base, std::size_t bytes) {
    const extent block = store_.block_at(base);
    const std::size_t keep = align_up(bytes, granule_);
    if (keep >= block.bytes) return 0;
    store_.truncate(block, keep);
    return block.bytes - keep;
  }

  extent block_at(address base) const { return store_.block_at(base); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    store_.for_each_block(visit);
  }

  std::optional<std::string> check() const { return store_.check(); }

 private:
  std::size_t granule_;
  Store store_;
  Fit fit_;
};

static_assert(placement_policy<fit_policy<first_fit, hal_store<>>> &&
              placement_policy<fit_policy<best_fit, bitmask_store>> &&
              placement_policy<fit_policy<next_fit, hash_store>>);

}  // namespace warpheap::host
