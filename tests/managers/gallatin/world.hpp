// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/capacity.hpp"
#include "manager_cases.hpp"
#include "small_heap.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Configurations of Gallatin in which lanes meet. `Config` and `Manager` are those of the original
/// or of a mutant of it.
template <class Config, template <Config> class Manager>
struct gallatin_family {
  /// Segments of 512 B: one block of eight slices of 64 B, or two of eight of 32 B, or four of
  /// eight of 16 B. A warp of four lanes uses a block up in two calls.
  static constexpr Config small{.segment_bytes = 512,
                                .smallest_slice = 16,
                                .largest_slice = 64,
                                .least_segments = 1,
                                .buffer_share = 1};
  /// Segments of two blocks that are too large for units.
  static constexpr Config halves{.segment_bytes = 2048,
                                 .smallest_slice = 16,
                                 .largest_slice = 64,
                                 .least_segments = 1,
                                 .buffer_share = 1};
  /// Segments whose blocks fill four words of their tree.
  static constexpr Config many_blocks{.segment_bytes = 32768, .least_segments = 1};

  template <Config Of>
  using manager = Manager<Of>;
};

/// A setup with this many segments, and what the cases ask of them.
struct gallatin_setup {
  any_setup how;
  std::uint32_t segments;
  std::uint32_t segment_bytes;
  std::byte* (*first_segment)(any_manager& of);
};

/// Bytes of a region with room for this many segments and no more, from the drawing of the layout:
/// the manager is not asked, so a segment that it loses is missed.
constexpr std::size_t gallatin_region_bytes(const auto& config, std::uint32_t segments) {
  const auto trees =
      static_cast<std::uint32_t>(floor_log2(config.largest_slice / config.smallest_slice)) + 1;
  const std::uint32_t units = trees + 7;
  const std::uint32_t blocks = segments << (trees - 1);
  test::layout_bytes front;
  front
      .array(trees + 1, 128)         // moves, run claims and lock
      .array(units + trees + 1, 64)  // searches, and whether there was one
      .array(segments, 4)            // memory table
      .trees(1, segments);
  // Free blocks: each tree has the room of the first one.
  for (std::uint32_t tree = 0; tree < trees; ++tree) front.trees(1, blocks);
  return front
      .array(blocks, 4)  // counters
      .array(explored_machine().multiprocessors, 128)
      .array(1, 128)  // copy of the handle
      .then(segments * config.segment_bytes, std::max(config.largest_slice, 128u));
}

template <class Family, auto Config>
gallatin_setup gallatin_with(std::uint32_t segments) {
  using manager = typename Family::template manager<Config>;
  constexpr auto segment_bytes = static_cast<std::uint32_t>(Config.segment_bytes);
  // Slices are powers of two, and fill each segment. 200 bytes are one of 256, or four of 64.
  const auto room = static_cast<int>(segments * segment_bytes);
  return {setup<manager>{.region_bytes = gallatin_region_bytes(Config, segments),
                         .sizes = {16, 64, 30, 200},
                         .holds = {room / 16, room / 64, room / 32, room / 256},
                         .reuses = false,
                         .freed = {reuse_at_rest::of_any_size_once_empty,
                                   "slices are reused only once all slices of their block are "
                                   "back"}},
          segments, segment_bytes, [](any_manager& of) {
            return static_cast<manager_behind<manager>&>(of).get().segments();
          }};
}

/// Makes a setup for a number of segments.
using gallatin_maker = gallatin_setup (*)(std::uint32_t segments);

/// The configurations of a family.
struct gallatin_makers {
  template <class Family>
  static gallatin_makers of() {
    return {gallatin_with<Family, Family::small>, gallatin_with<Family, Family::halves>,
            gallatin_with<Family, Family::many_blocks>};
  }
  gallatin_maker small;
  gallatin_maker halves;
  gallatin_maker many_blocks;
};

/// A heap of a few segments, of which blocks may be held from the start.
template <simt::grid Shape = two_warps>
class gallatin_world {
 public:
  static constexpr simt::grid shape = Shape;

  gallatin_world(gallatin_maker make, std::uint32_t segments) : gallatin_world(make(segments)) {}

  void reset(std::uint64_t /*seed*/) {
    heap.restore();
    for (const auto& [block, bytes] : held) heap.adopt(block, bytes);
    granted = 0;
    refused = 0;
  }
  std::string verdict() { return heap.problem(); }
  any_heap& explored() { return heap; }

 protected:
  struct held_block {
    std::byte* start;
    std::uint32_t bytes;
  };

  std::uint32_t segment_bytes() const { return setup_.segment_bytes; }
  std::uint32_t all_bytes() const { return setup_.segments * setup_.segment_bytes; }
  std::byte* first_segment() const { return setup_.first_segment(heap.manager()); }

  // For constructors: a single lane brings the heap into the state that schedules start from.

  std::byte* take_before(std::uint32_t bytes) {
    std::byte* block = nullptr;
    heap.run_quietly(
        [this, bytes, &block] { block = static_cast<std::byte*>(heap.manager().malloc(bytes)); });
    return block;
  }
  void give_before(std::byte* block) {
    heap.run_quietly([this, block] { heap.manager().free(block); });
  }
  /// `blocks` are held in this state.
  void start_here(std::vector<held_block> blocks = {}) {
    heap.keep_state();
    held = std::move(blocks);
  }

  // For lanes.

  std::byte* take(std::uint32_t bytes) {
    std::byte* block = heap.take(bytes);
    ++(block == nullptr ? refused : granted);
    return block;
  }
  void give(std::byte* block) {
    if (block != nullptr) heap.give(block);
  }

  /// As `problem`; and, as nothing is held, all of the heap is available as one block.
  std::string problem_when_empty() {
    std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    std::byte* everything = nullptr;
    heap.run_quietly([this, &everything] { everything = heap.take(all_bytes()); });
    return everything == nullptr ? "memory was lost: the whole heap is not available as one block"
                                 : heap.problem();
  }

  any_heap heap;
  std::vector<held_block> held;
  untracked<int> granted = 0;
  untracked<int> refused = 0;

 private:
  explicit gallatin_world(const gallatin_setup& how) : heap(how.how), setup_(how) {
    // The states that cases start from need all of it.
    if (const std::string wrong = heap.problem(); !wrong.empty()) {
      throw invalid_argument(how.how.name + ": " + wrong);
    }
  }

  gallatin_setup setup_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
