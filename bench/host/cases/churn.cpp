// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <vector>

namespace warpheap::bench {

measurement measure_churn(const case_run& c) {
  const auto heap = open_heap(c);
  const device_array<churn_report> report(c.on, 1);
  churn_request request;
  request.sizes = batch_of(c.chosen, c.chosen.threads);
  request.threads = 1;
  heap->churn(request, report.data());  // no operations: loads the kernel
  request.threads = c.chosen.threads;
  request.operations = c.chosen.rounds;
  std::vector<double> churn_ms;
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    request.sizes.seed = c.chosen.seed + run;
    churn_ms.push_back(heap->churn(request, report.data()));
  }
  const churn_report all_runs = report.to_host().front();
  measurement row;
  row.null_returns = all_runs.nulls;
  row.corrupted = all_runs.corrupted;
  row.add("rounds", c.chosen.rounds);
  row.add("churn_ms", summarize_warm(churn_ms));
  return row;
}

}  // namespace warpheap::bench
