// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The equations against simulations of what they describe.
#include "bench/host/walk_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace warpheap::bench {
namespace {

constexpr int lanes = 32;

/// A pool of which `free_pages` random pages are free.
std::vector<bool> random_pool(const walk_setting& in, std::mt19937_64& random) {
  std::vector<bool> is_free(in.pages, false);
  std::fill_n(is_free.begin(), in.free_pages, true);
  std::shuffle(is_free.begin(), is_free.end(), random);
  return is_free;
}

/// Mean steps of threads that take a page each, one after another: each draws words of `word_bits`
/// pages until one has a free page, and takes the first.
double simulate_walks(const walk_setting& in, int pools) {
  std::mt19937_64 random(1);
  const std::uint64_t width = static_cast<std::uint64_t>(in.word_bits);
  std::uniform_int_distribution<std::uint64_t> any_word(0, in.pages / width - 1);
  std::uint64_t steps = 0;
  for (int pool = 0; pool < pools; ++pool) {
    std::vector<bool> is_free = random_pool(in, random);
    for (std::uint64_t thread = 0; thread < in.threads; ++thread) {
      for (bool served = false; !served;) {
        ++steps;
        const auto word = is_free.begin() + static_cast<std::ptrdiff_t>(any_word(random) * width);
        const auto page = std::find(word, word + in.word_bits, true);
        served = page != word + in.word_bits;
        if (served) *page = false;
      }
    }
  }
  return static_cast<double>(steps) / static_cast<double>(in.threads) / pools;
}

TEST(WalkModel, MeanStepsOfSinglePages) {
  for (const std::uint64_t free_pages : {20'000, 4'000, 700}) {
    const walk_setting in{40'000, free_pages, 500, 1};
    EXPECT_NEAR(simulate_walks(in, 100) / steps_of_walks(in).mean, 1, 0.02) << free_pages;
  }
}

TEST(WalkModel, MeanStepsOfWords) {
  for (const int word_bits : {32, 64}) {
    // Also where the threads take half of the free pages.
    for (const std::uint64_t threads : {256, 1'280}) {
      for (const std::uint64_t free_pages : {128'000, 25'600, 2'560}) {
        const walk_setting in{256'000, free_pages, threads, word_bits};
        EXPECT_NEAR(simulate_walks(in, 100) / steps_of_walks(in).mean, 1, 0.02)
            << word_bits << " bits, " << free_pages << " free, " << threads << " threads";
      }
    }
  }
}

TEST(WalkModel, EquationsSpreadWhatIsTakenOverAllFreePages) {
  // Few threads: the same. Many: the equations miss that words with few free pages empty first.
  const walk_setting few{256'000, 2'560, 32, 32};
  EXPECT_NEAR(equation_5(few) / steps_of_walks(few).mean, 1, 0.01);
  EXPECT_NEAR(equation_6(few) / steps_of_walks(few).slowest_lane_bound, 1, 0.01);
  const walk_setting many{256'000, 2'560, 1'280, 32};
  EXPECT_LT(equation_5(many), 0.97 * steps_of_walks(many).mean);
  EXPECT_LT(equation_6(many), 0.95 * steps_of_walks(many).slowest_lane_bound);
}

TEST(WalkModel, SinglePagesAreTheEquations) {
  const walk_setting in{1'000'000, 10'000, 5'000, 1};
  const walk_steps model = steps_of_walks(in);
  EXPECT_NEAR(model.mean / equation_5(in), 1, 1e-9);
  EXPECT_NEAR(model.slowest_lane_bound / equation_6(in), 1, 1e-9);
}

TEST(WalkModel, MeanStepsOfSinglePagesAreEquation3) {
  const walk_setting in{1'000'000, 10'000, 5'000, 1};
  const double equation3 = 1'000'000.0 / 5'000 * std::log(10'000.0 / (10'000 - 5'000));
  EXPECT_NEAR(equation_5(in) / equation3, 1, 1e-3);
}

TEST(WalkModel, LastPageCanBeTaken) {
  // T/N (H_A - H_{A-N}) with T = A = N = 2: (2 / 2) (1 + 1/2).
  EXPECT_DOUBLE_EQ(equation_5({2, 2, 2, 1}), 1.5);
  EXPECT_DOUBLE_EQ(steps_of_walks({2, 2, 2, 1}).mean, 1.5);
  EXPECT_TRUE(std::isinf(equation_6({2, 2, 2, 1})));
  EXPECT_TRUE(std::isinf(steps_of_walks({2, 2, 2, 1}).slowest_lane_bound));
  EXPECT_TRUE(std::isinf(first_passage({64, 32, 32, 1})));
  EXPECT_TRUE(std::isinf(warp_steps_bound({64, 32, 32, 1})));
}

TEST(WalkModel, SlowestLaneOfAWarp) {
  std::mt19937_64 random(2);
  for (const walk_setting& in :
       {walk_setting{1'000'000, 500'000, 5'000, 1}, walk_setting{1'000'000, 10'000, 5'000, 1},
        walk_setting{1'000'000, 10'000, 5'000, 32}}) {
    const double miss = 1 - static_cast<double>(in.free_pages - in.threads) / 1e6;
    std::geometric_distribution<std::uint64_t> failures(1 - std::pow(miss, in.word_bits));
    constexpr int warps = 20'000;
    double sum = 0;
    for (int warp = 0; warp < warps; ++warp) {
      std::uint64_t slowest = 0;
      for (int lane = 0; lane < lanes; ++lane) slowest = std::max(slowest, failures(random) + 1);
      sum += static_cast<double>(slowest);
    }
    EXPECT_NEAR(sum / warps / equation_6(in), 1, 0.02);
  }
}

TEST(WalkModel, FirstPassageOfABrownianMotion) {
  const walk_setting in{1'000'000, 10'000, 5'000, 32};
  const double share = 0.005;
  const double drift = lanes * in.word_bits * share;
  const double deviation = std::sqrt(drift * (1 - share));
  constexpr double step = 0.002;
  std::mt19937_64 random(3);
  std::normal_distribution<double> move(drift * step, deviation * std::sqrt(step));
  constexpr int paths = 2'000;
  double sum = 0;
  for (int path = 0; path < paths; ++path) {
    double time = 0;
    for (double place = 0; place < lanes; time += step) place += move(random);
    sum += time;
  }
  EXPECT_NEAR(sum / paths / first_passage(in), 1, 0.03);
}

TEST(WalkModel, FirstPassageHasAClosedForm) {
  for (const std::uint64_t free_pages : {900'000, 100'000, 10'000, 5'100}) {
    const walk_setting in{1'000'000, free_pages, 5'000, 64};
    const double drift = lanes * 64 * static_cast<double>(free_pages - 5'000) / 1e6;
    EXPECT_NEAR(first_passage(in) * drift / lanes, 1, 1e-9) << free_pages;
  }
}

TEST(WalkModel, StepsOfCollaboratingWarps) {
  // 32 lanes look at a word each until as many free pages have been seen as there are lanes.
  std::mt19937_64 random(4);
  const walk_setting in{640'000, 6'400, 1'024, 32};
  constexpr int pools = 20;
  std::uint64_t steps = 0;
  std::uniform_int_distribution<std::uint64_t> any_word(0, in.pages / 32 - 1);
  for (int pool = 0; pool < pools; ++pool) {
    const std::vector<bool> is_free = random_pool(in, random);
    std::vector<std::uint32_t> words(in.pages / 32, 0);
    for (std::uint64_t page = 0; page < in.pages; ++page) {
      if (is_free[page]) words[page / 32] |= 1u << page % 32;
    }
    for (std::uint64_t warp = 0; warp < in.threads / lanes; ++warp) {
      for (int need = lanes; need > 0; ++steps) {
        for (int lane = 0; lane < lanes; ++lane) {
          std::uint32_t& word = words[any_word(random)];
          for (; need > 0 && word != 0; --need) word &= word - 1;
        }
      }
    }
  }
  const double mean = static_cast<double>(steps) / pools / static_cast<double>(in.threads / lanes);
  EXPECT_NEAR(mean / mean_warp_steps(in), 1, 0.03);
  EXPECT_LT(mean, warp_steps_bound(in));
}

TEST(WalkModel, OneStepServesAWarpWhereHalfIsFree) {
  const walk_setting in{1'048'576, 524'288, 1'024, 32};
  EXPECT_NEAR(mean_warp_steps(in), 1, 1e-9);
  // Two of 32 lanes meet in one of 32,768 words with a probability of 1.5 %.
  EXPECT_NEAR(warp_steps_bound(in), 1.015, 0.001);
}

TEST(WalkModel, FewerThreadsThanLanes) {
  const walk_setting in{1'000, 100, 1, 1};
  EXPECT_NEAR(mean_warp_steps(in), equation_5(in), 1e-9);
}

}  // namespace
}  // namespace warpheap::bench
