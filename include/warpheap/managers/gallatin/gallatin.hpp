// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// H. McCoy, P. Pandey: "Gallatin: A General-Purpose GPU Memory Manager", PPoPP 2024,
/// DOI 10.1145/3627535.3638499.
///
/// Algorithm:
/// - The heap is an array of segments. A 64-ary bitmap tree holds the free ones.
/// - A segment can be formatted into blocks of one of nine sizes, each with 4096 slices: tree t
///   has slices of 16 << t bytes. A bitmap tree for each size holds its free blocks.
/// - Up to 4 KiB: one slice; up to 32 KiB: 2 to 8 neighbouring slices of the last tree. The lanes
///   of a warp that want the same take their units together, with one addition to the slot of their
///   multiprocessor in the buffer of this size; the lane that takes a block's last unit fills the
///   slot with a new block: of the tree, else of a newly formatted segment, lowest first.
/// - Up to a segment: one whole block. More: the last run of free segments.
/// - free: the memory table says what the pointer's segment is; the lanes of a warp that free units
///   of one block subtract together from its counter. At 0 the block is free; a segment whose
///   blocks are all free is free. Slices are reused only once all slices of their block are back.
///
/// Memory layout (defaults; s segments, m multiprocessors):
///
///     [ moves, run claims and lock ][ searches: 64 B for each unit and tree ]
///     [ memory table: u32 x s ][ free segments: bitmap tree over s ]
///     [ free blocks: 9 bitmap trees, tree t over s << (8 - t) ]
///     [ counters: u32 {in a slot:1 | unit:7 | units left:24} x s << 8 ]
///     [ slots: u64 {units taken:32 | block:32} x 16 units (128 B) x m ][ copy of the handle ]
///     [ segment 0 | segment 1 | ... ]      16 MiB each, less in heaps below 512 MiB
///     segment of tree t:  [ block 0 | ... | block (256 >> t) - 1 ],  block: 4096 slices
///
/// Invariants, while no lane allocates:
/// I1 the words of all bitmap trees fit (place: the word)
/// I2 a segment is in the tree of free segments exactly if the memory table says that it is free
///    (place: the segment)
/// I3 the segments behind the first of a run, and no others, are "inside" (place: the segment)
/// I4 only segments of tree t have free blocks in it, and not all of their blocks are free (place:
///    the segment)
/// I5 a counter has units left exactly if its block is not free, no more than the block has, and of
///    a unit of its tree; if the counter says that the block is in a slot, it is (place: the
///    counter)
/// I6 a slot is empty or has units left, of a block of its unit that is not free; the block's
///    counter counts them, and says that it is in a slot (place: 16 * slot + unit)
/// I7 no two slots have the same block (place: 16 * slot + unit)
/// I8 no segment is on its way, no run is being claimed (place: 0)
///
/// Progress: taking units of a block and giving them back is wait-free, trees are lock-free. There
/// are four waits:
/// - a lane that finds its slot used up waits until the lane that used it up has stored a block;
/// - that lane waits, in `gallatin_blocks::acquire`, while others move segments of its tree;
/// - a lane that wants a run of segments waits for the one that claims a run;
/// - a group that finds nothing waits for those that examine parts of the search that it shares
///   with them. A lane that moves a segment, claims a run or examines a part never waits, so chains
/// of waits end; and no awaited lane has a collective with its waiter before it is done, so it may
/// be a lane of the waiter's own warp. Members of a group wait for their leader while it fills a
/// slot; the leader never waits for them.
///
/// Steady load: the slices of a block come back together, once all of them are free, so little of
/// what was freed is available. Lanes that find no block search the trees and all slots together,
/// and what they do not find is known until something becomes available (`gallatin_shortages`).
/// In the survey's case, a launch with sizes from 16 B to 4 KiB took 500 ms, one with 1 to
/// 32 KiB 719 ms, and one with 64 B alone 11 ms. In the checked load, whose heap is four times as
/// large, the longest took less than a third of the 500 ms.
///
/// Null: nothing was free at a moment of the call: neither the trees nor, after a search of all
/// slots, the buffers had anything, and nothing of this unit was on its way. That search returns
/// blocks of other sizes that wait in buffers with none of their units in use. Or two searches
/// found nothing, and something became available during each of them: what is available all the
/// time was seen by the second. Or others were moving memory of other units in 16 searches, or it
/// lost to others in 32 (`patience`). Units that were given back are not free before all of their
/// block are, also those of a block that waits in a slot: so an emptied heap may hold less than a
/// new one, by less than a block for each slot.
///
/// Deviations from the paper, and why:
/// - The count of slices handed out is in the buffer's slot, beside the block, and not in the
///   block: one atomic in place of three dependent accesses, and no lane can take slices of a block
///   that has left the buffer, so nothing needs to be undone and no count can run over.
/// - A block tree holds blocks, not segments: a claim of a bit takes the place of a ring queue and
///   a counter in each segment, behind a lock for each tree. Nothing is published in order, nothing
///   waits, and a claim can never be of the wrong tree.
/// - The counter of given-back slices counts down, in units. A unit of several slices then needs no
///   correction in advance, and freeing it is the same as freeing a slice. Each number of slices
///   has slots and blocks of its own.
/// - Slots: one per size and multiprocessor, as far as `buffer_share` of the heap allows, filled at
///   their first use. The paper has four slots for large slices, which limited it. Its slots are
///   filled from the start, which takes at least 16 segments, and a slot that could not be refilled
///   was lost.
/// - Smaller segments with proportionally fewer slices per block in small heaps.
/// - A lane takes the first free segment, or under contention one of the first.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/gallatin/blocks.hpp"
#include "warpheap/managers/gallatin/buffers.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/managers/gallatin/inspection.hpp"
#include "warpheap/managers/gallatin/publication.hpp"
#include "warpheap/managers/gallatin/segments.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <gallatin_config Config = gallatin_config{}>
class gallatin {
 public:
  using options = no_options;
  using geometry = gallatin_geometry<Config>;
  using segment_store = gallatin_segments<Config>;
  using block_store = gallatin_blocks<Config>;
  using block_buffers = gallatin_buffers<Config>;

