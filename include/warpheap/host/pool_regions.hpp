// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "warpheap/core/error.hpp"
#include "warpheap/host/page_growth.hpp"
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
  /// Over an upstream with pages, no smaller than a granule: what the pool may hold beyond the most
  /// that was in use at once, in percent of that, though at least `region_bytes`; 0 means the
  /// policy's own number. Before it takes more, the whole pages of its holes move to where the
  /// request fits, unless they have moved too often already. That waits for the streams, and so
  /// does not happen in a stream that is being captured into a graph.
  std::size_t spare_percent = 0;
};

/// The memory that a pool holds: takes regions from an upstream and gives them to a policy, makes
/// them larger, moves their pages, gives them back, counts. Nothing here is a pool's usual case.
template <placement_policy Policy>
class pool_regions {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// \throws as the constructor of `pool`
  pool_regions(Policy& policy, std::shared_ptr<upstream> source, pool_options options)
      : policy_(policy), source_(std::move(source)), options_(options) {
    if (options_.limit_bytes < page_bytes()) {
      throw invalid_argument("a limit of " + std::to_string(options_.limit_bytes) +
                             " bytes: a page of the upstream '" + std::string(source_->name()) +
                             "' has " + std::to_string(page_bytes()));
    }
    const std::size_t start = std::min(in_pages(options_.initial_bytes),
                                       options_.limit_bytes - options_.limit_bytes % unit());
    if (start != 0 && !add_region(start)) {
      throw out_of_memory("the upstream '" + std::string(source_->name()) + "' has no " +
                          std::to_string(options_.initial_bytes) + " bytes for a pool's start");
    }
  }

  pool_regions(const pool_regions&) = delete;
  pool_regions& operator=(const pool_regions&) = delete;

  /// Gives every region back, also those with blocks in use.
  ~pool_regions() {
    for (const region& r : regions_) source_->deallocate(r.memory, r.bytes);
  }

