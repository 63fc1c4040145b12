// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Baselines that hand out the heap from front to back and never take anything back. They show
/// what allocation costs when there is nothing to manage: no real manager is faster than
/// `bump_sharded`, which is why the survey gives every other time as a ratio to it.
///
/// Algorithm: add the rounded size to a counter; the old value is the block's offset.
/// - one:    one counter, one atomic a lane;
/// - warp:   one counter, one atomic for all lanes that call together;
/// - sharded: as `warp`, over one counter for each multiprocessor, each with its share of the heap;
///   a shard that is used up sends its callers to the next one.
///
/// Layout: [ counters, one each 128 B ][ blocks ... ]
///
/// Invariants: I1 every counter is a multiple of 16 (place: the shard).
///
/// Progress: wait-free but for the walk over shards, which visits each once.

#include "warpheap/heap/manager.hpp"

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
      .family = "baseline",
      .frees = false,
      .reuse = memory_reuse::none,
  };

  bump(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    region_cursor cursor(memory, about.name);
    shards_ = Config.counters == bump_counters::sharded ? machine.multiprocessors : 1;
    counters_ = cursor.take<counter>(shards_, alignof(counter));
    share_ = cursor.left(granule) / shards_ / granule * granule;
    blocks_ = cursor.take<std::byte>(share_ * shards_, granule);
    if (share_ == 0) cursor.take<std::byte>(granule * shards_, granule);  // throws: too small
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < shards_; i += count) counters_[i].used = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    if (bytes == 0 || bytes > share_) return nullptr;
    const std::uint64_t need = round_up<std::uint64_t>(bytes, granule);
    if constexpr (Config.counters == bump_counters::one) {
      return place(0, simt::atomic_ref(counters_[0].used).fetch_add(need, simt::order::relaxed),
                   need);
    } else {
      return together(need);
    }
  }

  WARPHEAP_DEVICE void free(void* /*block*/) const {}

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    for (std::uint64_t i = rank; i < shards_; i += count) {
      findings.expect(counters_[i].used % granule == 0, 1, i);
      const std::uint64_t used = counters_[i].used < share_ ? counters_[i].used : share_;
      findings.in_use(used != 0 ? 1 : 0, used);
    }
  }

 private:
  static constexpr std::size_t granule = 16;

  /// A cache line of its own, so that shards do not share one.
  struct alignas(128) counter {
    std::uint64_t used;
  };

  WARPHEAP_DEVICE void* place(std::uint32_t shard, std::uint64_t offset, std::uint64_t need) const {
    // A counter runs on past its share when requests fail; 2^64 is out of reach.
    if (offset + need > share_) return nullptr;
    return blocks_ + shard * share_ + offset;
  }

  WARPHEAP_DEVICE void* together(std::uint64_t need) const {
    void* block = nullptr;
    std::uint32_t shard = Config.counters == bump_counters::sharded ? simt::sm_id() % shards_ : 0;
    for (std::uint32_t tries = 0; tries < shards_ && block == nullptr; ++tries) {
      const simt::group callers = simt::coalesced().match(shard);
      const std::uint64_t before = callers.scan_add(need);
      // The highest member's sum is the whole group's.
      const int last = callers.mask().nth(callers.size() - 1);
      const std::uint64_t total = callers.shuffle(before + need, last);
      std::uint64_t start = 0;
      if (callers.is_leader()) {
        simt::atomic_ref used(counters_[shard].used);
        // A shard that is full is not added to, so that counters stay near their share.
        start = used.load(simt::order::relaxed);
        if (start < share_) start = used.fetch_add(total, simt::order::relaxed);
      }
      block = place(shard, callers.broadcast(start) + before, need);
      shard = shard + 1 == shards_ ? 0 : shard + 1;
    }
    return block;
  }

  counter* counters_;
  std::byte* blocks_;
  std::uint64_t share_;
  std::uint32_t shards_;
};

WARPHEAP_END_NAMESPACE
