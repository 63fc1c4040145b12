// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "warpheap/core/error.hpp"
#include "warpheap/host/policy.hpp"
#include "warpheap/host/stats.hpp"
#include "warpheap/host/upstream.hpp"

namespace warpheap::host {

/// How a pool takes memory from its upstream. All sizes in bytes.
struct pool_options {
  /// Taken when the pool is made; 0 takes nothing until the first request.
  std::size_t initial_bytes = 0;
  /// The most that is held at any time, regions' padding included.
  std::size_t limit_bytes = std::numeric_limits<std::size_t>::max();
  /// The smallest region that is taken when the pool grows. If neither the upstream nor the policy
  /// can add to a region, a growing pool also doubles at least, as far as the limit and the
  /// upstream allow: few large regions fragment less than many.
  std::size_t region_bytes = std::size_t{64} << 20;
  /// Every block is a multiple of it long and aligned to it: a power of two from 16 up.
  std::size_t granule_bytes = 256;
};

/// A placement policy with memory to place in: takes regions from an upstream, grows, gives back,
/// counts. One thread at a time, one stream; `stream_pool` adds both.
template <placement_policy Policy>
class pool {
 public:
  /// \throws invalid_argument for an option out of range, out_of_memory if the upstream has not
  /// got `initial_bytes`
  pool(std::shared_ptr<upstream> source, pool_options options)
      : source_(std::move(source)),
        options_(checked(options)),
        policy_(policy_options{options.granule_bytes}) {
    if (options_.initial_bytes != 0 && !add_region(options_.initial_bytes)) {
      throw out_of_memory("the upstream '" + std::string(source_->name()) + "' has no " +
                          std::to_string(options_.initial_bytes) + " bytes for a pool's start");
    }
  }

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Gives every region back, also those with blocks in use.
  ~pool() {
    for (const region& r : regions_) source_->deallocate(r.memory, r.bytes);
  }

  /// A block of at least `bytes` bytes at a multiple of `alignment`, or nothing when neither the
  /// regions have none.
  /// \pre `bytes != 0`, `alignment` is a power of two
  extent allocate(std::size_t bytes, std::size_t alignment) {
    return place(bytes, alignment, effort::bounded);
  }

  /// The same with a thorough search, then with a further region.
  extent allocate_or_grow(std::size_t bytes, std::size_t alignment) {
    if (extent block = place(bytes, alignment, effort::thorough)) return block;
    return grow(bytes, alignment) ? place(bytes, alignment, effort::thorough) : extent{};
  }

  /// Takes a block back. Returns its size; 0 if no block handed out starts at `base`.
  std::size_t deallocate(address base) {
    return policy_.deallocate(has_aliases() ? own_block(base).base : base);
  }

  /// The policy's own block behind the one handed out at `base`, which is forgotten: from now on
  /// the block is known by its own address. Its size is what it costs; no bytes if there is none.
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

  /// Keeps the first `bytes` bytes of a block, rounded up to a granule. Returns the bytes taken
  /// back. \pre a block handed out starts at `base`; \throws invalid_argument if the policy's
  /// blocks cannot be cut
  std::size_t truncate(address base, std::size_t bytes) {
    if (!Policy::truncates) {
      throw invalid_argument("the blocks of this pool cannot be cut: " + std::to_string(bytes) +
                             " bytes of the block at " + to_text(base) + " were to be kept");
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

  /// Gives regions without a block in use back, as long as more than `keep_bytes` bytes stay held.
  /// Returns the bytes given back. O(regions)
  std::size_t trim(std::size_t keep_bytes) {
    std::size_t released = 0;
    for (std::size_t at = regions_.size(); at-- != 0;) {
      const region r = regions_[at];
      if (reserved_bytes_ < keep_bytes + r.bytes) continue;
      if (!policy_.region_is_free(r.managed.base)) continue;
      policy_.remove_region(r.managed.base);
      source_->deallocate(r.memory, r.bytes);
      reserved_bytes_ -= r.bytes;
      released += r.bytes;
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return released;
  }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    policy_.for_each_block(visit);
  }

  /// Whether `trim(0)` would give something back. O(regions)
  bool has_free_region() const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const region& r) { return policy_.region_is_free(r.managed.base); });
  }

  std::size_t granule() const { return options_.granule_bytes; }

  std::optional<std::string> check() const { return policy_.check(); }

  /// Adds what this knows: regions and the memory that is held.
  void add_to(pool_stats& stats) const {
    stats.regions = regions_.size();
    stats.reserved_bytes = reserved_bytes_;
    stats.peak_reserved_bytes = peak_reserved_bytes_;
  }

 private:
  struct region {
    void* memory;
    std::size_t bytes;
    extent managed;
  };

