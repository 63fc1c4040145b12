// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/bit_array.hpp"
#include "warpheap/host/stores/region_map.hpp"

namespace warpheap::host {

/// Free and used memory as one bit per granule ("bitmasks" of the host-based paper, section III-B):
/// the smallest bookkeeping of the three stores, and merging is implicit.
///
/// Addition to the paper: a second bit per granule marks the last granule of a block handed out.
/// Without it, neither a block's size nor whether a block starts at an address would be known.
///
/// M1: a granule that ends a block is used. M2: the last granule before a free one, and the last
/// one of a region, ends a block if it is used.
///
/// Complexity: a step of the search O(granules passed / 64), take and give back O(granules of the
/// block / 64).
class bitmask_store {
 public:
  /// A run of free granules.
  struct cursor {
    std::size_t region = 0;
    extent run;
    explicit operator bool() const { return static_cast<bool>(run); }
  };

  explicit bitmask_store(policy_options options) : granule_(options.granule_bytes) {}

  void add_region(extent region) {
    bits& map = regions_.add(region, bits(region.bytes / granule_));
    map.free.fill(0, map.free.size(), true);
  }
  void remove_region(address base) { regions_.remove(base); }
  std::size_t free_at_end(address base) const {
    const bit_array& free = regions_.find(base)->data.free;
    return (free.size() - free.end_of_last(free.size(), false)) * granule_;
  }
  void extend_region(address base, std::size_t bytes) {
    bits& map = regions_.find(base)->data;
    const std::size_t before = map.free.size();
    map.free.extend(bytes / granule_);
    map.ends.extend(bytes / granule_);
    map.free.fill(before, bytes / granule_, true);
    regions_.extend(base, bytes);
  }
  bool region_is_free(address base) const {
    const bits& map = regions_.find(base)->data;
    return map.free.next(0, false) == map.free.size();
  }

  bool make_room() { return true; }

  cursor first() const { return run_after(0, 0); }
  cursor after(cursor where) const {
    return run_after(where.region,
                     (where.run.end() - regions_[where.region].range.base) / granule_);
  }
  /// The first free block that ends above `where`.
  cursor from(address where) const {
    for (std::size_t region = 0; region < regions_.size(); ++region) {
      const extent range = regions_[region].range;
      if (range.end() <= where) continue;
      const bit_array& free = regions_[region].data.free;
      const std::size_t granule = where > range.base ? (where - range.base) / granule_ : 0;
      const bool in_run = free.test(granule);
      return run_after(region, in_run ? free.end_of_last(granule, false) : granule);
    }
    return {};
  }
  extent at(cursor where) const { return where.run; }

  void take(cursor where, extent piece) {
    auto& region = regions_[where.region];
    const std::size_t first = (piece.base - region.range.base) / granule_;
    const std::size_t count = piece.bytes / granule_;
    region.data.free.fill(first, count, false);
    region.data.ends.fill(first + count - 1, 1, true);
  }

  std::size_t give_back(address base) {
    const extent block = block_at(base);
    if (block) free_tail(block, 0);
    return block.bytes;
  }

  void truncate(extent block, std::size_t keep) { free_tail(block, keep); }

  extent block_at(address base) const {
    const auto* region = regions_.find(base);
    if (region == nullptr || (base - region->range.base) % granule_ != 0) return {};
    const auto& [free, ends] = region->data;
    const std::size_t first = (base - region->range.base) / granule_;
    const bool starts = first == 0 || free.test(first - 1) || ends.test(first - 1);
    if (free.test(first) || !starts) return {};
    return {base, (ends.next(first, true) + 1 - first) * granule_};
  }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    for (const auto& region : regions_) {
      const auto& [free, ends] = region.data;
      for (std::size_t first = 0; first < free.size();) {
        const bool used = !free.test(first);
        const std::size_t last =
            used ? std::min(ends.next(first, true) + 1, free.size()) : free.next(first, false);
        visit(extent{region.range.base + first * granule_, (last - first) * granule_}, used);
        first = last;
      }
    }
  }

  std::optional<std::string> check() const {
    for (const auto& region : regions_) {
      const auto& [free, ends] = region.data;
      for (std::size_t granule = 0; granule < free.size(); ++granule) {
        const bool last = granule + 1 == free.size() || free.test(granule + 1);
        if (free.test(granule) ? ends.test(granule) : last && !ends.test(granule)) {
          return (free.test(granule) ? "M1: at " : "M2: at ") +
                 to_text(region.range.base + granule * granule_);
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct bits {
    explicit bits(std::size_t granules) : free(granules), ends(granules) {}
    bit_array free;
    bit_array ends;
  };

  cursor run_after(std::size_t region, std::size_t granule) const {
    for (; region < regions_.size(); ++region, granule = 0) {
      const bit_array& free = regions_[region].data.free;
      const std::size_t first = free.next(granule, true);
      if (first == free.size()) continue;
      const std::size_t last = free.next(first, false);
      return {region, {regions_[region].range.base + first * granule_, (last - first) * granule_}};
    }
    return {};
  }

  void free_tail(extent block, std::size_t keep) {
    auto& region = *regions_.find(block.base);
    const std::size_t first = (block.base - region.range.base) / granule_;
    const std::size_t kept = keep / granule_;
    const std::size_t count = block.bytes / granule_;
    region.data.ends.fill(first + count - 1, 1, false);
    if (kept != 0) region.data.ends.fill(first + kept - 1, 1, true);
    region.data.free.fill(first + kept, count - kept, true);
  }

  std::size_t granule_;
  region_map<bits> regions_;
};

}  // namespace warpheap::host
