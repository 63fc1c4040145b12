// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU executor alone: how it ends what cannot end, and that it goes on afterwards.
#include "device_array.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

device small_device(std::uint64_t turn_limit = 20'000'000) {
  return device::cpu(
      simt::cpu_options{.workers = 2, .resident_blocks = 2, .turn_limit = turn_limit});
}

template <class Functor>
std::string report_of(const device& on, const simt::grid& shape, const Functor& functor) {
  try {
    on.launch(shape, functor);
  } catch (const simt::no_progress& stuck) {
    return stuck.what();
  }
  ADD_FAILURE() << "the launch ended";
  return "";
}

struct count_lanes {
  std::uint64_t* counter;
  void operator()() const {
    simt::atomic_ref(*counter).fetch_add(std::uint64_t{1}, simt::order::relaxed);
  }
};

void expect_usable(const device& on, std::uint32_t threads) {
  alignas(8) std::uint64_t counter = 0;
  on.launch({7, threads}, count_lanes{&counter});
  EXPECT_EQ(counter, 7u * threads);
}

/// Lanes 0 and 1 name each other in different operations; lane 2 waits for the block.
struct mismatch {
  void operator()() const {
    const simt::group both(simt::lane_mask(0b11));
    if (simt::lane_id() == 0) both.ballot(true);
    if (simt::lane_id() == 1) both.sync();
    if (simt::lane_id() == 2) simt::block_sync();
  }
};

TEST(executor, reports_a_deadlock_lane_by_lane) {
  const device on = small_device();
  const std::string report = report_of(on, {1, 4}, mismatch{});
  EXPECT_EQ(report,
            "deadlock: every lane waits for another one\n"
            "  block 0 warp 0 lane  0: ballot of lanes 00000003\n"
            "  block 0 warp 0 lane  1: sync of lanes 00000003\n"
            "  block 0 warp 0 lane  2: block_sync\n");
  expect_usable(on, 4);
}

/// One lane of the second warp names its whole warp, the others have other things to do.
struct wrong_mask {
  void operator()() const {
    if (simt::thread_in_block() == 40) simt::warp().sync();
    if (simt::thread_in_block() == 41) simt::group(simt::lane_mask::of(9)).sync();
    if (simt::thread_in_block() > 41) simt::block_sync();
  }
};

TEST(executor, names_the_operation_and_the_mask_that_never_meet) {
  const std::string report = report_of(small_device(), {3, 44}, wrong_mask{});
  EXPECT_THAT(report, HasSubstr("warp 1 lane  8: sync of lanes 00000fff\n"));
  EXPECT_THAT(report, HasSubstr("warp 1 lane 10: block_sync\n"));
  EXPECT_THAT(report, Not(HasSubstr("lane  7")));  // has ended
  EXPECT_THAT(report, Not(HasSubstr("lane  9")));  // its group is itself alone
}

struct spin_forever {
  std::uint64_t* word;
  void operator()() const {
    if (simt::thread_rank() != 3) return;
    while (simt::atomic_ref(*word).load(simt::order::relaxed) == 0) simt::backoff(1);
  }
};

TEST(executor, gives_up_on_a_lane_that_spins_forever) {
  const device on = small_device(10'000);
  alignas(8) std::uint64_t word = 0;
  const std::string report = report_of(on, {2, 3}, spin_forever{&word});
  EXPECT_THAT(report, HasSubstr("no lane has ended for 10000 turns"));
  EXPECT_THAT(report, HasSubstr("cpu_options::turn_limit"));
  EXPECT_THAT(report, HasSubstr("block 1 warp 0 lane  0: has given way"));
  expect_usable(on, 3);
}

/// A spin without any backoff, on a lane that has not run yet: all lanes have to be resident.
struct spin_on_the_next_lane {
  std::uint32_t* flags;
  void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (me + 1 < simt::grid_size()) {
      while (simt::atomic_ref(flags[me + 1]).load(simt::order::acquire) == 0) {
      }
    }
    simt::atomic_ref(flags[me]).store(1, simt::order::release);
  }
};

TEST(executor, runs_raw_spin_loops) {
  std::vector<std::uint32_t> flags(64);
  small_device().launch({1, 64}, spin_on_the_next_lane{flags.data()});
  EXPECT_EQ(flags, std::vector<std::uint32_t>(64, 1));
}

TEST(executor, blocks_run_at_the_same_time) {
  std::vector<std::uint32_t> flags(2);
  small_device().launch({2, 1}, spin_on_the_next_lane{flags.data()});
  EXPECT_EQ(flags, std::vector<std::uint32_t>(2, 1));
}

struct noisy {
  std::uint64_t* out;
  void operator()() const { out[simt::thread_rank()] = simt::noise(); }
};

TEST(executor, noise_depends_on_the_launch_and_on_nothing_else) {
  const auto two_launches = [] {
    const device on = small_device();
    std::vector<std::uint64_t> noises(256);
    on.launch({2, 64}, noisy{noises.data()});
    on.launch({2, 64}, noisy{noises.data() + 128});
    return noises;
  };
  const auto first = two_launches();
  EXPECT_EQ(first, two_launches());
  EXPECT_NE(std::vector(first.begin(), first.begin() + 128),
            std::vector(first.begin() + 128, first.end()));
}

TEST(executor, changes_its_blocks_between_launches) {
  const device on = small_device();
  for (const std::uint32_t threads : {1u, 40u, 7u, 64u, 1u}) expect_usable(on, threads);
}

#if !WARPHEAP_TEST_SANITIZED
/// Needs more stack than a lane has.
struct use_much_stack {
  void operator()() const {
    volatile char large[256 * 1024];
    large[0] = 1;
    large[sizeof large - 1] = large[0];
  }
};

TEST(executor_death, a_lane_that_leaves_its_stack_meets_a_guard_page) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(small_device().launch({4, 32}, use_much_stack{}), ::testing::KilledBySignal(SIGSEGV),
              "");
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
