// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"

namespace warpheap::bench {

struct churn_report {
  std::uint64_t nulls = 0;
  std::uint64_t corrupted = 0;
};

/// Every lane allocates and frees at random, `operations` times, and gives everything back.
struct churning {
  std::uint64_t threads = 0;
  std::uint64_t operations = 0;
  /// Sizes and seed are those of a batch.
  request_batch sizes;
  churn_report* report = nullptr;
};

}  // namespace warpheap::bench
