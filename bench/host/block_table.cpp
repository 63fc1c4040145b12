// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/block_table.hpp"

#include "bench/lanes/draw.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace warpheap::bench {

namespace {

/// No more lanes than can be resident, so that each adds up a share of what it finds.
std::uint64_t in_strides(const machine& on, std::uint64_t count) {
  return std::min(count, on.info().resident_threads);
}

}  // namespace

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
  batch.one_per_warp = chosen[given::mode] == "warp";
  batch.count = batch.one_per_warp ? ceil_div(threads, lanes_per_warp) : threads;
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

}  // namespace warpheap::bench
