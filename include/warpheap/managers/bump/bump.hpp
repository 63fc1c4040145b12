// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Baselines that hand out the heap from front to back and never take anything back. They show
/// what allocation costs when there is nothing to manage: no real manager is faster than
/// `bump_sharded`, which is why the survey gives every other time as a ratio to it.
///
/// Algorithm: add the rounded size to a counter; the old value is the block's offset.
/// - one:    one counter, one atomic per lane;
/// - warp:   one counter, one atomic for all lanes that call together;
/// - sharded: as `warp`, over one counter for each multiprocessor, each with its share of the heap;
///   a shard that is used up sends its callers to the next one.
///
/// The largest block is the share of a counter: the whole heap for the first two, the heap over the
/// number of multiprocessors for the last. A request that fails leaves a gap.
///
/// Layout:
///
///     [ counters, one per 128 B ][ blocks ... ]
///
/// Invariants: I1 no counter has come near to wrapping around (place: the shard).
///
/// Progress: wait-free except for the walk over shards, which visits each once.
///
/// Null: each counter had too little left when the lane looked there, maybe because of larger
/// requests that failed before. Nothing comes back until a reset.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/sync/bump_counter.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

enum class bump_counters { one, warp, sharded };

struct bump_config {
  bump_counters counters = bump_counters::sharded;
};

template <bump_config Config = bump_config{}>
class bump {
 public:
  using options = no_options;

  static constexpr capabilities about{
      .name = Config.counters == bump_counters::one    ? "bump"
              : Config.counters == bump_counters::warp ? "bump_warp"
                                                       : "bump_sharded",
      .description = Config.counters == bump_counters::one
                         ? "a counter without reuse, one atomic per lane"
                     : Config.counters == bump_counters::warp
                         ? "a counter without reuse, one atomic for all lanes that call together"
                         : "one counter per multiprocessor without reuse: a probe of the limit",
      .folder = "bump",
      .frees = false,
      .reuse = memory_reuse::none,
  };

  bump(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    shards_ = Config.counters == bump_counters::sharded ? machine.multiprocessors : 1;
    const std::uint64_t most = memory.bytes / granule / shards_;
    lay_out_most(memory, about.name, std::uint64_t{1}, most < 1 ? 1 : most,
                 [this](region_cursor& cursor, std::uint64_t granules) {
                   counters_ = cursor.take<counter>(shards_, alignof(counter));
                   share_ = granules * granule;
                   blocks_ = cursor.take<std::byte>(share_ * shards_, granule);
                 });
  }

  /// A block lies in one shard.
  WARPHEAP_HD std::size_t largest_block() const { return share_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < shards_; i += count) counters_[i].granules = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint64_t need = ceil_div<std::uint64_t>(bytes, granule);
    // The sum over a group must fit in 32 bits: larger requests are made separately.
    if (Config.counters == bump_counters::one || need > most_together) return alone(0, need);
    return together(static_cast<std::uint32_t>(need));
  }

  WARPHEAP_DEVICE void free(void* block) const { WARPHEAP_ASSERT(block != nullptr); }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    const std::uint64_t granules = share_ / granule;
    for (std::uint64_t i = rank; i < shards_; i += count) {
      const std::uint64_t asked = counters_[i].granules;
      // Requests that failed were counted too, each at most a share.
      findings.expect(asked < 2 * run_on, 1, i);
      const std::uint64_t used = asked < granules ? asked : granules;
      findings.in_use(used != 0 ? 1 : 0, used * granule);
    }
  }

 private:
  static constexpr std::size_t granule = 16;
  static constexpr std::uint64_t most_together = 1u << 26;  // 1 GiB
  /// A counter that has reached this value is set back. All lanes of a machine together request
  /// less than the rest of the 64 bits before one of them sees it.
  static constexpr std::uint64_t run_on = std::uint64_t{1} << 61;

  /// A cache line of its own, so that shards do not share one.
  struct alignas(128) counter {
    std::uint64_t granules;
  };

  /// The block at `start` of a shard, if it ends within the share.
  WARPHEAP_DEVICE void* place(std::uint32_t shard, std::uint64_t start, std::uint64_t need) const {
    const std::uint64_t granules = share_ / granule;
    if (start + need > granules) {
      // Back to the end of the share, beyond which nothing was ever handed out: whether others add
      // before or after this, they find no room.
      if (start >= run_on) {
        simt::atomic_ref(counters_[shard].granules).store(granules, simt::order::relaxed);
      }
      return nullptr;
    }
    return blocks_ + (shard * granules + start) * granule;
  }

  /// The next granules of a shard. Relaxed: blocks are never handed out twice, so there is no last
  /// owner to be ordered against. A counter keeps growing when requests fail, and `place` sets it
  /// back before it wraps: checking it first would cost every request a round trip.
  WARPHEAP_DEVICE std::uint64_t advance(std::uint32_t shard, std::uint64_t need) const {
    return simt::atomic_ref(counters_[shard].granules).fetch_add(need, simt::order::relaxed);
  }

  WARPHEAP_DEVICE void* alone(std::uint32_t first_shard, std::uint64_t need) const {
    void* block = nullptr;
    for (std::uint32_t tries = 0; tries < shards_ && block == nullptr; ++tries) {
      const std::uint32_t shard = (first_shard + tries) % shards_;
      block = place(shard, advance(shard, need), need);
    }
    return block;
  }

  WARPHEAP_DEVICE void* together(std::uint32_t need) const {
    // A warp is on one multiprocessor, so lanes that call together start at one shard.
    const simt::group callers = simt::coalesced(counters_);
    const std::uint32_t shard =
        Config.counters == bump_counters::sharded ? callers.broadcast(simt::sm_id()) % shards_ : 0;
    // Relaxed for the same reason as in `advance`.
    const std::uint64_t start =
        sync::bump_together(callers, counters_[shard].granules, need, simt::order::relaxed);
    void* block = place(shard, start, need);
    return block != nullptr || shards_ == 1 ? block : alone(shard, need);
  }

  counter* counters_;
  std::byte* blocks_;
  std::uint64_t share_;
  std::uint32_t shards_;
};

WARPHEAP_END_NAMESPACE
