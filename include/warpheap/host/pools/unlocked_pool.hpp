// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/pools/held_regions.hpp"
#include "warpheap/host/pools/pool_stats.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// A placement policy together with memory: places blocks, knows them by their addresses, and grows
/// by regions when it has no room. For one thread at a time and one stream; `stream_pool` adds more
/// of both.
template <placement_policy Policy>
class unlocked_pool {
 public:
  /// \throws invalid_argument for an option out of range, out_of_memory if the upstream does not
  /// have `initial_bytes`
  unlocked_pool(std::shared_ptr<upstream> source, pool_options options)
      : granule_(checked(options).granule_bytes),
        policy_(policy_options{granule_}),
        regions_(policy_, std::move(source), options) {}

  unlocked_pool(const unlocked_pool&) = delete;
  unlocked_pool& operator=(const unlocked_pool&) = delete;

  /// A block of at least `bytes` bytes at a multiple of `alignment`; nothing if the regions have no
  /// room for it.
  /// \pre `bytes != 0`, `alignment` is a power of two
  extent allocate(std::size_t bytes, std::size_t alignment) {
    return place(bytes, alignment, effort::bounded);
  }

  /// The same with a thorough search, then with a further region.
  /// \param most_held the bytes up to which it may grow, if that is below the limit
  extent allocate_or_grow(std::size_t bytes, std::size_t alignment,
                          std::size_t most_held = held_regions<Policy>::no_limit) {
    if (extent block = place(bytes, alignment, effort::thorough)) return block;
    if (is_impossible(bytes, alignment)) return {};
    return regions_.grow(region_for(bytes, alignment), most_held)
               ? place(bytes, alignment, effort::thorough)
               : extent{};
  }

  /// The same, but where `most_held` or the upstream does not allow more memory, it grows by pages
  /// of its own holes. \pre no stream uses free memory. O(blocks)
  extent allocate_by_moving_pages(std::size_t bytes, std::size_t alignment, std::size_t most_held) {
    if (is_impossible(bytes, alignment)) return {};
    return regions_.grow_by_moving_pages(region_for(bytes, alignment), most_held)
               ? place(bytes, alignment, effort::thorough)
               : extent{};
  }

  /// Whether `allocate_by_moving_pages` finds enough pages in holes, if the upstream has the rest.
  /// O(blocks)
  bool has_pages_for(std::size_t bytes, std::size_t alignment, std::size_t most_held) const {
    return !is_impossible(bytes, alignment) &&
           regions_.has_pages_for(region_for(bytes, alignment), most_held);
  }

  /// Whether so few pages have moved in this many requests that more may move.
  bool may_move(std::uint64_t requests) const { return regions_.may_move(requests); }

  /// Whether holes contain pages that could move. O(blocks)
  bool has_movable_pages() const { return regions_.has_movable_pages(); }

  /// The number of bytes that may be held before pages move, if at most `peak_bytes` were in use at
  /// once.
  std::size_t most_held_for(std::size_t peak_bytes) const {
    return regions_.most_held_for(peak_bytes);
  }

  /// Takes back a block and returns its size; 0 if no block handed out starts at `base`.
  std::size_t deallocate(address base) {
    return policy_.deallocate(has_aliases() ? own_block(base).base : base);
  }

  /// The policy's own block that contains the one handed out at `base`, whose address is forgotten:
  /// from now on, the block is known by its own address. Its size is what the block really takes.
  /// An empty extent if no block handed out starts at `base`.
  [[gnu::noinline]] extent own_block(address base) {
    if (!has_aliases()) return policy_.block_at(base);
    if (hidden_.contains(base)) return {};
    const auto alias = aliases_.find(base);
    if (alias == aliases_.end()) return policy_.block_at(base);
    const address own = alias->second;
    aliases_.erase(alias);
    hidden_.erase(own);
    return policy_.block_at(own);
  }

