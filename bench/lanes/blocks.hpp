// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Kernels over tables of blocks. They do not know the manager, so they exist once.

#include "bench/host/requests.hpp"
#include "bench/lanes/contents.hpp"
#include "bench/lanes/draw.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

WARPHEAP_HD constexpr std::uint64_t content_tag(const bench::request_batch& batch,
                                                std::uint64_t i) {
  return request_noise(batch, i, 2);
}

struct write_blocks {
  bench::request_batch batch;
  const std::uint64_t* addresses;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = simt::thread_rank(); i < batch.count; i += simt::grid_size()) {
      if (addresses[i] == 0) continue;
      write_contents(reinterpret_cast<void*>(addresses[i]), requested_bytes(batch, i),
                     content_tag(batch, i));
    }
  }
};

struct examine_blocks {
  bench::request_batch batch;
  const std::uint64_t* addresses;
  std::uint64_t alignment;
  bool contents;
  bench::block_report* report;

  WARPHEAP_DEVICE void operator()() const {
    bench::block_report mine;
    for (std::uint64_t i = simt::thread_rank(); i < batch.count; i += simt::grid_size()) {
      const std::uint64_t address = addresses[i];
      const std::uint64_t bytes = requested_bytes(batch, i);
      if (bytes == 0) continue;  // a vertex without neighbours asks for nothing
      if (address == 0) {
        ++mine.nulls;
        continue;
      }
      ++mine.served;
      mine.bytes += bytes;
      if (address % alignment != 0) ++mine.misaligned;
      if (contents &&
          !has_contents(reinterpret_cast<const void*>(address), bytes, content_tag(batch, i))) {
        ++mine.corrupted;
      }
      if (mine.lowest_complement < ~address) mine.lowest_complement = ~address;
      if (mine.highest < address + bytes) mine.highest = address + bytes;
    }
    add(mine);
  }

 private:
  // Relaxed throughout: the host reads the report after the launch.
  WARPHEAP_DEVICE void add(const bench::block_report& mine) const {
    add(report->served, mine.served);
    add(report->nulls, mine.nulls);
    add(report->corrupted, mine.corrupted);
    add(report->misaligned, mine.misaligned);
    add(report->bytes, mine.bytes);
    if (mine.served == 0) return;
    simt::atomic_ref(report->lowest_complement)
        .fetch_max(mine.lowest_complement, simt::order::relaxed);
    simt::atomic_ref(report->highest).fetch_max(mine.highest, simt::order::relaxed);
  }
  WARPHEAP_DEVICE static void add(std::uint64_t& sum, std::uint64_t value) {
    if (value != 0) simt::atomic_ref(sum).fetch_add(value, simt::order::relaxed);
  }
};

struct write_adjacencies {
  bench::adjacency_table table;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t vertex = simt::thread_rank();
    if (vertex >= table.nodes || table.addresses[vertex] == 0) return;
    auto* block = reinterpret_cast<std::uint32_t*>(table.addresses[vertex]);
    const std::uint64_t begin = table.offsets[vertex];
    const std::uint64_t degree = table.offsets[vertex + 1] - begin;
    for (std::uint64_t i = 0; i < degree; ++i) block[i] = table.neighbours[begin + i];
  }
};

struct count_wrong_adjacencies {
  bench::adjacency_table table;
  std::uint64_t* wrong;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t vertex = simt::thread_rank();
    if (vertex >= table.nodes || table.addresses[vertex] == 0) return;
    const auto* block = reinterpret_cast<const std::uint32_t*>(table.addresses[vertex]);
    const std::uint64_t begin = table.offsets[vertex];
    const std::uint64_t degree = table.offsets[vertex + 1] - begin;
    bool same = true;
    for (std::uint64_t i = 0; i < degree; ++i) {
      same = same && block[i] == table.neighbours[begin + i];
    }
    // Relaxed: the host reads it after the launch.
    if (!same) simt::atomic_ref(*wrong).fetch_add(1, simt::order::relaxed);
  }
};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