  /// \throws invalid_argument for an option out of range
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
    if (options.spare_percent > most_spare_percent) {
      throw invalid_argument("a spare share of " + std::to_string(options.spare_percent) +
                             " percent: at most " + std::to_string(most_spare_percent));
    }
    return options;
  }

  /// More memory, so that `least` bytes fit in one piece; holds at most `most_held` bytes then, or
  /// the limit. False if that, the upstream or its addresses do not allow it.
  bool grow(std::size_t least, std::size_t most_held) {
    const std::size_t room = room_below(most_held);
    if constexpr (vacatable_policy<Policy>) {
      if (page_bytes() != 0 && !regions_.empty()) {
        const growth_site site = cheapest_site(least, growing_region());
        if (site.missing() > room) return false;
        if (site.range && commit(site, room)) return true;
      }
    }
    if (page_bytes() == 0 && extend_last_region(least)) return true;
    const std::size_t doubled = page_bytes() != 0 ? 0 : reserved_bytes_;
    const std::size_t whole = in_pages(least);
    std::size_t wanted = std::min(std::max({whole, options_.region_bytes, doubled}), room);
    while (wanted >= whole) {
      if (add_region(wanted)) return true;
      if (wanted == whole) return false;
      wanted = std::max(wanted / 2, whole);
    }
    return false;
  }

  /// As `grow`, but for what `most_held` or the upstream does not allow, pages of holes go back
  /// first. More come together than the request needs: the larger the hole that they make, the
  /// later is the next move (docs/host.md). \pre no stream uses free memory
  bool move_pages(std::size_t least, std::size_t most_held) {
    if constexpr (vacatable_policy<Policy>) {
      if (regions_.empty() || !policy_.has_room()) return false;
      const std::size_t movable = sum_of(whole_pages(policy_, page_bytes(), {}));
      const std::size_t wanted = std::max(least, std::min(movable / 4 * 3, 16 * least));
      // The second time where the region has no addresses to grow into.
      for (const extent growing : {growing_region(), extent{}}) {
        if (move_pages_to(cheapest_site(wanted, growing), most_held)) return true;
        if (move_pages_to(cheapest_site(least, growing), most_held)) return true;
      }
    }
    return false;
  }

  /// Whether pages have moved so little that they may move for the sake of a smaller pool alone. A
  /// move takes some 50 us a page (docs/host.md): with at most one page in eight requests it takes
  /// a few microseconds of each, however bad the holes are.
  bool may_move(std::uint64_t requests) const {
    return moved_bytes_ <= (few_moves + requests / 8) * page_bytes();
  }

  /// Whether holes have pages that could move.
  bool has_movable_pages() const {
    if constexpr (vacatable_policy<Policy>) {
      return page_bytes() != 0 && !whole_pages(policy_, page_bytes(), {}).empty();
    }
    return false;
  }

  /// Gives memory back as long as more than `keep_bytes` bytes stay held. Returns the bytes.
  std::size_t trim(std::size_t keep_bytes) {
    std::size_t released = 0;
    for (std::size_t at = regions_.size(); at-- != 0;) {
      const region r = regions_[at];
      if (!policy_.region_is_free(r.managed.base)) continue;
      const std::size_t held = r.bytes - vacant_bytes(r.managed);
      if (reserved_bytes_ < keep_bytes + held) continue;
      policy_.remove_region(r.managed.base);
      source_->deallocate(r.memory, r.bytes);
      reserved_bytes_ -= held;
      released += held;
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (reserved_bytes_ > keep_bytes) released += give_pages_back(reserved_bytes_ - keep_bytes);
    return released;
  }

  bool has_unused_region() const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const region& r) { return policy_.region_is_free(r.managed.base); });
  }

  /// How much may be held when `peak_bytes` were in use at once, before pages move.
  std::size_t most_held_for(std::size_t peak_bytes) const {
    if (page_bytes() == 0) return no_limit;
    return peak_bytes + std::max(peak_bytes / 100 * spare_percent(), options_.region_bytes);
  }

  void add_to(pool_stats& stats) const {
    stats.regions = regions_.size();
    stats.reserved_bytes = reserved_bytes_;
    stats.peak_reserved_bytes = peak_reserved_bytes_;
    stats.moved_bytes = moved_bytes_;
  }

 private:
  struct region {
    void* memory = nullptr;
    std::size_t bytes = 0;
    extent managed;
  };

  // 0 if no pages can move.
  std::size_t page_bytes() const {
    const std::size_t page = vacatable_policy<Policy> ? source_->page_bytes() : std::size_t{0};
    return page >= options_.granule_bytes ? page : 0;
  }

  // What regions are multiples of.
  std::size_t unit() const { return std::max(page_bytes(), options_.granule_bytes); }
  std::size_t in_pages(std::size_t bytes) const {
    return page_bytes() != 0 ? align_up(bytes, page_bytes()) : bytes;
  }

  std::size_t room_below(std::size_t most_held) const {
    const std::size_t most = std::min(most_held, options_.limit_bytes);
    return most > reserved_bytes_ ? most - reserved_bytes_ : 0;
  }

  // The newest region, if what is added to its memory is right behind what the policy has of it.
  // \pre there are regions
  extent growing_region() const {
    const region& last = regions_.back();
    const bool ends = last.managed.end() == reinterpret_cast<address>(last.memory) + last.bytes;
    return ends ? last.managed : extent{};
  }

  // Makes the free end of the newest region `least` bytes long, where upstream and policy can: no
  // more memory is taken than the request needs, in steps of a region's smallest size.
  bool extend_last_region(std::size_t least) {
    if constexpr (extendable_policy<Policy>) {
      if (regions_.empty()) return false;
      region& last = regions_.back();
      if (!growing_region()) return false;
      const std::size_t free = policy_.free_at_end(last.managed.base);
      const std::size_t missing = least > free ? least - free : options_.granule_bytes;
      const std::size_t step =
          (missing + options_.region_bytes - 1) / options_.region_bytes * options_.region_bytes;
      const std::size_t room = options_.limit_bytes - reserved_bytes_;
      const std::size_t more =
          std::min(step, room) / options_.granule_bytes * options_.granule_bytes;
      return more >= missing && extend(last, more);
    } else {
      return false;
    }
  }

  // Where `bytes` bytes fit with the least further memory; `growing` may be nothing.
  growth_site cheapest_site(std::size_t bytes,
                            extent growing) const requires vacatable_policy<Policy> {
    growth_search search(bytes, page_bytes(), growing);
    policy_.for_each_unused([&](extent part, bool vacant) {
      search.add(part, vacant, std::any_of(regions_.begin(), regions_.end(), [&](const region& r) {
                   return r.managed.base == part.base;
                 }));
    });
    return search.best();
  }

  bool move_pages_to(const growth_site& site,
                     std::size_t most_held) requires vacatable_policy<Policy> {
    if (!site.range) return false;
    const std::size_t missing = site.missing();
    const std::size_t room = std::min(room_below(most_held), source_->available_bytes());
    if (missing <= room && commit(site, missing)) return true;
    // If the upstream has not got what it said, room is of no use.
    const std::size_t needed = missing <= room ? missing : missing - room;
    const std::vector<extent> pages = whole_pages(policy_, page_bytes(), site.range);
    if (sum_of(pages) < needed) return false;
    const std::size_t moved =
        vacate_pages(policy_, page_bytes(), pages, needed,
                     [&](void* place, std::size_t bytes) { source_->set_aside(place, bytes); });
    reserved_bytes_ -= moved;
    moved_bytes_ += moved;
    return commit(site, missing);
  }

  // Gets memory for the pages of a site that have none; at the end of the region in steps of a
  // region's smallest size, as far as `room` allows. What was got before a failure stays, as holes.
  bool commit(const growth_site& site, std::size_t room) requires vacatable_policy<Policy> {
    std::size_t filled = 0;
    const bool all = fill_pages(policy_, *source_, site.range, filled);
    hold(filled);
    if (!all || site.beyond == 0) return all;
    const std::size_t steps = (site.beyond + options_.region_bytes - 1) / options_.region_bytes;
    const std::size_t wanted = std::min(steps * options_.region_bytes, room - filled);
    return extend(regions_.back(), std::max(wanted & ~(page_bytes() - 1), site.beyond));
  }

  std::size_t give_pages_back(std::size_t bytes) {
    if constexpr (vacatable_policy<Policy>) {
      const std::size_t page = page_bytes();
      // Not more than asked for.
      if (page != 0 && bytes >= page) {
        const std::vector<extent> pages = whole_pages(policy_, page, {});
        const std::size_t given =
            vacate_pages(policy_, page, pages, bytes & ~(page - 1),
                         [&](void* place, std::size_t part) { source_->decommit(place, part); });
        reserved_bytes_ -= given;
        return given;
      }
    }
    return 0;
  }

  std::size_t vacant_bytes(extent managed) const {
    std::size_t bytes = 0;
    if constexpr (vacatable_policy<Policy>) {
      if (page_bytes() == 0) return 0;
      policy_.for_each_unused([&](extent part, bool vacant) {
        if (vacant && managed.contains(part.base)) bytes += part.bytes;
      });
    }
    return bytes;
  }

  bool extend(region& last, std::size_t more) {
    if (!source_->extend(last.memory, last.bytes, more)) return false;
    policy_.extend_region(last.managed.base, more);
    last.bytes += more;
    last.managed.bytes += more;
    hold(more);
    return true;
  }

  void hold(std::size_t bytes) {
    reserved_bytes_ += bytes;
    peak_reserved_bytes_ = std::max(peak_reserved_bytes_, reserved_bytes_);
  }

  bool add_region(std::size_t bytes) {
    const std::size_t whole = bytes / unit() * unit();
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
    hold(whole);
    return true;
  }

  std::size_t spare_percent() const {
    if constexpr (vacatable_policy<Policy>) {
      if (options_.spare_percent == 0) return Policy::spare_percent;
    }
    return options_.spare_percent;
  }

  // Enough for "never"; more would overflow.
  static constexpr std::size_t most_spare_percent = 1'000'000;
  // Pages that may move however few requests there were.
  static constexpr std::uint64_t few_moves = 2048;

  Policy& policy_;
  std::shared_ptr<upstream> source_;
  pool_options options_;
  std::size_t reserved_bytes_ = 0;
  std::size_t peak_reserved_bytes_ = 0;
  std::size_t moved_bytes_ = 0;
  std::vector<region> regions_;
};

}  // namespace warpheap::host