  static constexpr capabilities about{
      .name = "gallatin",
      .description = "segments, blocks and slices over bitmap trees",
      .folder = "gallatin",
      .published = gallatin_publication,
      .deviations =
          {"The count of slices handed out is in the buffer's slot, not in the block.",
           "Trees hold blocks, not segments, in place of a ring queue in each segment.",
           "Counters of slices given back count down, in units.",
           "One slot per multiprocessor and size, as far as the heap allows, filled at its "
           "first use.",
           "Small heaps have smaller segments."},
      .reuse = memory_reuse::partial,
  };

  gallatin(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    geometry shape(memory.bytes, machine.multiprocessors);
    const std::size_t most = memory.bytes >> shape.segment_shift();
    lay_out_most(memory, about.name, 1u, geometry::segments_among(most),
                 [&](region_cursor& cursor, std::uint32_t segments) {
                   shape.set_segments(segments);
                   buffers_ = block_buffers(block_store(shape, cursor), cursor);
                   segments_ = cursor.take<std::byte>(
                       std::size_t{segments} << shape.segment_shift(), Config.largest_slice);
                 });
  }

  WARPHEAP_HD geometry shape() const { return buffers_.blocks().shape(); }
  WARPHEAP_HD const block_buffers& buffers() const { return buffers_; }
  /// Where segment 0 begins.
  WARPHEAP_HD std::byte* segments() const { return segments_; }

