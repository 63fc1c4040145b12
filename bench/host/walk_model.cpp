// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/walk_model.hpp"

#include "bench/host/requests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Share of free pages when everybody has one.
double share_at_the_end(const walk_setting& in) {
  return in.free_pages <= in.threads
             ? 0.0
             : static_cast<double>(in.free_pages - in.threads) / static_cast<double>(in.pages);
}

/// P(exactly `wanted` successes in `trials` with probability `share` each).
double exactly(std::uint64_t wanted, std::uint64_t trials, double share) {
  if (wanted > trials) return 0;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(wanted);
  const double log_choose = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  // 0 * log 0 is 0 here.
  const double hits = wanted == 0 ? 0 : k * std::log(share);
  const double misses = wanted == trials ? 0 : (n - k) * std::log1p(-share);
  return std::exp(log_choose + hits + misses);
}

/// P(fewer than `wanted` successes in `trials` with probability `share` each).
double below(std::uint64_t wanted, std::uint64_t trials, double share) {
  double sum = 0;
  for (std::uint64_t k = 0; k < wanted && k <= trials; ++k) sum += exactly(k, trials, share);
  return std::min(sum, 1.0);
}

/// Mean of the largest of 32 geometric variables that fail with probability `miss`; infinite if
/// they always do.
double slowest_of_a_warp(double miss) {
  if (miss >= 1) return infinity;
  const double log_miss = std::log(miss);
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

/// Shares of the words with 0, 1, ... `word_bits` free pages when these lie at random.
std::vector<double> words_by_free_pages(const walk_setting& in) {
  const double free = static_cast<double>(in.free_pages) / static_cast<double>(in.pages);
  const auto width = static_cast<std::size_t>(in.word_bits);
  std::vector<double> share(width + 1);
  for (std::size_t k = 0; k <= width; ++k) share[k] = exactly(k, width, free);
  return share;
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

double equation_5(const walk_setting& in) {
  const auto pages = static_cast<double>(in.pages);
  double sum = 0;
  for (std::uint64_t j = 0; j < in.threads; ++j) {
    const double used = static_cast<double>(in.pages - in.free_pages + j) / pages;
    // 1 - used^w, also where that is tiny.
    sum += 1 / -std::expm1(in.word_bits * std::log(used));
  }
  return sum / static_cast<double>(in.threads);
}

double equation_6(const walk_setting& in) {
  return slowest_of_a_warp(std::pow(1 - share_at_the_end(in), in.word_bits));
}

walk_steps steps_of_walks(const walk_setting& in) {
  const auto width = static_cast<std::size_t>(in.word_bits);
  const double words = static_cast<double>(in.pages) / in.word_bits;
  std::vector<double> with = words_by_free_pages(in);  // [k]: share of the words with k free pages
  double sum = 0;
  for (std::uint64_t j = 0; j < in.threads; ++j) {
    const double any = 1 - with[0];
    sum += 1 / any;
    // This thread's word is one of those with k free pages with probability with[k] / any.
    const double moved = 1 / (words * any);
    for (std::size_t k = 0; k < width; ++k) {
      const double above = with[k + 1];
      with[k] += moved * (above - (k == 0 ? 0.0 : with[k]));
    }
    with[width] -= moved * with[width];
  }
  const bool none_left = in.threads == in.free_pages;
  return {sum / static_cast<double>(in.threads), none_left ? infinity : slowest_of_a_warp(with[0])};
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