  static pool_options checked(pool_options options) {
    if (options.granule_bytes < 16 || !std::has_single_bit(options.granule_bytes)) {
      throw invalid_argument("a granule of " + std::to_string(options.granule_bytes) +
                             " bytes: it must be a power of two from 16 up");
    }
    if (options.region_bytes == 0) {
      throw invalid_argument("a pool cannot grow by regions of 0 bytes");
    }
    if (options.initial_bytes > options.limit_bytes) {
      throw invalid_argument("a pool cannot start with " + std::to_string(options.initial_bytes) +
                             " bytes under a limit of " + std::to_string(options.limit_bytes));
    }
    return options;
  }

  // What no address space has would overflow the arithmetic of the policies.
  static bool is_impossible(std::size_t bytes, std::size_t alignment) {
    return (bytes | alignment) >> 46 != 0;
  }

  // Only a policy that cannot align hands out addresses inside of its blocks.
  bool has_aliases() const { return !Policy::aligns && !aliases_.empty(); }

  extent place(std::size_t bytes, std::size_t alignment, effort how) {
    if (is_impossible(bytes, alignment)) return {};
    if (Policy::aligns || alignment <= options_.granule_bytes) {
      return policy_.allocate(bytes, alignment, how);
    }
    return place_inside(bytes, alignment, how);
  }

  // For a policy whose blocks lie where they lie: a larger block, and an aligned address within it.
  [[gnu::noinline]] extent place_inside(std::size_t bytes, std::size_t alignment, effort how) {
    const extent block = policy_.allocate(bytes + alignment - options_.granule_bytes, 1, how);
    if (!block) return {};
    const address base = align_up<address>(block.base, alignment);
    if (base != block.base) {
      aliases_.emplace(base, block.base);
      hidden_.insert(block.base);
    }
    return {base, block.bytes};
  }

  bool grow(std::size_t bytes, std::size_t alignment) {
    if (is_impossible(bytes, alignment)) return false;
    // Enough for the block wherever an aligned address lies in the region.
    const std::size_t granule = options_.granule_bytes;
    const std::size_t slack =
        (alignment > granule ? alignment : 0) + (granule > upstream::alignment ? granule : 0);
    const std::size_t least = Policy::region_for(align_up(bytes, granule) + slack);
    if (extend_last_region(least)) return true;
    const std::size_t room = options_.limit_bytes - reserved_bytes_;
    std::size_t wanted = std::max({least, options_.region_bytes, reserved_bytes_});
    wanted = std::min(wanted, room);
    while (wanted >= least) {
      if (add_region(wanted)) return true;
      if (wanted == least) return false;
      wanted = std::max(wanted / 2, least);
    }
    return false;
  }

  // Makes the free end of the newest region `least` bytes long, where upstream and policy can: no
  // more memory is taken than the request needs, in steps of a region's smallest size.
  bool extend_last_region(std::size_t least) {
    if constexpr (extendable_policy<Policy>) {
      if (regions_.empty()) return false;
      region& last = regions_.back();
      if (last.managed.end() != reinterpret_cast<address>(last.memory) + last.bytes) return false;
      const std::size_t free = policy_.free_at_end(last.managed.base);
      const std::size_t missing = least > free ? least - free : options_.granule_bytes;
      const std::size_t step =
          (missing + options_.region_bytes - 1) / options_.region_bytes * options_.region_bytes;
      const std::size_t room = options_.limit_bytes - reserved_bytes_;
      const std::size_t more =
          std::min(step, room) / options_.granule_bytes * options_.granule_bytes;
      if (more < missing || !source_->extend(last.memory, last.bytes, more)) return false;
      policy_.extend_region(last.managed.base, more);
      last.bytes += more;
      last.managed.bytes += more;
      reserved_bytes_ += more;
      peak_reserved_bytes_ = std::max(peak_reserved_bytes_, reserved_bytes_);
      return true;
    } else {
      return false;
    }
  }

  bool add_region(std::size_t bytes) {
    const std::size_t whole = bytes / options_.granule_bytes * options_.granule_bytes;
    if (whole == 0) return false;
    void* memory = source_->allocate(whole);
    if (memory == nullptr) return false;
    const address start = reinterpret_cast<address>(memory);
    const address base = align_up<address>(start, options_.granule_bytes);
    const extent managed{base,
                         (start + whole - base) / options_.granule_bytes * options_.granule_bytes};
    if (!managed) {
      source_->deallocate(memory, whole);
      return false;
    }
    policy_.add_region(managed);
    regions_.push_back({memory, whole, managed});
    reserved_bytes_ += whole;
    peak_reserved_bytes_ = std::max(peak_reserved_bytes_, reserved_bytes_);
    return true;
  }

  std::shared_ptr<upstream> source_;
  pool_options options_;
  Policy policy_;
  std::size_t reserved_bytes_ = 0;
  std::size_t peak_reserved_bytes_ = 0;
  std::vector<region> regions_;
  std::unordered_map<address, address> aliases_;  ///< address handed out -> the policy's block
  std::unordered_set<address> hidden_;            ///< those blocks: their own address is no block
};

}  // namespace warpheap::host