  /// The same for a block as `block_at` returned it.
  extent own_block(extent known) { return has_aliases() ? own_block(known.base) : known; }

  /// Keeps the first `bytes` bytes of a block, rounded up to a granule. Returns the bytes taken
  /// back. \pre a block handed out starts at `base`; \throws invalid_argument if the policy's
  /// blocks cannot be cut
  std::size_t truncate(address base, std::size_t bytes) {
    if (!Policy::truncates) {
      throw invalid_argument("the block at " + to_text(base) + " cannot be cut to " +
                             std::to_string(bytes) + " bytes: this pool's blocks cannot be cut");
    }
    return policy_.truncate(base, bytes);
  }

  /// The block handed out that starts at `base`, or nothing.
  extent block_at(address base) const {
    if (!has_aliases()) return policy_.block_at(base);
    if (hidden_.contains(base)) return {};
    const auto alias = aliases_.find(base);
    if (alias == aliases_.end()) return policy_.block_at(base);
    return {base, policy_.block_at(alias->second).end() - base};
  }

  /// Gives back memory as long as more than `keep_bytes` bytes stay held: regions without a block
  /// in use, then, if the upstream has pages, whole pages of holes. Returns the bytes given back.
  /// O(regions), O(blocks) with pages
  std::size_t trim(std::size_t keep_bytes) { return regions_.trim(keep_bytes); }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    policy_.for_each_block(visit);
  }

  /// Whether a region has no block in use. O(regions)
  bool has_unused_region() const { return regions_.has_unused_region(); }

  std::size_t granule() const { return granule_; }

  std::optional<std::string> check() const { return policy_.check(); }

  /// Adds what the pool knows: regions and the memory that is held.
  void add_to(pool_stats& stats) const { regions_.add_to(stats); }

 private:
  // Sizes beyond any address space would overflow the policies' arithmetic.
  static bool is_impossible(std::size_t bytes, std::size_t alignment) {
    return (bytes | alignment) >> 46 != 0;
  }

  // Only a policy that cannot align hands out addresses inside its blocks.
  bool has_aliases() const { return !Policy::aligns && !aliases_.empty(); }

  extent place(std::size_t bytes, std::size_t alignment, effort how) {
    if (is_impossible(bytes, alignment)) return {};
    if (Policy::aligns || alignment <= granule_) {
      return policy_.allocate(bytes, alignment, how);
    }
    return place_inside(bytes, alignment, how);
  }

  // For a policy that cannot align: a larger block, and an aligned address within it.
  [[gnu::noinline]] extent place_inside(std::size_t bytes, std::size_t alignment, effort how) {
    const extent block = policy_.allocate(bytes + alignment - granule_, 1, how);
    if (!block) return {};
    const address base = align_up(block.base, alignment);
    if (base != block.base) hide(block.base, base);
    return {base, block.bytes};
  }
  // Hands out the policy's block `own` at `base` alone. If the process has no memory for the two
  // records, the block goes back. \throws std::bad_alloc
  void hide(address own, address base) {
    try {
      hidden_.insert(own);
      aliases_.emplace(base, own);
    } catch (...) {
      hidden_.erase(own);
      policy_.deallocate(own);
      throw;
    }
  }

  // The size of a region that has room for the block wherever its first aligned address is.
  std::size_t region_for(std::size_t bytes, std::size_t alignment) const {
    const std::size_t slack = alignment > granule_ ? alignment : 0;
    // A region whose ends are within granules has one less, whatever the policy rounds up to.
    const std::size_t lost = granule_ > upstream::alignment ? granule_ : 0;
    return Policy::region_for(align_up(bytes, granule_) + slack) + lost;
  }

  std::size_t granule_;
  Policy policy_;
  held_regions<Policy> regions_;
  std::unordered_map<address, address> aliases_;  ///< address handed out -> the policy's block
  std::unordered_set<address> hidden_;  ///< those blocks, unknown to callers by their own address
};

}  // namespace warpheap::host
