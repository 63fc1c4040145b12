// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/steady/requests.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/lanes/kernel.hpp"
#include "warpheap/core/random.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::steady {

/// Blocks that say themselves what is in them, so that any lane can check any block. The first word
/// holds the size; the others follow from it.
struct labelled {
  static constexpr std::uint64_t least_bytes = 8;

  WARPHEAP_HD static constexpr std::uint64_t label(std::uint64_t noise, std::uint64_t bytes) {
    return noise << 32 | bytes;
  }
  WARPHEAP_HD static constexpr std::uint64_t bytes_of(std::uint64_t label) {
    return static_cast<std::uint32_t>(label);
  }
  WARPHEAP_DEVICE static void write(void* block, std::uint64_t label, bool whole) {
    auto* const words = static_cast<std::uint64_t*>(block);
    words[0] = label;
    for (std::uint64_t i = first_of(label, whole); i < bytes_of(label) / 8; ++i) {
      words[i] = mix64(label + i);
    }
  }
  WARPHEAP_DEVICE static bool intact(const void* block, const bench::exchanging& by) {
    const auto* const words = static_cast<const std::uint64_t*>(block);
    const std::uint64_t label = words[0];
    if (bytes_of(label) < least_bytes || bytes_of(label) > by.sizes.size_max) return false;
    bool same = reinterpret_cast<std::uintptr_t>(block) % by.alignment == 0;
    for (std::uint64_t i = first_of(label, by.whole); i < bytes_of(label) / 8; ++i) {
      same = same && words[i] == mix64(label + i);
    }
    return same;
  }

 private:
  WARPHEAP_HD static constexpr std::uint64_t first_of(std::uint64_t label, bool whole) {
    const std::uint64_t words = bytes_of(label) / 8;
    return whole || words < 2 ? 1 : words - 1;
  }
};

struct exchange_blocks {
  bench::exchanging in;

  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= in.threads) return;
    random_sequence random(request_noise(in.sizes, rank, 3));
    bench::exchange_report mine;
    // A lane in four leaves early, so warps thin out.
    const std::uint64_t noise = random.next();
    const std::uint64_t rounds = noise % 4 != 0 ? in.rounds : 1 + (noise >> 32) % in.rounds;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t drawn = draw_size(in.sizes, random.next());
      const std::uint64_t bytes = drawn < labelled::least_bytes ? labelled::least_bytes : drawn;
      void* const block = heap.malloc(bytes);
      if (block == nullptr) {
        ++mine.nulls;
      } else {
        ++mine.served;
        labelled::write(block, labelled::label(random.next(), bytes), in.whole);
      }
      // Release and acquire: contents travel with the address.
      const std::uint64_t before =
          simt::atomic_ref(in.slots[random.next() % in.slot_count])
              .exchange(reinterpret_cast<std::uint64_t>(block), simt::order::acq_rel);
      if (before == 0) continue;
      auto* const other = reinterpret_cast<void*>(before);
      if (!labelled::intact(other, in)) ++mine.corrupted;
      heap.free(other);
    }
    // Relaxed: the host reads the report after the launch.
    add(in.report->served, mine.served);
    add(in.report->nulls, mine.nulls);
    add(in.report->corrupted, mine.corrupted);
  }

  WARPHEAP_DEVICE static void add(std::uint64_t& sum, std::uint64_t value) {
    if (value != 0) simt::atomic_ref(sum).fetch_add(value, simt::order::relaxed);
  }
};

struct empty_slots {
  bench::slot_emptying in;

  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= in.of.slot_count || in.of.slots[rank] == 0) return;
    auto* const block = reinterpret_cast<void*>(in.of.slots[rank]);
    const bool same = labelled::intact(block, in.of);
    exchange_blocks::add(in.report->served, 1);
    exchange_blocks::add(same ? in.report->bytes : in.report->corrupted,
                         same ? labelled::bytes_of(*static_cast<const std::uint64_t*>(block)) : 1);
    heap.free(block);
    in.of.slots[rank] = 0;
  }
};

using kernels = type_list<exchange_blocks, empty_slots>;

}  // namespace lanes::steady
WARPHEAP_END_NAMESPACE
