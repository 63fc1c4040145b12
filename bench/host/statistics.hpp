// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace warpheap::bench {

/// What is said about repeated measurements of one quantity. `first` is the run on a fresh heap;
/// everything else is about the warm runs after it.
struct summary {
  double first = 0;
  double median = 0, mean = 0;
  /// The standard deviation of the sample (n - 1); 0 for a single run.
  double std = 0;
  double min = 0, max = 0;
  /// Percentiles by nearest rank.
  double p50 = 0, p99 = 0;
};

/// The smallest sample that at least `percent` % of the samples do not exceed.
/// \pre `sorted` is ascending and not empty
double percentile(const std::vector<double>& sorted, double percent);

/// Over all samples; `first` is the first of them. \pre `samples` is not empty
summary summarize_all(std::vector<double> samples);

/// Over all but the first sample, or over that one if it is the only one.
/// \pre `samples` is not empty
summary summarize_warm(const std::vector<double>& samples);

}  // namespace warpheap::bench
