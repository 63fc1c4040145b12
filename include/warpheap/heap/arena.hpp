// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/arena_blocks.hpp"
#include "warpheap/simt/device_memory.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE

struct arena_options {
  /// Bytes of the smallest piece, a multiple of 16, from 64 to the heap's largest block; 0: 64 KiB,
  /// or the largest block if that is smaller. Requests that are larger than a piece, less its head
  /// of 32 bytes, get a block of the heap each. Pieces double from one to the next, until one for
  /// each multiprocessor takes an eighth of the heap.
  std::size_t piece_bytes = 0;
};

namespace detail {

// Functors of kernels cannot be private members: nvcc refuses those.
enum class arena_task { begin, release, rewind };

template <block_manager M>
struct arena_lanes {
  arena_blocks<M> blocks;
  arena_task task;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    const std::uint64_t count = simt::grid_size();
    if (task == arena_task::begin) blocks.begin(rank, count);
    if (task == arena_task::release) blocks.release(rank, count);
    if (task == arena_task::rewind) blocks.rewind(rank, count);
  }
};

template <block_manager M>
struct measure_arena {
  arena_blocks<M> blocks;
  arena_stats* sum;
  WARPHEAP_DEVICE void operator()() const {
    blocks.measure(simt::thread_rank(), simt::grid_size(), *sum);
  }
};

}  // namespace detail

/// Memory for the duration of a launch, taken from a heap: `malloc` is as fast as a counter, `free`
/// does nothing, and everything is given back at once.
///
///     warpheap::arena scratch{heap};
///     kernel<<<grid, block>>>(scratch.ref());   // as a handle of the heap; others use the heap
///     scratch.release();                        // or rewind(), to hand the same out again
///
/// It takes pieces from the heap, each of them one block, and hands out parts of them one after the
/// other, in multiples of 16 bytes and aligned to 16. Unused memory (`stats`) is the end of each
/// piece, which is less than one request, and up to all of each shard's last piece. If the heap has
/// no block for another piece, a request gets a block of its own size, or what another shard has
/// left, before it gets null. Null counts as a failure of the heap.
///
/// In a kernel, `ref().manager().release(rank, count)` and `rewind` do the same, called by `count`
/// lanes.
///
/// A heap can have several arenas, for example one for each stream. Release an arena before its
/// heap is reset or destroyed. Works with any manager that frees single blocks.
template <block_manager M>
class arena {
 public:
  using ref_type = handle<arena_blocks<M>>;
  using options = arena_options;

  /// Takes nothing from the heap yet, but a few hundred bytes for each multiprocessor from the
  /// device.
  /// \throws invalid_argument if pieces cannot have `piece_bytes`, out_of_memory if the device has
  ///   no memory
  explicit arena(const heap<M>& from, const options& settings = {})
      : arena(from, from.on(), settings) {}

  /// The same, with all its launches queued on the stream of `on`.
  /// \param on the heap's device
  arena(const heap<M>& from, const device& on, const options& settings = {})
      : arena(from, on, settings,
              arena_blocks<M>::shards_for(from.bytes(), on.properties(), settings.piece_bytes)) {}

  /// The arena that was moved from holds nothing.
  arena(arena&&) = default;
  arena& operator=(arena&&) = delete;

  /// Gives everything back, and waits until that is done.
  ~arena() {
    if (state_.get() == nullptr) return;  // moved from
    try {
      release();
      device_.synchronize();
    } catch (const error& broken) {
      std::fprintf(stderr, "warpheap: an arena cannot be given back: %s\n", broken.what());
    }
  }

  /// The handle for kernels, passed by value. Valid as long as the arena exists. O(1), as
  /// `largest_block`.
  ref_type ref() const {
    require_state();
    return heap_.with(blocks_);
  }

  /// Bytes of the largest request that it can serve, a little less than that of the heap.
  std::size_t largest_block() const { return blocks_.largest_block(); }

  /// Gives everything back to the heap. All blocks become invalid. Queued after earlier launches on
  /// the same device or stream; does not wait. One small launch, O(pieces) on the device.
  void release() { launch(detail::arena_task::release); }

  /// Like `release`, but keeps the pieces and hands them out again. Requests that got their own
  /// block from the heap give it back.
  void rewind() { launch(detail::arena_task::rewind); }

  /// How much it holds, and how much of that is handed out. Waits for the device; O(pieces) there.
  /// Call it while no lane uses the arena, from one host thread at a time.
  arena_stats stats() const {
    require_state();
    auto* const sum = reinterpret_cast<arena_stats*>(state_.get() + stats_at(shards_));
    return detail::collect(device_, whole(), sum, detail::measure_arena<M>{blocks_, sum});
  }

 private:
  arena(const heap<M>& from, const device& on, const options& settings, std::uint32_t shards)
      : device_(on),
        heap_(from.ref()),
        shards_(shards),
        state_(on, stats_at(shards) + sizeof(arena_stats)),
        blocks_(heap_.manager(), from.bytes(), state_.get(), shards, settings.piece_bytes) {
    launch(detail::arena_task::begin);
    // Kernels on other streams may come next.
    device_.synchronize();
  }

  /// Where `stats` adds up, after the shards.
  static std::size_t stats_at(std::uint32_t shards) {
    return round_up<std::size_t>(arena_blocks<M>::state_bytes(shards), alignof(arena_stats));
  }

  void require_state() const {
    if (state_.get() == nullptr) throw invalid_argument("this arena was moved from");
  }
  void launch(detail::arena_task task) const {
    require_state();
    device_.launch(whole(), detail::arena_lanes<M>{blocks_, task});
  }
  /// A lane for each list of blocks.
  simt::grid whole() const {
    return simt::grid::covering(std::uint64_t{shards_} * simt::warp_size);
  }

  device device_;
  handle<M> heap_;
  std::uint32_t shards_;
  device_memory state_;
  arena_blocks<M> blocks_;
};

WARPHEAP_END_NAMESPACE
