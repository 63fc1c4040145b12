// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/pools/page_moves.hpp"
#include "warpheap/host/pools/pool_options.hpp"
#include "warpheap/host/pools/pool_stats.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// The memory that a pool holds: takes regions from an upstream and passes them to the policy,
/// extends them, gives them back, and counts. None of this is on the fast path.
template <placement_policy Policy>
class held_regions {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// \throws as the constructor of `unlocked_pool`
  held_regions(Policy& policy, std::shared_ptr<upstream> source, pool_options options)
      : policy_(policy),
        source_(std::move(source)),
        options_(options),
        pages_(policy, *source_, options.granule_bytes) {
    if (options_.limit_bytes < page_bytes()) {
      throw invalid_argument("a limit of " + std::to_string(options_.limit_bytes) +
                             " bytes: a page of the upstream '" + std::string(source_->name()) +
                             "' has " + std::to_string(page_bytes()));
    }
    const std::size_t start =
        std::min(in_pages(options_.initial_bytes), round_down(options_.limit_bytes, unit()));
    if (start != 0 && !add_region(start)) {
      throw out_of_memory("the upstream '" + std::string(source_->name()) + "' does not have the " +
                          std::to_string(options_.initial_bytes) +
                          " bytes that the pool starts with");
    }
  }

  held_regions(const held_regions&) = delete;
  held_regions& operator=(const held_regions&) = delete;

  /// Gives back every region, including those with blocks in use.
  ~held_regions() {
    for (const region& r : regions_) source_->deallocate(r.memory, r.bytes);
  }

  /// Takes more memory, so that `least` bytes fit in one piece; afterwards, at most `most_held`
  /// bytes, or the limit, are held. False if that bound, the upstream or its addresses do not allow
  /// it.
  bool grow(std::size_t least, std::size_t most_held) {
    if (page_bytes() != 0 && !regions_.empty()) {
      const growth_site site = cheapest_site(least, growing_region());
      const std::size_t room = room_below(most_held);
      if (site.missing() > room) return false;
      if (site.range && commit(site, room)) return true;
    }
    if (page_bytes() == 0 && extend_last_region(least)) return true;
    const std::size_t whole = in_pages(least);
    const std::size_t room = room_below(most_held);  // beside what was obtained in vain
    std::size_t wanted = std::min(std::max(whole, next_region()), room);
    while (wanted >= whole) {
      if (add_region(wanted)) return true;
      if (wanted == whole) return false;
      wanted = std::max(wanted / 2, whole);
    }
    return false;
  }

  /// Like `grow`, but what `most_held` or the upstream does not allow comes from pages of holes.
  /// More pages are moved than the request needs: the larger the resulting hole, the later the next
  /// move (docs/host.md). \pre no stream uses free memory
  bool grow_by_moving_pages(std::size_t least, std::size_t most_held) {
    if constexpr (vacatable_policy<Policy>) {
      if (regions_.empty() || !policy_.make_room()) return false;
      const std::size_t wanted =
          std::max(least, std::min(pages_.movable_bytes() / 4 * 3, 16 * least));
      // The second iteration is for a region that has no addresses to grow into.
      for (const extent growing : {growing_region(), extent{}}) {
        if (move_pages_to(cheapest_site(wanted, growing), most_held)) return true;
        if (move_pages_to(cheapest_site(least, growing), most_held)) return true;
      }
    }
    return false;
  }

  /// Whether the holes have the pages that `grow_by_moving_pages` needs, if the upstream has all
  /// that `most_held` allows. O(blocks)
  bool has_pages_for(std::size_t least, std::size_t most_held) const {
    if (page_bytes() == 0 || regions_.empty()) return false;
    for (const extent growing : {growing_region(), extent{}}) {
      const growth_site site = cheapest_site(least, growing);
      const std::size_t room = std::min(site.missing(), room_below(most_held));
      if (site.range && pages_.movable_bytes(site.range) >= site.missing() - room) return true;
    }
    return false;
  }

  /// See `page_moves`.
  bool may_move(std::uint64_t requests) const { return pages_.may_move(requests); }

