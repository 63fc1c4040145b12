// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/heap_fill.hpp"

#include "bench/host/device_array.hpp"
#include "bench/host/needs.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>
#include <string>

namespace warpheap::bench {

namespace {

// Every manager's blocks are aligned to this, so none is smaller.
constexpr std::uint64_t smallest_block = 16;

/// More blocks than a heap of the chosen size can hold.
std::uint64_t most_blocks(const case_run& c, const test_heap& heap) {
  if (heap.page_count() != 0) return heap.page_count();
  const std::uint64_t least = round_up<std::uint64_t>(c.chosen[given::size_min], smallest_block);
  // The built-in allocator rounds its heap up; an eighth more is above what it was seen to add.
  return c.chosen[given::heap_bytes] / least + c.chosen[given::heap_bytes] / least / 8 + 1;
}

}  // namespace

std::unique_ptr<test_heap> open_heap(const case_run& c, std::uint64_t largest) {
  const std::string obstacle = too_large(c.manager, largest);
  if (!obstacle.empty()) throw not_claimed(obstacle);
  auto heap = c.on.open(c.manager.name, {c.chosen[given::heap_bytes],
                                         round_up<std::uint64_t>(largest, smallest_block)});
  const device_array<std::uint64_t> nothing(c.on, 1);
  request_batch none;
  none.threads = 1;
  allocate(*heap, none, nothing.data());
  free_blocks(*heap, 1, nothing.data());
  return heap;
}

std::unique_ptr<test_heap> open_heap(const case_run& c) {
  return open_heap(c, c.chosen[given::size_max]);
}

std::string sizes_in_words(const case_run& c) {
  const std::string least = std::to_string(c.chosen[given::size_min]);
  const std::string most = std::to_string(c.chosen[given::size_max]);
  return (least == most ? "" : least + " to ") + most + " bytes";
}

not_claimed too_small_for(const case_run& c, const std::string& what) {
  return not_claimed("a heap of " + std::to_string(c.chosen[given::heap_bytes]) +
                     " bytes is too small for " + what + " of " + sizes_in_words(c));
}

heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads,
                    const request_batch& all) {
  heap_fill filled{block_table(c.on, all)};
  std::uint64_t asked = 0;
  while (filled.nulls == 0 && asked < all.count) {
    const std::uint64_t now = std::min(threads, all.count - asked);
    const request_batch batch = filled.blocks.part(asked, now);
    std::uint64_t* addresses = filled.blocks.addresses(asked);
    const double ms = allocate(heap, batch, addresses);
    filled.ms += ms;
    filled.longest_ms = std::max(filled.longest_ms, ms);
    filled.nulls = examine_blocks(c.on, batch, addresses, smallest_block, false).nulls;
    asked += now;
    ++filled.launches;
  }
  filled.blocks.shrink(asked);
  return filled;
}

heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads) {
  const std::uint64_t most = (most_blocks(c, heap) / threads + 1) * threads;
  request_batch all = batch_of(c.chosen, most);
  all.one_per_warp = false;
  all.count = most;
  return fill_heap(c, heap, threads, all);
}

std::unique_ptr<heap_fill> occupy(const case_run& c, test_heap& heap) {
  if (c.chosen[given::free_percent] >= 100) return nullptr;
  constexpr std::uint64_t batch_threads = 65536;
  // Numbered pages can be asked for exactly, which spares the searches that must fail.
  auto filled = std::make_unique<heap_fill>(fill_heap(
      c, heap, heap.page_count() != 0 ? std::uint64_t{heap.page_count()} : batch_threads));
  const std::uint64_t count = filled->blocks.batch().count;
  selection freed;
  freed.which = selection::kind::random;
  freed.chosen = static_cast<std::uint64_t>(
      static_cast<double>(count) * c.chosen[given::free_percent] / 100 + 0.5);
  freed.seed = c.chosen[given::seed];
  free_blocks(heap, count, filled->blocks.addresses(), freed);
  filled->blocks.write();
  return filled;
}

}  // namespace warpheap::bench
