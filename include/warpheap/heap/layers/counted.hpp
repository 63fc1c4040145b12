// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/call_counts.hpp"
#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Counts the calls to any manager: mallocs, frees, bytes asked for, and their peaks, which
/// `heap::stats()` then shows. Costs two atomics for the lanes that call together, and 16 bytes for
/// each block. Do not measure times with this layer.
///
/// Layout: [ counts ][ the manager's region ]; block: [ bytes u64, 8 B unused ][ the caller's ]
template <block_manager M>
class counted {
  static_assert(!hears_failures<M>, "on_failure must be the outermost layer");
  static constexpr std::size_t header = 16;

 public:
  using options = typename M::options;

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    if (inner.largest_block != 0) inner.largest_block -= header;
    inner.alignment = header;
    inner.growth = false;
    return inner;
  }();

  counted(const region& memory, const simt::device_properties& machine, const options& settings)
      : counts_(region_cursor(memory, about.name).template take<call_counts>(1)),
        bytes_(behind(memory).bytes),
        inner_(behind(memory), machine, with_block_overhead<M>(settings, header)) {}

  WARPHEAP_HD std::size_t largest_block() const {
    const std::size_t inner = inner_.largest_block();
    return inner < header ? 0 : inner - header;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *counts_ = call_counts{};
    inner_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    auto* block = static_cast<std::byte*>(inner_.malloc(bytes + header));
    if (block == nullptr) return nullptr;
    *reinterpret_cast<std::uint64_t*>(block) = bytes;
    add(bytes, 1);
    return block + header;
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    auto* front = static_cast<std::byte*>(block) - header;
    if constexpr (M::about.uses_region) {
      const auto offset =
          reinterpret_cast<std::uintptr_t>(front) - reinterpret_cast<std::uintptr_t>(counts_ + 1);
      if (offset >= bytes_ - header) return;  // not of this heap
    }
    add(*reinterpret_cast<std::uint64_t*>(front), -1);
    inner_.free(front);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inner_.inspect(rank, count, findings);
  }

  /// Where the counts lie.
  WARPHEAP_HD const call_counts* counts() const { return counts_; }

  /// What the manager behind has found.
  auto incidents(const device& on) const requires reports_incidents<M> {
    return inner_.incidents(on);
  }
  /// A copy whose calls are reported with this tag, below 2^22.
  WARPHEAP_HD counted tagged(std::uint32_t tag) const requires tags_calls<M> {
    counted same = *this;
    same.inner_ = inner_.tagged(tag);
    return same;
  }

 private:
  region behind(const region& memory) const {
    auto* start = reinterpret_cast<std::byte*>(counts_ + 1);
    return {start, memory.bytes - static_cast<std::size_t>(start - memory.base)};
  }

  /// One lane adds for all that call together. Relaxed: the counts are read when the device is
  /// idle.
  WARPHEAP_DEVICE void add(std::uint64_t bytes, int sign) const {
    // By the sign: lanes that malloc and lanes that free may well meet here.
    const simt::group together = simt::coalesced(counts_).match(sign);
    const std::uint64_t sum = sync::sum_over(together, bytes).total;
    if (together.is_leader()) count(static_cast<std::uint64_t>(together.size()), sum, sign);
    // No lane goes on with a block that is not counted yet: it would be missing from the peak.
    together.sync();
  }

  WARPHEAP_DEVICE void count(std::uint64_t blocks, std::uint64_t bytes, int sign) const {
    simt::atomic_ref live_blocks(counts_->live_blocks);
    simt::atomic_ref live_bytes(counts_->live_bytes);
    if (sign < 0) {
      live_blocks.fetch_sub(blocks, simt::order::relaxed);
      live_bytes.fetch_sub(bytes, simt::order::relaxed);
      return;
    }
    simt::atomic_ref(counts_->mallocs).fetch_add(blocks, simt::order::relaxed);
    simt::atomic_ref(counts_->peak_blocks)
        .fetch_max(live_blocks.fetch_add(blocks, simt::order::relaxed) + blocks,
                   simt::order::relaxed);
    simt::atomic_ref(counts_->peak_bytes)
        .fetch_max(live_bytes.fetch_add(bytes, simt::order::relaxed) + bytes, simt::order::relaxed);
  }

  call_counts* counts_;
  std::size_t bytes_;  ///< of the manager's region
  M inner_;
};

WARPHEAP_END_NAMESPACE
