// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/churn/requests.hpp"
#include "bench/host/support.hpp"

#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<summary> churn_ms{{.name = "churn_ms",
                                   .unit = "ms",
                                   .about = "one launch of random mallocs and frees",
                                   .better = "less"}};

measurement measure_churn(const case_run& c) {
  const auto heap = open_heap(c);
  const device_array<churn_report> report(c.on, 1);
  churning request;
  request.sizes = batch_of(c.chosen, c.chosen[given::threads]);
  request.threads = 1;
  request.report = report.data();
  heap->launch(1, request);  // no operations: loads the kernel
  request.threads = c.chosen[given::threads];
  request.operations = c.chosen[given::rounds];
  std::vector<double> times;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    request.sizes.seed = c.chosen[given::seed] + run;
    times.push_back(heap->launch(request.threads, request));
  }
  const churn_report all_runs = report.to_host().front();
  measurement row;
  row.add(fields::null_returns, all_runs.nulls);
  row.add(fields::corrupted, all_runs.corrupted);
  row.add(churn_ms, summarize_warm(times));
  return row;
}

const case_registration churn{
    {.name = "churn",
     .about = "every thread allocates and frees at random, rounds times in one launch",
     .parameters = with_sizes(
         {{&given::threads, "262144"}, {&given::rounds, "64"}, {&given::iterations, "10"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&churn_ms},
     .run = measure_churn}};

}  // namespace

}  // namespace warpheap::bench
