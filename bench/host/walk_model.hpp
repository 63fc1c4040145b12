// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How many steps random walks take, by the equations of M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu,
/// Z. Xu, J. Meng: "Dynamic Buffer Management in Massively Parallel Systems: The Power of
/// Randomness", ACM Transactions on Parallel Computing 12(1), 2025, DOI 10.1145/3701623.

#include <cstdint>

namespace warpheap::bench {

/// A pool of `pages` of which `free_pages` are free at random, and `threads` lanes that take one
/// each; a step looks at `word_bits` pages.
struct walk_setting {
  std::uint64_t pages = 0;
  std::uint64_t free_pages = 0;
  std::uint64_t threads = 0;
  int word_bits = 1;
};

/// Mean steps of a thread, equation 5: the j-th thread to succeed meets words with a free page with
/// probability 1 - ((T - A + j) / T)^w. With w = 1 this is the sum that equation 3 approximates by
/// T/N ln(A / (A - N)). With larger words it is too small: it spreads the pages that are gone over
/// all free ones at random, but a walk draws words, and the last page of a word goes sooner than
/// one of many. O(threads). \pre `threads <= free_pages <= pages`
double equation_5(const walk_setting& in);

/// Bound on the mean, over warps, of the slowest lane's steps, equations 4 (w = 1) and 6: the
/// largest of 32 geometric variables with the share of free pages at the end, (A - N) / T. With
/// larger words the same shortcoming. Infinite if no page is left at the end.
double equation_6(const walk_setting& in);

/// Steps of independent walks.
struct walk_steps {
  double mean = 0;                ///< of a thread
  double slowest_lane_bound = 0;  ///< on the mean, over warps, of the slowest lane's
};

/// The two equations with the words that the walks leave: every thread takes one page of a word
/// drawn among those that have one (a mean-field recurrence of how many words have how many free
/// pages). The same as the equations for w = 1. The bound is infinite if no page is left at the
/// end. O(threads * w). \pre `threads <= free_pages <= pages`
walk_steps steps_of_walks(const walk_setting& in);

/// Mean steps of a warp whose lanes search together, equation 11: the time at which a Brownian
/// motion with drift mu = 32 w p and variance 32 w p (1 - p) a step, p = (A - N) / T, reaches 32,
/// by numeric integration. (The integral is the mean of an inverse Gaussian distribution, 32 / mu.)
/// Below 1 where one step finds more pages than needed. Infinite if no page is left at the end.
double first_passage(const walk_setting& in);

/// The same in whole steps, without the normal approximation: the number of steps until a warp has
/// seen 32 free pages, averaged over the warps as they use up the free pages one after another.
/// O(threads). \pre `threads <= free_pages <= pages`
double mean_warp_steps(const walk_setting& in);

/// Bound on the mean steps of such a warp: those of the last warp, if every step in which two of
/// its lanes meet in one word (they can offer the same page) is in vain. Infinite if no page is
/// left at the end.
double warp_steps_bound(const walk_setting& in);

}  // namespace warpheap::bench
