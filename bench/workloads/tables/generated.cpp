// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/tables/generated.hpp"

#include "warpheap/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace warpheap::bench {

namespace {

/// Key of rank `r` of `distinct`. Ranks are scattered over the keys by a fixed odd step, so that
/// frequent keys are not neighbours.
std::uint32_t key_of_rank(std::uint64_t r, std::uint64_t distinct) {
  std::uint64_t step = 0x9e3779b1ull % distinct;
  // Ends: one of the numbers up to `distinct + 1` has no common divisor with `distinct`.
  while (std::gcd(step, distinct) != 1) ++step;
  return static_cast<std::uint32_t>(r * step % distinct);
}

// A smaller difference between the ranks' shares does not show in any table.
constexpr double least_skew = 0.001;

double uniform(random_sequence& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

std::uint32_t value(random_sequence& random) {
  return static_cast<std::uint32_t>(random.next() >> 32);
}

/// Draws ranks by Zipf's law, by a search in the running sums of the ranks' shares.
class zipf {
 public:
  explicit zipf(const key_distribution& keys) : sums_(keys.skew < least_skew ? 0 : keys.distinct) {
    double sum = 0;
    for (std::size_t r = 0; r < sums_.size(); ++r) {
      sums_[r] = sum += std::pow(static_cast<double>(r + 1), -keys.skew);
    }
    distinct_ = keys.distinct;
  }

  std::uint64_t draw(random_sequence& random) const {
    const double drawn = uniform(random);
    if (sums_.empty()) {
      return static_cast<std::uint64_t>(drawn * static_cast<double>(distinct_));
    }
    const auto at = std::upper_bound(sums_.begin(), sums_.end(), drawn * sums_.back());
    return static_cast<std::uint64_t>(std::min(at, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
  std::uint64_t distinct_ = 0;
};

}  // namespace

table primary_keys(std::uint64_t distinct, std::uint64_t seed) {
  random_sequence random(seed);
  table made;
  made.keys.resize(distinct);
  made.values.resize(distinct);
  for (std::uint64_t i = 0; i < distinct; ++i) {
    made.keys[i] = static_cast<std::uint32_t>(i);
    made.values[i] = value(random);
  }
  for (std::uint64_t i = distinct; i > 1; --i) {
    const auto other = static_cast<std::uint64_t>(uniform(random) * static_cast<double>(i));
    std::swap(made.keys[i - 1], made.keys[other]);
  }
  return made;
}

table foreign_keys(std::uint64_t rows, const key_distribution& keys, double match_percent,
                   std::uint64_t seed) {
  random_sequence random(seed + 1);
  const zipf ranks(keys);
  table made;
  made.keys.resize(rows);
  made.values.resize(rows);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint32_t key = key_of_rank(ranks.draw(random), keys.distinct);
    const bool matches = uniform(random) * 100 < match_percent;
    made.keys[i] = matches ? key : key + static_cast<std::uint32_t>(keys.distinct);
    made.values[i] = value(random);
  }
  return made;
}

table spread_keys(table from) {
  constexpr std::uint32_t odd = 0x9e3779b1u;
  for (std::uint32_t& key : from.keys) key *= odd;
  return from;
}

}  // namespace warpheap::bench