  /// Whether holes have pages that could move. O(blocks)
  bool has_movable_pages() const { return page_bytes() != 0 && pages_.movable_bytes() != 0; }

  /// Gives back memory as long as more than `keep_bytes` bytes stay held. Returns the bytes given
  /// back.
  std::size_t trim(std::size_t keep_bytes) {
    std::size_t released = 0;
    for (std::size_t at = regions_.size(); at-- != 0;) {
      const region r = regions_[at];
      if (!policy_.region_is_free(r.managed.base)) continue;
      const std::size_t held = r.bytes - pages_.vacant_bytes(r.managed);
      if (reserved_bytes_ < keep_bytes + held) continue;
      policy_.remove_region(r.managed.base);
      source_->deallocate(r.memory, r.bytes);
      reserved_bytes_ -= held;
      released += held;
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (reserved_bytes_ > keep_bytes) {
      const std::size_t pages = pages_.decommit(reserved_bytes_ - keep_bytes);
      reserved_bytes_ -= pages;
      released += pages;
    }
    return released;
  }

  bool has_unused_region() const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const region& r) { return policy_.region_is_free(r.managed.base); });
  }

  /// The bytes that may be held before pages move, if `peak_bytes` were in use at once.
  std::size_t most_held_for(std::size_t peak_bytes) const {
    if (page_bytes() == 0) return no_limit;
    return peak_bytes + std::max(peak_bytes / 100 * spare_percent(), options_.region_bytes);
  }

  void add_to(pool_stats& stats) const {
    stats.regions = regions_.size();
    stats.reserved_bytes = reserved_bytes_;
    stats.peak_reserved_bytes = peak_reserved_bytes_;
    stats.moved_bytes = pages_.moved_bytes();
  }

 private:
  // A pool that holds less than this doubles by its next region.
  static constexpr std::size_t doubles_below = std::size_t{64} << 20;

  struct region {
    void* memory;
    std::size_t bytes;
    extent managed;
  };

  std::size_t page_bytes() const { return pages_.page_bytes(); }

  // The unit of regions' sizes.
  std::size_t unit() const { return std::max(page_bytes(), options_.granule_bytes); }
  std::size_t in_pages(std::size_t bytes) const {
    return page_bytes() != 0 ? align_up(bytes, page_bytes()) : bytes;
  }

  std::size_t room_below(std::size_t most_held) const {
    const std::size_t most = std::min(most_held, options_.limit_bytes);
    return most > reserved_bytes_ ? most - reserved_bytes_ : 0;
  }

  // The size of the next region, if the request needs no larger one. Where regions cannot be
  // extended, it grows with the pool: a small pool holds little, and a large one calls its upstream
  // seldom. Regions of a quarter need less memory than a pool that goes on doubling, although they
  // are more (docs/decisions/0025-small-pools.md).
  std::size_t next_region() const {
    if (page_bytes() != 0) return options_.region_bytes;
    const std::size_t share = std::max(doubles_below, reserved_bytes_ / 4);
    const std::size_t grown = round_down(std::min(reserved_bytes_, share), options_.region_bytes);
    return std::max(options_.region_bytes, grown);
  }

  // The newest region, if memory added to it would directly follow the part that the policy has.
  // \pre at least one region is held
  extent growing_region() const {
    const region& last = regions_.back();
    const bool ends = last.managed.end() == reinterpret_cast<address>(last.memory) + last.bytes;
    return ends ? last.managed : extent{};
  }

  growth_site cheapest_site(std::size_t bytes, extent growing) const {
    return pages_.cheapest_site(bytes, growing, [&](address base) {
      return std::any_of(regions_.begin(), regions_.end(),
                         [&](const region& r) { return r.managed.base == base; });
    });
  }

  // Makes the free end of the newest region `least` bytes long, if upstream and policy can: takes
  // no more memory than the request needs, in steps of a region's smallest size.
  bool extend_last_region(std::size_t least) {
    if constexpr (extendable_policy<Policy>) {
      if (regions_.empty() || !growing_region()) return false;
      region& last = regions_.back();
      const std::size_t free = policy_.free_at_end(last.managed.base);
      const std::size_t missing = least > free ? least - free : options_.granule_bytes;
      const std::size_t step = round_up(missing, options_.region_bytes);
      const std::size_t room = options_.limit_bytes - reserved_bytes_;
      const std::size_t more = align_down(std::min(step, room), options_.granule_bytes);
      return more >= missing && extend(last, more, missing);
    } else {
      return false;
    }
  }

  // Nothing changes if `most_held`, what the upstream claims to have, and the holes do not suffice.
  bool move_pages_to(const growth_site& site, std::size_t most_held) {
    if (!site.range) return false;
    const std::size_t missing = site.missing();
    const std::size_t room = std::min({missing, room_below(most_held), source_->available_bytes()});
    if (pages_.movable_bytes(site.range) < missing - room) return false;
    const std::size_t moved = set_aside(missing - room, site);
    if (commit(site, missing)) return true;
    // An upstream may have less than it claims, and how much is unknown. So the holes supply as
    // much of the whole as they have: then the memory suffices if it can suffice at all.
    return set_aside(missing - std::min(missing, moved), site) != 0 && commit(site, missing);
  }

  // See `page_moves`.
  std::size_t set_aside(std::size_t bytes, const growth_site& site) {
    const std::size_t moved = pages_.set_aside(bytes, site.range);
    reserved_bytes_ -= moved;
    return moved;
  }

  // Gets memory for the pages of a site that have none; at the end of the region, in steps of a
  // region's smallest size, as far as `room` allows. Memory that was obtained before a failure
  // stays, as holes.
  bool commit(const growth_site& site, std::size_t room) {
    std::size_t filled = 0;
    const bool all = pages_.fill(site.range, [&](std::size_t bytes) {
      filled += bytes;
      hold(bytes);
    });
    if (!all || site.beyond == 0) return all;
    const std::size_t wanted =
        std::min(round_up(site.beyond, options_.region_bytes), room - filled);
    const std::size_t more = std::max(align_down(wanted, page_bytes()), site.beyond);
    return extend(regions_.back(), more, site.beyond);
  }

  // Extends a region by `more` bytes, or by `least` if the upstream does not have that much.
  bool extend(region& last, std::size_t more, std::size_t least) {
    if constexpr (extendable_policy<Policy>) {
      if (!source_->extend(last.memory, last.bytes, more)) {
        return more > least && extend(last, least, least);
      }
      // If the policy throws, the memory is still held, and the region does not grow any more.
      last.bytes += more;
      hold(more);
      policy_.extend_region(last.managed.base, more);
      last.managed.bytes += more;
      return true;
    } else {
      return false;
    }
  }

  void hold(std::size_t bytes) {
    reserved_bytes_ += bytes;
    peak_reserved_bytes_ = std::max(peak_reserved_bytes_, reserved_bytes_);
  }

  bool add_region(std::size_t bytes) {
    const std::size_t whole = round_down(bytes, unit());
    if (whole == 0) return false;
    void* memory = source_->allocate(whole);
    if (memory == nullptr) return false;
    const auto start = reinterpret_cast<address>(memory);
    const address base = align_up(start, options_.granule_bytes);
    const extent managed{base, align_down(start + whole - base, options_.granule_bytes)};
    if (!managed) {
      source_->deallocate(memory, whole);
      return false;
    }
    const std::size_t before = regions_.size();
    try {
      regions_.push_back({memory, whole, managed});
      policy_.add_region(managed);
    } catch (...) {
      regions_.resize(before);
      source_->deallocate(memory, whole);
      throw;
    }
    hold(whole);
    return true;
  }

  std::size_t spare_percent() const {
    if constexpr (vacatable_policy<Policy>) {
      if (options_.spare_percent == 0) return Policy::spare_percent;
    }
    return options_.spare_percent;
  }

  Policy& policy_;
  std::shared_ptr<upstream> source_;
  pool_options options_;
  page_moves<Policy> pages_;
  std::size_t reserved_bytes_ = 0;
  std::size_t peak_reserved_bytes_ = 0;
  std::vector<region> regions_;
};

}  // namespace warpheap::host
