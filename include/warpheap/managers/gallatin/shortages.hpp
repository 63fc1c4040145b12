// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What Gallatin (managers/gallatin/gallatin.hpp) knows to be exhausted: requests that cannot be
/// served search together, and those that follow need not search.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What a search has found. The larger the value, the more useful.
enum class gallatin_outlook : std::uint32_t {
  none,              ///< there is nothing, and nothing is on its way
  elsewhere_coming,  ///< something of other units is on its way, and may become free
  coming,            ///< what is asked for is on its way
  gained,            ///< blocks were idle, and are in the trees now
  in_slot,           ///< a slot of the unit has units
};

/// What a round of searches has found: the best outlook, and a slot that has units. Only a round
/// with no outlook at all confirms that memory is exhausted.
class gallatin_findings : public longest_runs<exhaustion> {
 public:
  /// A slot that had units in a recent round, as a hint of where to ask.
  WARPHEAP_DEVICE std::uint32_t slot() {
    return simt::atomic_ref(slot_).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE void format() {
    longest_runs<exhaustion>::format();
    slot_ = 0;
  }

  struct seen {
    gallatin_outlook outlook;
    std::uint32_t slot;  ///< if in a slot
  };
  WARPHEAP_DEVICE void note(const seen& by_lane) {
    if (by_lane.outlook == gallatin_outlook::in_slot) {
      simt::atomic_ref(slot_).store(by_lane.slot, simt::order::relaxed);
    }
    longest_runs<exhaustion>::note(static_cast<std::uint32_t>(by_lane.outlook));
  }

 private:
  std::uint32_t slot_;
};

/// For each unit, and for the whole blocks of each tree: the search that requests share, and
/// whether it is known that there is nothing.
///
/// A round examines all slots, the counters of blocks in slots of other units, and the trees, by
/// read-modify-writes, and has a fence before and after that, or acquires and releases. Whatever
/// makes something available changes one of these in the same way, and withdraws afterwards what is
/// known: see `exhaustion`. What hides something for a while either shows as being on its way, or
/// withdraws before it hides it.
template <gallatin_config Config>
class gallatin_shortages {
 public:
  using geometry = gallatin_geometry<Config>;
  /// Requests count the rounds themselves. A slice is the slots of two multiprocessors:
  /// lanes look at them one after the other.
  using search = shared_search<2, gallatin_findings, 1>;

  static constexpr std::uint32_t kinds = geometry::units + geometry::trees;
  /// The kind of whole blocks of `tree`. That of a unit is the unit.
  WARPHEAP_HD static constexpr std::uint32_t of_blocks(std::uint32_t tree) {
    return geometry::units + tree;
  }
  WARPHEAP_HD static constexpr std::uint32_t tree_of(std::uint32_t kind) {
    return kind < geometry::units ? geometry::tree_of(kind) : kind - geometry::units;
  }

  gallatin_shortages() = default;
  explicit gallatin_shortages(region_cursor& cursor)
      : all_(cursor.take<parts>(1, alignof(parts))) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) all_->searched = 0;
    for (std::uint64_t i = rank; i < kinds; i += count) all_->searches[i].all.format();
  }

  /// To be used for a search of that kind.
  WARPHEAP_DEVICE search& begin(std::uint32_t kind) const {
    // Before the search examines anything: a lane that changes it later sees this: `exhaustion`.
    const simt::atomic_ref searched(all_->searched);
    if (searched.load(simt::order::relaxed) == 0) searched.store(1, simt::order::relaxed);
    return of(kind);
  }
  WARPHEAP_DEVICE bool is_out(std::uint32_t kind) const { return of(kind).is_out(1); }

  /// Something of `tree` has become available.
  WARPHEAP_DEVICE void end(std::uint32_t tree) const {
    if (!any()) return;
    of(of_blocks(tree)).released();
    const std::uint32_t last = tree + 1 < geometry::trees ? tree + 1 : geometry::units;
    for (std::uint32_t unit = tree; unit < last; ++unit) of(unit).released();
  }
  /// Something has become available that may serve any request.
  WARPHEAP_DEVICE void end_all() const {
    if (!any()) return;
    for (std::uint32_t kind = 0; kind < kinds; ++kind) of(kind).released();
  }

 private:
  struct alignas(64) of_kind {
    search all;
  };
  struct parts {
    of_kind searches[kinds];
    /// Whether there has been a search: as long as there was none, no lane needs to be told.
    std::uint32_t searched;
  };

  WARPHEAP_DEVICE search& of(std::uint32_t kind) const { return all_->searches[kind].all; }
  WARPHEAP_DEVICE bool any() const {
    return simt::atomic_ref(all_->searched).load(simt::order::relaxed) != 0;
  }

  parts* all_ = nullptr;
};

WARPHEAP_END_NAMESPACE
