// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/large_block.hpp"

#include "bench/host/block_table.hpp"
#include "bench/host/requests.hpp"

namespace warpheap::bench {

std::optional<bool> gives_block(const case_run& c, test_heap& heap, std::uint64_t bytes) {
  if (c.manager.fixed_pages || !too_large(c.manager, bytes).empty()) return {};
  request_batch one;
  one.threads = one.count = 1;
  one.size_min = one.size_max = bytes;
  one.seed = c.chosen[given::seed];
  const block_table block(c.on, one);
  allocate(heap, one, block.addresses());
  block.write();
  const block_report report = block.examine(c.manager.alignment);
  free_blocks(heap, 1, block.addresses());
  return report.served == 1 && report.corrupted == 0;
}

}  // namespace warpheap::bench
