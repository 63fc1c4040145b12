// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model_heap.hpp"
#include "warpheap/core/align.hpp"

namespace warpheap::host::one_region {

/// The rule of segregated fit and TLSF, written down naively: holes in the order in which they were
/// made or changed their class, newest first, each in one half of the addresses, and a class
/// computed from a size without a bit trick.
class model_of_classes {
 public:
  model_of_classes(std::vector<extent> regions, int columns, bool low_addresses)
      : heap_(regions), regions_(regions), columns_(columns), low_addresses_(low_addresses) {
    for (const extent& region : regions) {
      newest_first_.insert(newest_first_.begin(), hole{region, false});
    }
  }

  extent allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t slack = alignment > granule ? alignment - granule : 0;
    const bool small = low_addresses_ && 4 * bytes * used_ < 3 * in_use_;
    const extent from = find(bytes + slack, small);
    if (!from) return {};
    const extent block{align_up<address>(from.base, alignment), bytes};
    // A hole that was cut for the sake of the alignment was in a list before it was cut again.
    const std::size_t rest = from.end() - block.end();
    const bool stays = block.base != from.base && class_of(bytes + rest) == class_of(rest);
    change([&] { heap_.take(block); }, stays ? block : extent{});
    ++used_;
    in_use_ += bytes;
    return block;
  }

  void deallocate(extent block) {
    if (is_between_holes(block)) learn_from(block.base);
    change([&] { heap_.give_back(block); });
    --used_;
    in_use_ -= block.bytes;
  }

  void truncate(extent tail) {
    change([&] { heap_.give_back(tail); });
    in_use_ -= tail.bytes;
  }

  /// Whether holes have ever been divided into halves.
  bool has_been_divided() const { return has_been_divided_; }

 private:
  struct hole {
    extent where;
    bool is_upper;
  };

  bool is_region_start(address where) const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const extent& region) { return region.base == where; });
  }

  bool is_between_holes(extent block) const {
    const bool left = !is_region_start(block.base) &&
                      first_overlap(heap_.free(), {block.base - granule, granule});
    return left && !is_region_start(block.end()) && heap_.free().contains(block.end());
  }

  // What a free between two holes tells about them.
  void learn_from(address where) {
    std::set<std::size_t> smallest;
    for (const hole& each : newest_first_) {
      const std::size_t its = class_of(each.where.bytes);
      if (its < 32) smallest.insert(its);
    }
    is_divided_ = columns_ == 1 || smallest.size() >= (is_divided_ ? 16u : 22u);
    has_been_divided_ |= is_divided_;
    if (usual_ == 0) {
      usual_ = where;
    } else if (where >= usual_) {
      usual_ += (where - usual_) / 128;
    } else {
      usual_ -= (usual_ - where + 63) / 64;
    }
  }

  // Numbers classes in the order of their sizes.
  std::size_t class_of(std::size_t bytes) const {
    const auto columns = static_cast<std::size_t>(columns_);
    const std::size_t granules = bytes / granule;
    std::size_t row = 1;
    std::size_t start = columns;
    if (granules < columns) return granules;
    for (; 2 * start <= granules; start *= 2) ++row;
    return row * columns + (granules - start) * columns / start;
  }

  // The smallest size of the class of `bytes` bytes.
  std::size_t start_of(std::size_t bytes) const {
    while (bytes > granule && class_of(bytes - granule) == class_of(bytes)) bytes -= granule;
    return bytes;
  }

  extent find(std::size_t bytes, bool small) const {
    const std::size_t own = class_of(bytes);
    std::map<std::size_t, extent>
        above;  // the first of each class, of the lower half if it has one
    for (const bool in_upper : {false, true}) {
      std::map<std::size_t, extent> firsts;
      extent best;
      int looks = columns_ == 1 ? 4 : 2;
      for (const auto& [where, is_upper] : newest_first_) {
        if (is_upper != in_upper) continue;
        const std::size_t its = class_of(where.bytes);
        if (its > own) firsts.emplace(its, where);
        if (its == own && looks-- > 0 && !best && where.bytes >= bytes) best = where;
      }
      above.insert(firsts.begin(), firsts.end());
      if (best && (!small || best.bytes == bytes)) return best;
      int met = best ? 1 : 0;
      for (const auto& [its, where] : firsts) {
        if (!small || met++ == 4 || its > class_of(2 * start_of(bytes))) break;
        if (!best || where.base < best.base) best = where;
      }
      if (best) return best;
    }
    return above.empty() ? extent{} : above.begin()->second;
  }

  static bool overlap(extent a, extent b) { return a.base < b.end() && b.base < a.end(); }

  // The first of the free extents, in address order, that overlaps this one; nothing if none does.
  static extent first_overlap(const std::map<address, std::size_t>& free, extent with) {
    auto run = free.upper_bound(with.base);
    if (run != free.begin()) --run;
    for (; run != free.end() && run->first < with.end(); ++run) {
      if (overlap({run->first, run->second}, with)) return {run->first, run->second};
    }
    return {};
  }

  // Whether the hole is the first in its list, but for holes that are gone.
  bool is_newest(const hole& one, const std::map<address, std::size_t>& before) const {
    for (const hole& other : newest_first_) {
      if (other.where == one.where) return true;
      const bool is_gone =
          first_overlap(before, first_overlap(heap_.free(), other.where)) != other.where;
      if (!is_gone && other.is_upper == one.is_upper &&
          class_of(other.where.bytes) == class_of(one.where.bytes)) {
        return false;
      }
    }
    return false;
  }

  // Makes a change of the heap. A hole that changed keeps its place and its half if its class is
  // the same (in classes of powers of two, only if it is the newest); of several holes that merged,
  // or of several parts that one hole left, the lowest is its heir. All other holes that changed or
  // are new come first, the one with the highest address foremost. The hole behind `behind`, if
  // that is given, was made where `behind` starts.
  template <class Change>
  void change(Change&& make, extent behind = {}) {
    const std::map<address, std::size_t> before = heap_.free();
    make();
    std::map<address, std::size_t> fresh = heap_.free();
    std::vector<hole> kept;
    for (const hole& old : newest_first_) {
      const extent heir = first_overlap(heap_.free(), old.where);
      if (heir == old.where || (heir && first_overlap(before, heir) == old.where &&
                                class_of(heir.bytes) == class_of(old.where.bytes) &&
                                (columns_ > 1 || is_newest(old, before)))) {
        kept.push_back({heir, old.is_upper});
        fresh.erase(heir.base);
      }
    }
    newest_first_ = std::move(kept);
    for (const auto& [where, size] : fresh) {
      const address made_at = behind && where == behind.end() ? behind.base : where;
      newest_first_.insert(newest_first_.begin(),
                           hole{{where, size}, is_divided_ && made_at > usual_});
    }
  }

  model_heap heap_;
  std::vector<extent> regions_;
  std::vector<hole> newest_first_;
  address usual_ = 0;
  bool is_divided_ = false;
  bool has_been_divided_ = false;
  int columns_;
  bool low_addresses_;
  std::size_t used_ = 0;
  std::size_t in_use_ = 0;
};

}  // namespace warpheap::host::one_region
