// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "small_heap.hpp"

#include "warpheap/managers/gallatin/gallatin.hpp"

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
  static constexpr std::uint32_t small_segment = 512;
  using small = Manager<Config{.segment_bytes = small_segment,
                               .smallest_slice = 16,
                               .largest_slice = 64,
                               .least_segments = 1,
                               .buffer_share = 1}>;
  /// Segments of two blocks that are too large for units.
  static constexpr std::uint32_t halves_segment = 2048;
  using halves = Manager<Config{.segment_bytes = halves_segment,
                                .smallest_slice = 16,
                                .largest_slice = 64,
                                .least_segments = 1,
                                .buffer_share = 1}>;
  /// Segments whose blocks fill four words of their tree.
  static constexpr std::uint32_t many_blocks_segment = 32768;
  using many_blocks = Manager<Config{.segment_bytes = many_blocks_segment, .least_segments = 1}>;
};

/// A setup with this many segments, and what the cases ask of them.
struct gallatin_setup {
  any_setup how;
  std::uint32_t segments;
  std::uint32_t segment_bytes;
  std::byte* (*first_segment)(any_manager& of);
};

/// The smallest region in which the manager has at least this many segments.
template <class M, std::uint32_t SegmentBytes>
gallatin_setup gallatin_with(std::uint32_t segments) {
  // Slices are powers of two, and fill each segment. 200 bytes are one of 256, or four of 64.
  const auto room = static_cast<int>(segments * SegmentBytes);
  constexpr std::size_t step = 256;
  for (std::size_t bytes = step;; bytes += step) {
    try {
      auto* const nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
      const M fitting(region{nowhere, bytes}, explored_machine(), {});
      if (fitting.shape().segments() >= segments) {
        return {setup<M>{.region_bytes = bytes,
                         .sizes = {16, 64, 30, 200},
                         .holds = {room / 16, room / 64, room / 32, room / 256},
                         .reuses = false,
                         .freed = {reuse_at_rest::of_any_size_once_empty,
                                   "slices are reused only once all slices of their block are "
                                   "back"}},
                static_cast<std::uint32_t>(fitting.shape().segments()),
                static_cast<std::uint32_t>(fitting.shape().segment_bytes()), [](any_manager& of) {
                  return static_cast<manager_behind<M>&>(of).get().segments();
                }};
      }
    } catch (const invalid_argument&) {
      // larger, then
    }
  }
}

/// Makes a setup for a number of segments; called when a case begins, as it takes a while.
using gallatin_maker = gallatin_setup (*)(std::uint32_t segments);

/// The configurations of a family.
struct gallatin_makers {
  template <class Family>
  static gallatin_makers of() {
    return {gallatin_with<typename Family::small, Family::small_segment>,
            gallatin_with<typename Family::halves, Family::halves_segment>,
            gallatin_with<typename Family::many_blocks, Family::many_blocks_segment>};
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
  explicit gallatin_world(const gallatin_setup& how) : heap(how.how), setup_(how) {}

  gallatin_setup setup_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
