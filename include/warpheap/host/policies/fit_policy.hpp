// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/host/policies/policy.hpp"

namespace warpheap::host {

/// Where a piece of `bytes` bytes goes in a free block: its lowest aligned address, or nowhere.
constexpr extent place_in(extent free, std::size_t bytes, std::size_t alignment) {
  const address base = align_up(free.base, alignment);
  const std::size_t lost = base - free.base;
  return lost <= free.bytes && free.bytes - lost >= bytes ? extent{base, bytes} : extent{};
}

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
    if (!store_.make_room()) return {};
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

}  // namespace warpheap::host
