// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/walk_model.hpp"

#include "bench/host/requests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace warpheap::bench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Share of free pages when everybody has one.
double share_at_the_end(const walk_setting& in) {
  return in.free_pages <= in.threads
             ? 0.0
             : static_cast<double>(in.free_pages - in.threads) / static_cast<double>(in.pages);
}

/// P(fewer than `wanted` successes in `trials` with probability `share` each).
double below(std::uint64_t wanted, std::uint64_t trials, double share) {
  if (share >= 1) return trials < wanted ? 1 : 0;
  double sum = 0;
  double log_choose = 0;
  const auto n = static_cast<double>(trials);
  for (std::uint64_t k = 0; k < wanted && k <= trials; ++k) {
    const auto successes = static_cast<double>(k);
    if (k != 0) log_choose += std::log((n - successes + 1) / successes);
    sum +=
        std::exp(log_choose + successes * std::log(share) + (n - successes) * std::log1p(-share));
  }
  return std::min(sum, 1.0);
}

/// Mean steps until `lanes` lanes that look at `word_bits` pages each a step have seen as many free
/// pages as they are.
double steps_to_serve(std::uint64_t lanes, int word_bits, double share) {
  const std::uint64_t seen_a_step = lanes * static_cast<std::uint64_t>(word_bits);
  double mean = 0;
  // The mean of a positive whole number is the sum of P(number > i). The tail falls off faster than
  // geometrically once the mean is passed.
  for (std::uint64_t i = 0;; ++i) {
    const double more = below(lanes, seen_a_step * i, share);
    mean += more;
    if (more < 1e-12) return mean;
  }
}

}  // namespace

double mean_steps(const walk_setting& in) {
  const auto pages = static_cast<double>(in.pages);
  double sum = 0;
  for (std::uint64_t j = 0; j < in.threads; ++j) {
    const double used = static_cast<double>(in.pages - in.free_pages + j) / pages;
    // 1 - used^w, also where that is tiny.
    sum += 1 / -std::expm1(in.word_bits * std::log(used));
  }
  return sum / static_cast<double>(in.threads);
}

double slowest_lane_bound(const walk_setting& in) {
  const double share = share_at_the_end(in);
  if (share == 0) return infinity;
  const double log_miss = in.word_bits * std::log1p(-share);
  double sum = 0;
  for (double k = 0;; ++k) {
    // 1 - (1 - miss^k)^32
    const double more =
        k == 0
            ? 1.0
            : -std::expm1(static_cast<double>(lanes_a_warp) * std::log1p(-std::exp(k * log_miss)));
    sum += more;
    if (more < 1e-12) return sum;
  }
}

double first_passage(const walk_setting& in) {
  const double share = share_at_the_end(in);
  if (share == 0) return infinity;
  const double trials = static_cast<double>(lanes_a_warp) * in.word_bits;
  const double target = static_cast<double>(lanes_a_warp);
  const double drift = trials * share;
  const double variance = trials * share * (1 - share);
  if (variance == 0) return target / drift;
  // t f(t) dt with t = e^x: the integrand falls off at both ends faster than exponentially, so
  // the trapezium rule over a wide interval is exact to rounding.
  const double centre = std::log(target / drift);
  constexpr double reach = 20;
  constexpr int intervals = 20000;
  constexpr double step = 2 * reach / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double t = std::exp(centre - reach + i * step);
    const double away = target - drift * t;
    sum += std::sqrt(t) * std::exp(-away * away / (2 * variance * t));
  }
  return sum * step * target / std::sqrt(2 * std::numbers::pi * variance);
}

double mean_warp_steps(const walk_setting& in) {
  double sum = 0;
  for (std::uint64_t served = 0; served < in.threads; served += lanes_a_warp) {
    const std::uint64_t lanes = std::min(lanes_a_warp, in.threads - served);
    const double share =
        static_cast<double>(in.free_pages - served) / static_cast<double>(in.pages);
    // Every lane of the warp takes that many.
    sum += static_cast<double>(lanes) * steps_to_serve(lanes, in.word_bits, share);
  }
  return sum / static_cast<double>(in.threads);
}

double warp_steps_bound(const walk_setting& in) {
  const double share = share_at_the_end(in);
  if (share == 0) return infinity;
  const std::uint64_t lanes = std::min(lanes_a_warp, in.threads);
  const double words = static_cast<double>(in.pages) / in.word_bits;
  double no_meeting = 1;
  for (std::uint64_t i = 1; i < lanes; ++i) no_meeting *= 1 - static_cast<double>(i) / words;
  if (no_meeting <= 0) return infinity;
  return steps_to_serve(lanes, in.word_bits, share) / no_meeting;
}

}  // namespace warpheap::bench
