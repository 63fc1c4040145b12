// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/cpu/explorer.hpp"

#include "machine.hpp"
#include "traced_schedule.hpp"

#include "warpheap/core/error.hpp"
#include "warpheap/simt/simt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

std::string traced_schedule(const simt::schedule& order) {
  simt::explorer explorer({2, 5});
  alignas(8) std::uint64_t counter = 0;
  std::array<std::uint64_t, 10> seen{};
  std::string trace;
  const auto outcome = explorer.run(
      order,
      [&] {
        const simt::group together = simt::coalesced(nullptr);
        const std::uint64_t before = together.scan_add(simt::noise() % 7);
        if (together.is_leader()) {
          simt::atomic_ref(counter).fetch_add(before + 1, simt::order::relaxed);
        }
        simt::backoff(1);
        simt::block_sync();
        seen[simt::thread_rank()] =
            before + simt::atomic_ref(counter).load(simt::order::relaxed) * 100;
      },
      &trace);
  for (const std::uint64_t value : seen) trace += std::to_string(value) + " ";
  return trace + outcome.stuck + std::to_string(outcome.steps) + "\n";
}

namespace {

using ::testing::HasSubstr;

constexpr std::array strategies{simt::strategy::sticky, simt::strategy::uniform,
                                simt::strategy::pct};

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  return pclose(pipe) == 0 ? text : "failed: " + command;
}

std::string own_path() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

TEST(explorer, the_same_seed_is_the_same_schedule) {
  for (const auto how : strategies) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      EXPECT_EQ(traced_schedule({how, seed}), traced_schedule({how, seed})) << seed;
    }
  }
}

TEST(explorer, the_same_seed_is_the_same_schedule_in_another_process) {
  for (const auto how : strategies) {
    for (const std::uint64_t seed : {1ull, 7ull, 123456789012345ull}) {
      std::string command = own_path();
      command.append(" trace ").append(std::to_string(static_cast<int>(how)));
      command.append(" ").append(std::to_string(seed));
      EXPECT_EQ(output_of(command), traced_schedule({how, seed})) << seed;
    }
  }
}

TEST(explorer, other_seeds_are_other_schedules) {
  for (const auto how : strategies) {
    std::set<std::string> traces;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) traces.insert(traced_schedule({how, seed}));
    EXPECT_GT(traces.size(), 95u);
  }
}

TEST(explorer, a_schedule_leaves_no_trace_in_the_next_one) {
  simt::explorer explorer({1, 6});
  const auto trace_of = [&](std::uint64_t seed) {
    std::string trace;
    explorer.run(
        {simt::strategy::uniform, seed}, [] { simt::coalesced(nullptr).sync(); }, &trace);
    return trace;
  };
  const std::string first = trace_of(1);
  // A schedule that gets stuck halfway lies between the two.
  const auto stuck = explorer.run({simt::strategy::uniform, 2}, [] {
    if (simt::lane_id() == 0) simt::warp().sync();
    if (simt::lane_id() == 1) simt::block_sync();
    if (simt::lane_id() == 2) simt::group(simt::lane_mask(0b1100)).sync();
    if (simt::lane_id() == 3) simt::group(simt::lane_mask(0b1010)).sync();
  });
  EXPECT_FALSE(stuck.stuck.empty());
  EXPECT_EQ(trace_of(1), first);
}

TEST(explorer, coalesced_gives_every_size_of_group) {
  simt::explorer explorer({1, 8});
  std::set<std::uint32_t> masks;
  for (const auto how : strategies) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
      std::array<std::uint32_t, 8> mask{};
      const auto outcome = explorer.run(
          {how, seed}, [&] { mask[simt::thread_rank()] = simt::coalesced(nullptr).mask().bits(); });
      ASSERT_TRUE(outcome.stuck.empty()) << outcome.stuck;
      for (int lane = 0; lane < 8; ++lane) {
        ASSERT_TRUE(simt::lane_mask(mask[lane]).contains(lane));
        masks.insert(mask[lane]);
        for (int other = 0; other < 8; ++other) {
          if (simt::lane_mask(mask[lane]).contains(other)) {
            ASSERT_EQ(mask[other], mask[lane]);
          }
        }
      }
    }
  }
  EXPECT_EQ(masks.size(), 255u) << "some sets of lanes were never a group";
}

