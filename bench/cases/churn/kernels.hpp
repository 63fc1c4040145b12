// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/churn/requests.hpp"
#include "bench/lanes/contents.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/lanes/kernel.hpp"
#include "warpheap/core/random.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::churn {

/// Every lane holds up to `slots` blocks. An operation picks a slot: an empty one gets a block,
/// a full one gives its block back.
struct random_calls {
  static constexpr std::uint32_t slots = 4;

  bench::churning in;

  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= in.threads) return;
    random_sequence random(request_noise(in.sizes, rank, 3));
    void* blocks[slots] = {};
    std::uint64_t bytes[slots] = {};
    std::uint64_t nulls = 0;
    std::uint64_t corrupted = 0;
    for (std::uint64_t i = 0; i < in.operations; ++i) {
      const std::uint64_t draw = random.next();
      const std::uint32_t slot = static_cast<std::uint32_t>(draw) % slots;
      if (blocks[slot] != nullptr) {
        corrupted += give(heap, blocks[slot], bytes[slot], rank * slots + slot);
        blocks[slot] = nullptr;
      } else {
        bytes[slot] = draw_size(in.sizes, draw);
        blocks[slot] = heap.malloc(bytes[slot]);
        if (blocks[slot] == nullptr) {
          ++nulls;
        } else {
          write_contents(blocks[slot], bytes[slot], tag_of(rank * slots + slot));
        }
      }
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      if (blocks[slot] == nullptr) continue;
      corrupted += give(heap, blocks[slot], bytes[slot], rank * slots + slot);
    }
    // Relaxed: the host reads the report after the launch.
    if (nulls != 0) simt::atomic_ref(in.report->nulls).fetch_add(nulls, simt::order::relaxed);
    if (corrupted != 0) {
      simt::atomic_ref(in.report->corrupted).fetch_add(corrupted, simt::order::relaxed);
    }
  }

 private:
  WARPHEAP_HD static std::uint64_t tag_of(std::uint64_t place) { return mix64(place); }

  /// Frees a block; 1 if its contents had changed.
  template <class Handle>
  WARPHEAP_DEVICE static std::uint64_t give(const Handle& heap, void* block, std::uint64_t bytes,
                                            std::uint64_t place) {
    const bool same = has_contents(block, bytes, tag_of(place));
    heap.free(block);
    return same ? 0 : 1;
  }
};

using kernels = type_list<random_calls>;

}  // namespace lanes::churn
WARPHEAP_END_NAMESPACE
