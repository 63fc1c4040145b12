// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked/guards.hpp"
#include "warpheap/heap/layers/checked/incident_log.hpp"
#include "warpheap/heap/layers/checked/records.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

/// What lies between blocks: the guards on both sides, and what the manager keeps there. Finds
/// damage, and says whose fault it is.
class gaps {
  using table = block_table;

 public:
  WARPHEAP_DEVICE gaps(const block_table& records, const incident_log& log)
      : table_(records), log_(log) {}

  /// Looks at the guards of a block that is not retired, and at what is near enough of the block
  /// below it. False if a write crossed what the manager may keep before the block or behind it.
  WARPHEAP_DEVICE bool examine(const known_block& mine, caller by) const {
    const gap_end before = upper_end(mine);
    const gap_end behind = lower_end(mine);
    gap_end below = before_gap_of(mine, nearby);
    // Once more: at the first look another block may have been there, between two lives of one that
    // began and ended where the present one does. The second look sees nothing before that.
    if (below.guard.last) below = before_gap_of(mine, nearby);
    if (before.guard.any || behind.guard.any || below.guard.last) report_damage(mine, by);
    // A block whose last byte is damaged stays present, so that the one above it sees that.
    return !before.guard.first && !behind.guard.last && !below.guard.last;
  }

 private:
  /// Granules in which a block looks for the one below it at every free. One of the last two of
  /// a block has its start or its link, so three are left for the gap.
  static constexpr std::uint64_t nearby = 4;

  /// One end of what lies between two blocks: the block, its guard there, and whether damage
  /// reaches across the whole block, so that it may come from its other side.
  struct gap_end {
    known_block block;
    damage guard;
    bool crossed = false;
  };
  WARPHEAP_DEVICE static gap_end lower_end(const known_block& of) {
    if (!of) return {};
    return {of, damage_behind(of.block, of.bytes), damage_before(of.block).last};
  }
  WARPHEAP_DEVICE static gap_end upper_end(const known_block& of) {
    if (!of) return {};
    return {of, damage_before(of.block), damage_behind(of.block, of.bytes).first};
  }
  /// A neighbour that was freed while it was looked at has examined the gap itself.
  WARPHEAP_DEVICE static gap_end if_present(const gap_end& end) {
    return end.block && table::is_present(end.block) ? end : gap_end{};
  }

  /// The end of the gap before a block.
  WARPHEAP_DEVICE gap_end before_gap_of(const known_block& of, std::uint64_t most) const {
    if (of.front() == table_.base()) return {};
    return if_present(lower_end(table_.at_or_before(of.front() - 1, most)));
  }

  /// Reports what is wrong with the gaps on both sides of a block, as far as that was not done. One
  /// lane at a time, so that two that free both blocks of a gap do not each know half: a block with
  /// damage stays present until its lane has been here, and flags change nowhere else.
  WARPHEAP_DEVICE void report_damage(const known_block& of, caller by) const {
    if (!log_.begin_report()) return;
    const gap_end below = before_gap_of(of, SIZE_MAX);
    gap_end upper = upper_end(table_.again(of));
    const gap_end above = if_present(upper_end(table_.from(of.end())));
    // Damage at both ends that comes from neither neighbour began in one of these two gaps.
    if (!below.guard.first && !above.guard.last) upper.crossed = false;
    blame(below, upper, by);
    blame(lower_end(table_.again(of)), above, by);
    log_.end_report();
  }

  /// Says whose fault the damage between two blocks is, one of which may be none.
  WARPHEAP_DEVICE void blame(gap_end lower, gap_end upper, caller by) const {
    if (!is_news(lower, table::behind_reported)) lower = {};
    if (!is_news(upper, table::before_reported)) upper = {};
    const bool overrun = lower.guard.first && !lower.crossed;
    const bool underrun = upper.guard.last && !upper.crossed;
    const bool all = lower.guard.all && upper.guard.all;
    // Damage that goes on across a block is reported in the gap where it began.
    const bool through = lower.guard.first || upper.guard.last;
    if (overrun && underrun && all) {
      report_overwritten(lower, upper, by);
    } else if (overrun || underrun) {
      if (overrun) {
        log_.add(about_block(incident::kind::overrun, lower.block, lower.guard.where, by));
      }
      if (underrun) {
        log_.add(about_block(incident::kind::underrun, upper.block, upper.guard.where, by));
      }
    } else if (!through && (lower.guard.any || upper.guard.any)) {
      report_overwritten(lower, upper, by);
    }
  }

  WARPHEAP_DEVICE void report_overwritten(const gap_end& lower, const gap_end& upper,
                                          caller by) const {
    incident found =
        about_block(incident::kind::overwritten, lower.block ? lower.block : upper.block,
                    lower.guard.any ? lower.guard.where : upper.guard.where, by);
    if (lower.block && upper.block) found.other = address(upper.block.block);
    log_.add(found);
  }

  /// False if the damage at an end was reported; now it is. A sound end stays what it is, the
  /// neighbour of damage.
  WARPHEAP_DEVICE static bool is_news(const gap_end& end, std::uint64_t flag) {
    if (!end.guard.any) return true;
    table::set(end.block, flag);
    return (end.block.extent & flag) == 0;
  }

  block_table table_;
  incident_log log_;
};

}  // namespace checking
WARPHEAP_END_NAMESPACE