TEST(explorer, no_group_has_lanes_that_pass_different_addresses) {
  simt::explorer explorer({1, 8});
  for (const auto how : strategies) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      std::array<std::uint32_t, 8> mask{};
      std::array<bool, 8> whole{};
      const auto outcome = explorer.run({how, seed}, [&] {
        const void* const of = &mask[simt::thread_rank() % 2];
        mask[simt::thread_rank()] = simt::coalesced(of).mask().bits();
        whole[simt::thread_rank()] = simt::is_whole_warp(of);
      });
      ASSERT_TRUE(outcome.stuck.empty()) << outcome.stuck;
      for (std::uint32_t lane = 0; lane < 8; ++lane) {
        ASSERT_EQ(mask[lane] & (lane % 2 == 0 ? 0xaau : 0x55u), 0u);
        ASSERT_FALSE(whole[lane]);
      }
    }
  }
}

TEST(explorer, names_what_a_stuck_schedule_waits_for) {
  simt::explorer explorer({2, 2});
  const auto outcome = explorer.run({simt::strategy::sticky, 1}, [] {
    if (simt::thread_rank() == 2) simt::group(simt::lane_mask(0b11)).any(true);
    if (simt::thread_rank() == 3) simt::group(simt::lane_mask(0b11)).scan_add(1u);
  });
  EXPECT_THAT(outcome.stuck, HasSubstr("deadlock"));
  EXPECT_THAT(outcome.stuck, HasSubstr("block 1 warp 0 lane  0: ballot of lanes 00000003"));
  EXPECT_THAT(outcome.stuck, HasSubstr("block 1 warp 0 lane  1: scan_add of lanes 00000003"));
}

TEST(explorer, ends_a_schedule_at_its_step_limit) {
  simt::explorer explorer({1, 2}, 500);
  alignas(8) std::uint64_t never = 0;
  for (const auto how : strategies) {
    const auto outcome = explorer.run({how, 1}, [&] {
      while (simt::atomic_ref(never).load(simt::order::relaxed) == 0) simt::backoff(1);
    });
    EXPECT_THAT(outcome.stuck, HasSubstr("no end after 500 steps"));
  }
}

TEST(explorer, a_lane_that_spins_lets_the_others_go_on) {
  for (const auto how : strategies) {
    simt::explorer explorer({2, 4});
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      alignas(8) std::uint64_t flag = 0;
      alignas(8) std::uint64_t meetings = 0;
      const auto outcome = explorer.run({how, seed}, [&] {
        if (simt::thread_rank() == 0) {
          while (simt::atomic_ref(flag).load(simt::order::acquire) < 7) {
          }
        } else {
          const simt::group some = simt::coalesced(nullptr);
          if (some.any(true)) {
            simt::atomic_ref(meetings).fetch_add(std::uint64_t{1}, simt::order::relaxed);
          }
          simt::atomic_ref(flag).fetch_add(std::uint64_t{1}, simt::order::release);
        }
      });
      ASSERT_TRUE(outcome.stuck.empty()) << "seed " << seed << ": " << outcome.stuck;
      ASSERT_EQ(meetings, 7u);
    }
  }
}

TEST(explorer, lanes_that_give_way_to_each_other_let_the_others_converge) {
  for (const auto how : strategies) {
    simt::explorer explorer({2, 4});
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      alignas(8) std::uint64_t flag = 0;
      const auto outcome = explorer.run({how, seed}, [&] {
        if (simt::lane_id() == 0) {
          while (simt::atomic_ref(flag).load(simt::order::acquire) < 6) simt::backoff(1);
        } else {
          const simt::group some = simt::coalesced(nullptr);
          const auto size = static_cast<std::uint64_t>(some.size());
          if (some.is_leader()) simt::atomic_ref(flag).fetch_add(size, simt::order::release);
        }
      });
      ASSERT_TRUE(outcome.stuck.empty()) << "seed " << seed << ": " << outcome.stuck;
    }
  }
}

TEST(explorer, refuses_grids_that_are_too_large) {
  EXPECT_THROW(simt::explorer({2, 33}), invalid_argument);
  EXPECT_THROW(simt::explorer({0, 8}), invalid_argument);
  EXPECT_NO_THROW(simt::explorer({2, 32}));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
