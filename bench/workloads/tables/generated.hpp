// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/workloads/tables/table.hpp"

#include <cstdint>

namespace warpheap::bench {

/// Keys of a generated table.
struct key_distribution {
  /// The number of different keys. \pre not 0
  std::uint64_t distinct = 1;
  /// Exponent of Zipf's law: the probability of the key of rank r is proportional to 1 / r^skew. 0:
  /// all keys are equally likely.
  double skew = 0;
};

/// Every key once, in random order, with random values: the side of a join that has a primary key.
/// \pre `distinct` is not above 2^32. O(distinct)
table primary_keys(std::uint64_t distinct, std::uint64_t seed);

/// Keys drawn at random. `match_percent` of the rows have one of the keys of `primary_keys`; the
/// keys of the others are above those. O(rows + distinct)
table foreign_keys(std::uint64_t rows, const key_distribution& keys, double match_percent,
                   std::uint64_t seed);

/// The same rows with keys spread over all 32-bit words, instead of those from 0 on. Different keys
/// stay different. O(rows)
table spread_keys(table from);

}  // namespace warpheap::bench