  /// A run of all segments.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{shape().segments()} << shape().segment_shift();
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    buffers_.blocks().format(rank, count);
    buffers_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    if (bytes <= geometry::largest_unit) return malloc_unit(geometry::unit_for(bytes));
    if (bytes <= shape().segment_bytes()) return malloc_block(shape().tree_for_block(bytes));
    return malloc_run(bytes);
  }

  WARPHEAP_DEVICE void free(void* pointer) const {
    WARPHEAP_ASSERT(pointer != nullptr);
    const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(pointer) - segments_);
    const std::uint64_t segment = offset >> shape().segment_shift();
    if (segment >= shape().segments()) return;  // not of this heap
    const auto first = static_cast<std::uint32_t>(segment);
    const std::uint32_t kind = buffers_.blocks().segments().kind(first);
    if (kind < geometry::trees) {
      free_unit(kind, static_cast<std::uint32_t>(offset >> shape().block_shift(kind)));
    } else if (gallatin_segment::is_run(kind)) {
      buffers_.blocks().segments().release_run(first, gallatin_segment::length(kind));
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    gallatin_inspector<Config>(buffers_, findings).run(rank, count);
  }

 private:
  using outlook = typename block_buffers::outlook;
  using shortages = gallatin_shortages<Config>;

  /// How long a group searches. Each search in vain is a strain: the more, the less hope there
  /// is. Memory may always be on its way, and always to others.
  static constexpr int patience = 64;
  static constexpr int strain_of_hope = 2;
  static constexpr int strain_of_waiting = 4;  // for memory of other units on its way
  static constexpr int strain_of_none = patience / 2;
  static constexpr std::uint32_t wait_ns = 200;

  WARPHEAP_DEVICE std::byte* block_address(std::uint32_t tree, std::uint32_t block) const {
    return segments_ + (std::size_t{block} << shape().block_shift(tree));
  }
  WARPHEAP_DEVICE std::byte* unit_address(std::uint32_t unit, std::uint32_t block,
                                          std::uint32_t number) const {
    return block_address(geometry::tree_of(unit), block) + number * geometry::unit_bytes(unit);
  }

  WARPHEAP_DEVICE void* malloc_unit(std::uint32_t unit) const {
    const std::uint32_t capacity = shape().capacity(unit);
    std::uint32_t slot = buffers_.own_slot(unit);
    bool first_time = true;
    int patience_left = patience;
    for (;;) {
      // The group is formed again each time: lanes that got their unit have left.
      const simt::group together = simt::coalesced(&buffers_.copy());
      together.sync();  // what members have freed comes before what the leader takes for them
      const simt::group same = together.match(unit);
      const auto wanted = static_cast<std::uint32_t>(same.size());
      const auto rank = static_cast<std::uint32_t>(same.rank());
      std::uint64_t word = 0;
      if (same.is_leader()) word = ask(slot, unit, wanted, first_time).word();
      first_time = false;
      same.sync();  // what the leader has acquired is the members' as well
      const auto before = gallatin_slot::of(same.broadcast(word));
      const std::uint32_t room = before.has_units(capacity) ? capacity - before.taken : 0;
      if (wanted < room) return unit_address(unit, before.block, before.taken + rank);
      // All wait for the leader if it fills the slot: the rest get their units from the new block,
      // and lanes that already have theirs would only get in the leader's way.
      std::uint32_t fresh = gallatin_slot::filling;
      if (same.is_leader()) fresh = next_block(slot, simt::as_needed(unit), before, room, wanted);
      same.sync();
      fresh = same.broadcast(fresh);
      if (rank < room) return unit_address(unit, before.block, before.taken + rank);
      if (fresh < gallatin_slot::filling) {
        if (rank - room < capacity) return unit_address(unit, fresh, rank - room);
      } else if (fresh == gallatin_slot::filling) {
        simt::backoff(wait_ns);  // for the slot's owner
      } else if (room == 0 && !worth_another_try(same, unit, slot, patience_left)) {
        return nullptr;
      }
    }
  }

  /// Takes units; after a first time that failed, only if there seem to be some.
  WARPHEAP_DEVICE gallatin_slot ask(std::uint32_t slot, std::uint32_t unit, std::uint32_t wanted,
                                    bool first_time) const {
    if (!first_time) {
      const gallatin_slot now = buffers_.look(slot, unit);
      if (!now.has_units(shape().capacity(unit))) return now;
    }
    return buffers_.take(slot, unit, wanted);
  }

  /// For a group that found the slot as `before` and took its last `room` units, if any: fills the
  /// slot if that falls to the group. The new block, whose first units are the group's; or `empty`
  /// if there is none, or `filling` if another lane is filling the slot.
  WARPHEAP_DEVICE std::uint32_t next_block(std::uint32_t slot, std::uint32_t unit,
                                           const gallatin_slot& before, std::uint32_t room,
                                           std::uint32_t wanted) const {
    using claim = typename block_buffers::claim;
    if (room == 0) {
      if (!before.is_empty()) return gallatin_slot::filling;
      if (buffers_.blocks().shortages().is_out(unit)) return gallatin_slot::empty;
      const claim claimed = buffers_.claim_empty(slot, unit);
      if (claimed == claim::nothing_there) return gallatin_slot::empty;
      if (claimed == claim::lost) return gallatin_slot::filling;
    } else {
      buffers_.blocks().leave_slot(geometry::tree_of(unit), before.block);
    }
    return buffers_.refill(slot, unit, wanted - room);
  }

  WARPHEAP_DEVICE void* malloc_block(std::uint32_t tree) const {
    std::uint32_t no_slot = 0;
    int patience_left = patience;
    for (;;) {
      const simt::group together = simt::coalesced(&buffers_.copy());
      together.sync();  // as above
      const simt::group same = together.match(tree);
      typename block_store::blocks got;
      if (same.is_leader()) {
        got = buffers_.blocks().acquire(tree, same.size(), shape().multiprocessors());
      }
      same.sync();  // what the leader has acquired is the members' as well
      got.word = same.broadcast(got.word);
      got.bits = same.broadcast(got.bits);
      if (same.rank() < got.count()) {
        const std::uint32_t block = got.nth(same.rank());
        buffers_.blocks().open(tree, block, block_store::whole_block, 1, false);
        return block_address(tree, block);
      }
      if (got.bits == 0 &&
          !worth_another_try(same, shortages::of_blocks(tree), no_slot, patience_left)) {
        return nullptr;
      }
    }
  }

  /// The last resort of lanes that have found nothing in the trees: true if there may be something
  /// now, false if the heap is exhausted. A collective.
  /// \param slot changed to one that has units of `unit`, if that is where they are
  WARPHEAP_DEVICE bool worth_another_try(const simt::group& team, std::uint32_t kind,
                                         std::uint32_t& slot, int& patience_left) const {
    const bool out = team.is_leader() && buffers_.blocks().shortages().is_out(kind);
    if (team.any(out)) return false;
    const prospect seen =
        simt::call_apart(&look_everywhere, buffers_.copy(), team.mask(), kind, slot);
    slot = seen.slot;
    patience_left -= seen.strain;
    return seen.hope && patience_left > 0;
  }

  /// What a search of everything means for those that wait for it.
  struct prospect {
    bool hope;
    int strain;  ///< on their patience
    std::uint32_t slot;
  };

  WARPHEAP_RARE static prospect look_everywhere(const block_buffers& in, simt::lane_mask members,
                                                std::uint32_t kind, std::uint32_t slot) {
    const simt::group team(members);
    const shortages& known = in.blocks().shortages();
    auto& search = known.begin(kind);
    bool found = false;
    bool in_slot = false;
    const auto examine = [&](std::uint32_t first, std::uint32_t count) {
      auto seen = in.search(team, kind, first, count);
      // The trees belong to the first slice.
      if (first == 0 && team.is_leader() && seen.outlook < outlook::coming &&
          in.blocks().examine_obtainable(shortages::tree_of(kind))) {
        seen.outlook = outlook::coming;
      }
      found = team.any(seen.outlook >= outlook::gained);
      in_slot = team.any(seen.outlook == outlook::in_slot);
      return seen;
    };
    search.search(
        team, in.blocks().shape().multiprocessors(), [&] { return found ? 0u : 1u; }, examine);
    if (!found && team.any(team.is_leader() && known.is_out(kind))) return {false, 0, slot};
    const auto left = static_cast<outlook>(team.broadcast(search.known().left()));
    const std::uint32_t with_units = team.broadcast(search.known().slot());
    if (in_slot || left == outlook::in_slot) return {true, strain_of_hope, with_units};
    if (found) return {true, 0, slot};  // by this group: its gains end
    if (left == outlook::gained) return {true, strain_of_hope, slot};
    simt::backoff(wait_ns);
    if (left == outlook::coming) return {true, strain_of_hope, slot};
    // Something has become available meanwhile. The round may have begun before this call, but not
    // the next one: it sees what is free all the time.
    return {true, left == outlook::none ? strain_of_none : strain_of_waiting, slot};
  }

  WARPHEAP_DEVICE void* malloc_run(std::size_t bytes) const {
    const auto length = static_cast<std::uint32_t>((bytes - 1) >> shape().segment_shift()) + 1;
    const std::uint32_t first = simt::call_apart(&take_run, buffers_.copy(), length);
    if (first == segment_store::none) return nullptr;
    return segments_ + (std::size_t{first} << shape().segment_shift());
  }

  /// The first of `length` segments in a row, which are the caller's, or none.
  WARPHEAP_RARE static std::uint32_t take_run(const block_buffers& in, std::uint32_t length) {
    const simt::group alone(simt::lane_mask::of(simt::lane_id()));
    bool last_time = false;
    for (int patience_left = patience;;) {
      bool busy = false;
      const std::uint32_t first = in.blocks().segments().acquire_run(length, busy);
      if (first != segment_store::none) return first;
      if (busy) {
        simt::backoff(wait_ns);
        continue;
      }
      if (last_time) return segment_store::none;
      const std::uint32_t all = in.blocks().shape().multiprocessors();
      const outlook found = in.search(alone, block_buffers::no_unit, 0, all).outlook;
      if (found == outlook::elsewhere_coming && patience_left > 0) {
        --patience_left;
        simt::backoff(wait_ns);
      } else {
        // Again, even if this lane has gained nothing: another one may have.
        last_time = found != outlook::gained;
      }
    }
  }

  WARPHEAP_DEVICE void free_unit(std::uint32_t tree, std::uint32_t block) const {
    const simt::group same =
        simt::coalesced(&buffers_.copy()).match(geometry::counter_of(tree, block));
    same.sync();  // what the members did comes before what the leader releases
    if (same.is_leader()) {
      buffers_.blocks().give_back(tree, block, static_cast<std::uint32_t>(same.size()));
    }
  }

  block_buffers buffers_;
  std::byte* segments_;
};

WARPHEAP_END_NAMESPACE
