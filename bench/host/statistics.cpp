// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warpheap::bench {

double percentile(const std::vector<double>& sorted, double percent) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
  return sorted[rank == 0 ? 0 : rank - 1];
}

summary summarize_all(std::vector<double> samples) {
  summary result;
  result.first = samples.front();
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  result.min = samples.front();
  result.max = samples.back();
  result.median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double sample : samples) squares += (sample - result.mean) * (sample - result.mean);
  result.std = n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : 0;
  result.p50 = percentile(samples, 50);
  result.p99 = percentile(samples, 99);
  return result;
}

summary summarize_warm(const std::vector<double>& samples) {
  const auto warm = samples.begin() + (samples.size() == 1 ? 0 : 1);
  summary result = summarize_all({warm, samples.end()});
  result.first = samples.front();
  return result;
}

}  // namespace warpheap::bench
