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
  bench::block_writing in;
  WARPHEAP_DEVICE void operator()() const {
    const auto& [batch, addresses] = in;
    for (std::uint64_t i = simt::thread_rank(); i < batch.count; i += simt::grid_size()) {
      if (addresses[i] == 0) continue;
      write_contents(reinterpret_cast<void*>(addresses[i]), requested_bytes(batch, i),
                     content_tag(batch, i));
    }
  }
};

struct examine_blocks {
  bench::block_examination in;

  WARPHEAP_DEVICE void operator()() const {
    const bench::request_batch& batch = in.batch;
    bench::block_report mine;
    for (std::uint64_t i = simt::thread_rank(); i < batch.count; i += simt::grid_size()) {
      const std::uint64_t address = in.addresses[i];
      const std::uint64_t bytes = requested_bytes(batch, i);
      if (bytes == 0) continue;  // a vertex without neighbours asks for nothing
      if (address == 0) {
        ++mine.nulls;
        continue;
      }
      ++mine.served;
      mine.bytes += bytes;
      if (address % in.alignment != 0) ++mine.misaligned;
      if (in.contents &&
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
    bench::block_report* const report = in.report;
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

}  // namespace lanes
WARPHEAP_END_NAMESPACE
