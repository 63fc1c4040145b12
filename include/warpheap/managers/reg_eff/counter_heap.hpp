// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Variants A and AW: a counter of granules instead of a list.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/reg_eff/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

template <reg_eff_config Config>
class counter_heap {
 public:
  using options = no_options;

  counter_heap(const region& memory, const simt::device_properties& /*machine*/,
               const options& /*none*/) {
    const std::uint64_t most = memory.bytes / granule;
    lay_out_most(memory, Config.name(), std::uint64_t{1}, most < 1 ? 1 : most,
                 [this](region_cursor& cursor, std::uint64_t granules) {
                   counter_ = cursor.take<counter>(1, alignof(counter));
                   blocks_ = cursor.take<std::byte>(granules * granule, granule);
                   end_ = granules;
                 });
  }

  WARPHEAP_HD std::size_t largest_block() const { return end_ * granule; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t /*count*/) const {
    if (rank == 0) counter_->granules = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint64_t need = Config.granules_for(bytes);
    return Config.keeps == book_keeping::counter ? advance(need) : advance_around(need);
  }

  WARPHEAP_DEVICE void free(void* block) const { WARPHEAP_ASSERT(block != nullptr); }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t /*count*/,
                               inspection& findings) const {
    if (rank != 0) return;
    const std::uint64_t asked = counter_->granules;
    findings.expect(asked <= end_ + most_lanes * end_, 1, asked);
    const std::uint64_t used = asked < end_ ? asked : end_;
    findings.in_use(used != 0 ? 1 : 0, used * granule);
  }

 private:
  static constexpr std::size_t granule = Config.granule_bytes;
  /// More than any machine runs at once: each may add one request after the counter's end.
  static constexpr std::uint64_t most_lanes = std::uint64_t{1} << 24;

  /// A cache line of its own, apart from blocks.
  struct alignas(128) counter {
    std::uint64_t granules;
  };

  WARPHEAP_DEVICE void* block(std::uint64_t start) const { return blocks_ + start * granule; }

  // Relaxed everywhere: A never hands out memory twice, so there is no last owner to be ordered
  // against, and AW hands it out whether its last owner has finished or not.

  /// A. A request adds only if it may fit: a counter that grew with every failed request would
  /// eventually wrap. Requests that lost a race add their own size.
  WARPHEAP_DEVICE void* advance(std::uint64_t need) const {
    const simt::atomic_ref granules(counter_->granules);
    if (granules.load(simt::order::relaxed) + need > end_) return nullptr;
    const std::uint64_t start = granules.fetch_add(need, simt::order::relaxed);
    return start + need <= end_ ? block(start) : nullptr;
  }

  /// AW. The lane that finds the counter past the end sets it to the end of its own block at the
  /// front.
  ///
  /// Ends: the exchange fails only if another lane has added or has wrapped. Lanes add once until
  /// one has wrapped, so after a finite number of additions one of them does.
  WARPHEAP_DEVICE void* advance_around(std::uint64_t need) const {
    const simt::atomic_ref granules(counter_->granules);
    for (;;) {
      const std::uint64_t start = granules.fetch_add(need, simt::order::relaxed);
      if (start + need <= end_) return block(start);
      std::uint64_t seen = start + need;
      do {
        if (granules.compare_exchange(seen, need, simt::order::relaxed)) return block(0);
      } while (seen + need > end_);
    }
  }

  counter* counter_;
  std::byte* blocks_;
  std::uint64_t end_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
