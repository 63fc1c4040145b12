// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include "bench/lanes/draw.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpheap::bench {

namespace {

// Every manager's blocks are aligned to this, so none is smaller.
constexpr std::uint64_t smallest_block = 16;

/// More blocks than a heap of the chosen size can hold.
std::uint64_t most_blocks(const case_run& c, const test_heap& heap) {
  if (c.manager.word_bits != 0) return heap.page_count();
  const std::uint64_t least = round_up<std::uint64_t>(c.chosen[given::size_min], smallest_block);
  // The built-in allocator rounds its heap up; an eighth more is above what it was seen to add.
  return c.chosen[given::heap_bytes] / least + c.chosen[given::heap_bytes] / least / 8 + 1;
}

/// No more lanes than can be resident, so that each adds up a share of what it finds.
std::uint64_t in_strides(const machine& on, std::uint64_t count) {
  return std::min(count, on.info().resident_threads);
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

double allocate(launcher& heap, const request_batch& batch, std::uint64_t* addresses) {
  return heap.launch(batch.threads, allocation{batch, addresses});
}

double free_blocks(launcher& heap, std::uint64_t count, std::uint64_t* addresses,
                   const selection& which) {
  return heap.launch(count, freeing{count, which, addresses});
}

double write_blocks(machine& on, const request_batch& batch, const std::uint64_t* addresses) {
  return on.launch(in_strides(on, batch.count), block_writing{batch, addresses});
}

block_report examine_blocks(machine& on, const request_batch& batch, const std::uint64_t* addresses,
                            std::uint64_t alignment, bool contents) {
  const device_array<block_report> report(on, 1);
  on.launch(in_strides(on, batch.count),
            block_examination{batch, addresses, alignment, contents, report.data()});
  return report.to_host().front();
}

request_batch batch_of(const parameters& chosen, std::uint64_t threads) {
  request_batch batch;
  batch.threads = threads;
  batch.one_a_warp = chosen[given::mode] == "warp";
  batch.count = batch.one_a_warp ? ceil_div(threads, lanes_a_warp) : threads;
  batch.size_min = chosen[given::size_min];
  batch.size_max = chosen[given::size_max];
  batch.sizes =
      chosen[given::distribution] == "powers" ? distribution::powers : distribution::uniform;
  batch.seed = chosen[given::seed];
  return batch;
}

block_table::block_table(machine& on, const request_batch& batch)
    : on_(on), batch_(batch), addresses_(on, batch.count) {}

request_batch block_table::part(std::uint64_t begin, std::uint64_t count) const {
  request_batch chosen = batch_;
  chosen.first = batch_.first + begin;
  chosen.count = count;
  chosen.threads = count;
  return chosen;
}

void block_table::shrink(std::uint64_t count) {
  batch_.count = count;
  batch_.threads = count;
}

std::uint64_t block_table::count_overlaps() const {
  return bench::count_overlaps(addresses_.to_host(batch_.count), [this](std::uint64_t i) {
    return lanes::requested_bytes(batch_, i);
  });
}

std::uint64_t count_overlaps(const std::vector<std::uint64_t>& addresses,
                             const std::function<std::uint64_t(std::uint64_t)>& bytes_of) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;  // begin and end
  blocks.reserve(addresses.size());
  for (std::uint64_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] != 0) blocks.emplace_back(addresses[i], addresses[i] + bytes_of(i));
  }
  std::sort(blocks.begin(), blocks.end());
  std::uint64_t overlaps = 0;
  std::uint64_t reached = 0;
  for (const auto& [begin, end] : blocks) {
    if (begin < reached) ++overlaps;
    reached = std::max(reached, end);
  }
  return overlaps;
}

heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads) {
  const std::uint64_t most = most_blocks(c, heap) + threads;
  request_batch all = batch_of(c.chosen, most);
  all.one_a_warp = false;
  all.count = most;
  heap_fill filled{block_table(c.on, all)};
  std::uint64_t asked = 0;
  while (filled.nulls == 0 && asked + threads <= most) {
    const request_batch batch = filled.blocks.part(asked, threads);
    std::uint64_t* addresses = filled.blocks.addresses(asked);
    filled.ms += allocate(heap, batch, addresses);
    filled.nulls = examine_blocks(c.on, batch, addresses, smallest_block, false).nulls;
    asked += threads;
    ++filled.launches;
  }
  filled.blocks.shrink(asked);
  return filled;
}

std::unique_ptr<heap_fill> occupy(const case_run& c, test_heap& heap) {
  if (c.chosen[given::free_percent] >= 100) return nullptr;
  constexpr std::uint64_t batch_threads = 65536;
  // Numbered pages can be asked for exactly, which spares the searches that must fail.
  auto filled = std::make_unique<heap_fill>(fill_heap(
      c, heap, c.manager.word_bits != 0 ? std::uint64_t{heap.page_count()} : batch_threads));
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

void add_free(measurement& row, const manager_info& manager, const std::vector<double>& ms) {
  if (manager.frees) {
    row.add(fields::free_ms, summarize_warm(ms));
  } else {
    row.add(fields::free_ms, std::optional<summary>());
    row.reason = std::string("no free_ms: ") + needs::frees.reason;
  }
}

double longest_of(std::initializer_list<std::vector<double>> series) {
  double longest = 0;
  for (const std::vector<double>& launches : series) {
    for (const double ms : launches) longest = std::max(longest, ms);
  }
  return longest;
}

batch_times serve_and_free(const case_run& c, test_heap& heap, const block_table& blocks,
                           tally& wrong) {
  constexpr std::uint64_t most_sorted = std::uint64_t{1} << 22;
  const std::uint64_t last = c.chosen[given::iterations];
  batch_times took;
  for (std::uint64_t run = 0; run <= last; ++run) {
    took.malloc_ms.push_back(allocate(heap, blocks.batch(), blocks.addresses()));
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    if (blocks.batch().count <= most_sorted && (run == 0 || run == last)) {
      wrong.add_corrupted(blocks.count_overlaps());
    }
    took.free_ms.push_back(free_blocks(heap, blocks.batch().count, blocks.addresses()));
    if (!c.manager.frees) heap.reset();
  }
  return took;
}

}  // namespace warpheap::bench
