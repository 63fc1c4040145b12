// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs whose atomics are right in every interleaving, but order too little of what lanes do
// beside them: under ThreadSanitizer the explorer must find the race under every strategy, and none
// once the order is there.
#include "races.hpp"

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using enum simt::order;
using ::testing::HasSubstr;

/// A message in plain memory, and the words through which lanes tell each other of it.
struct board {
  std::array<int, 4> message{};
  alignas(8) std::uint32_t flag = 0;
  alignas(8) std::uint32_t turn = 0;

  simt::atomic_ref<std::uint32_t> flagged() { return simt::atomic_ref(flag); }
  simt::atomic_ref<std::uint32_t> turns() { return simt::atomic_ref(turn); }
};

/// The first race in a few hundred schedules, or nothing.
template <class Lane>
std::string first_race(const simt::grid& shape, simt::strategy how, const Lane& lane) {
  constexpr std::uint64_t schedules = 300;
  simt::explorer explorer(shape, 5000);
  verify::race_since_last_call();
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    board on;
    const auto outcome = explorer.run({how, seed}, [&] { lane(on); });
    EXPECT_EQ(outcome.stuck, "");
    std::string race = verify::race_since_last_call();
    if (!race.empty()) return race;
  }
  return "";
}

template <class Lane>
void expect_race(const simt::grid& shape, const Lane& lane) {
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    EXPECT_THAT(first_race(shape, how, lane), HasSubstr("data-race")) << static_cast<int>(how);
  }
}

template <class Lane>
void expect_none(const simt::grid& shape, const Lane& lane) {
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    EXPECT_EQ(first_race(shape, how, lane), "") << static_cast<int>(how);
  }
}

constexpr simt::grid two_blocks{2, 1};
constexpr simt::grid one_warp{1, 4};

auto publication(simt::order publish, simt::order look) {
  return [=](board& on) {
    if (simt::thread_rank() == 0) {
      on.message[0] = 1;
      on.flagged().store(1, publish);
    } else {
      while (on.flagged().load(look) == 0) simt::backoff(1);
      on.message[0] = 2;
    }
  };
}

TEST(planted_race, a_relaxed_publication_is_found) {
  expect_race(two_blocks, publication(relaxed, acquire));
  expect_race(two_blocks, publication(release, relaxed));
}
TEST(planted_race, a_released_publication_is_clean) {
  expect_none(two_blocks, publication(release, acquire));
}

/// The lane that gives the last of four back reuses what all of them had.
auto reference_count(simt::order o) {
  return [=](board& on) {
    on.message[simt::thread_rank()] = 1;
    if (on.turns().fetch_add(1, o) == 3) on.message = {};
  };
}

TEST(planted_race, a_count_that_only_releases_is_found) {
  expect_race({4, 1}, reference_count(relaxed));
  expect_race({4, 1}, reference_count(release));
}
TEST(planted_race, a_count_that_also_acquires_is_clean) {
  expect_none({4, 1}, reference_count(acq_rel));
}

/// A member reads what the leader has written, after a shuffle or after a sync.
auto hand_over(bool syncs) {
  return [=](board& on) {
    const simt::group all = simt::warp();
    if (all.is_leader()) on.message[0] = 7;
    if (syncs) all.sync();
    const int known = all.broadcast(3);
    if (!all.is_leader()) on.message[known - all.rank() + 1] = on.message[0];
  };
}

TEST(planted_race, a_shuffle_orders_nothing) { expect_race(one_warp, hand_over(false)); }
TEST(planted_race, a_sync_orders_its_members) { expect_none(one_warp, hand_over(true)); }

/// Lanes 0 and 1 sync, then lanes 2 and 3: neither pair learns of the other.
TEST(planted_race, a_sync_of_others_orders_nothing) {
  expect_race(one_warp, [](board& on) {
    const std::uint32_t lane = static_cast<std::uint32_t>(simt::lane_id());
    if (lane == 1) on.message[0] = 1;
    const simt::group pair(simt::lane_mask(lane < 2 ? 0b0011u : 0b1100u));
    if (lane >= 2) {
      while (on.turns().load(relaxed) == 0) simt::backoff(1);
    }
    pair.sync();
    if (lane == 1) on.turns().store(1, relaxed);
    if (lane == 2) on.message[0] = 2;
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
