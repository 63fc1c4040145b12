// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that overlap, outlive a branch, lose members, or meet while others spin.
#include "device_array.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <functional>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The outer group is used again after its members were in groups of their own.
struct nest {
  std::uint32_t* outer_mask;
  std::uint32_t* inner_sum;
  std::uint32_t* outer_sum;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    const simt::group outer = simt::coalesced(nullptr);
    const simt::group alike = outer.match(static_cast<std::uint32_t>(rank % 3));
    std::uint32_t sum = alike.scan_add(1u);
    if (rank % 3 == 1) {
      // Members of one inner group take a detour through a third kind of group.
      const simt::group detour = simt::coalesced(nullptr);
      sum += detour.ballot(true) == detour.mask() ? 0 : 1000;
    }
    alike.sync();
    outer_mask[rank] = outer.mask().bits();
    inner_sum[rank] = sum;
    outer_sum[rank] = outer.scan_add(1u);
  }
};

TEST(groups, inner_and_outer_ones_overlap) {
  for (const std::uint32_t threads : {7u, 32u, 50u}) {
    constexpr std::uint32_t blocks = 8;
    const device_array<std::uint32_t> masks(blocks * threads);
    const device_array<std::uint32_t> inner(blocks * threads);
    const device_array<std::uint32_t> outer(blocks * threads);
    machine().launch({blocks, threads}, nest{masks.get(), inner.get(), outer.get()});
    const auto mask = masks.read();
    const auto inner_sum = inner.read();
    const auto outer_sum = outer.read();
    for (std::uint32_t i = 0; i < mask.size(); ++i) {
      const std::uint32_t warp = i - i % threads % 32;
      const auto below = simt::lane_mask(mask[i]).below(static_cast<int>(i - warp));
      std::uint32_t alike = 0;
      for (std::uint32_t l = 0; l < i - warp; ++l) {
        if (below.contains(static_cast<int>(l)) && (warp + l) % 3 == i % 3) ++alike;
      }
      EXPECT_EQ(inner_sum[i], alike) << "thread " << i;
      EXPECT_EQ(outer_sum[i], static_cast<std::uint32_t>(below.count())) << "thread " << i;
    }
  }
}

/// Some lanes exit; the others go on with the group of all.
struct lose_members {
  std::uint32_t stay;
  std::uint32_t* votes;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group all = simt::warp();
    if ((stay >> simt::lane_id() & 1u) == 0) return;
    all.sync();
    votes[simt::thread_rank()] = all.ballot(true).bits();
  }
};

TEST(groups, exited_lanes_count_as_arrived) {
  for (const std::uint32_t stay : {0xffffffffu, 0x0000ffffu, 0x55555555u, 0x80000000u, 0x1u}) {
    const device_array<std::uint32_t> votes(64);
    machine().launch({1, 64}, lose_members{stay, votes.get()});
    const auto seen = votes.read();
    for (std::uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(seen[i], (stay >> i % 32 & 1u) != 0 ? stay : 0u) << "thread " << i;
    }
  }
}

/// Lanes call at one place, and pass addresses that nobody reads.
struct form_apart {
  const std::uint64_t* addresses;
  std::uint32_t* masks;
  std::uint32_t* whole;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    const void* const of = reinterpret_cast<const void*>(addresses[rank]);
    masks[rank] = simt::coalesced(of).mask().bits();
    whole[rank] = simt::is_whole_warp(of) ? 1 : 0;
  }
};

TEST(groups, are_of_lanes_that_pass_one_address) {
  constexpr std::uint64_t high = std::uint64_t{1} << 40;
  // What each lane passes: one address, or several that differ in their low or high half.
  const std::function<std::uint64_t(std::uint64_t)> passed[]{
      [](std::uint64_t /*lane*/) { return 4096; },
      [](std::uint64_t lane) { return 4096 + lane % 2 * 256; },
      [](std::uint64_t lane) { return 4096 + lane % 2 * high; },
      [](std::uint64_t lane) { return lane / 31 * high; },
      [](std::uint64_t lane) { return lane % 3 * 256 + lane % 5 * high; },
      [](std::uint64_t lane) { return lane * 256; },
  };
  constexpr std::uint32_t lanes = 32;
  for (const auto& address_of : passed) {
    std::vector<std::uint64_t> addresses(4 * lanes);
    for (std::uint64_t i = 0; i < addresses.size(); ++i) addresses[i] = address_of(i % lanes);
    const device_array<std::uint64_t> of(addresses);
    const device_array<std::uint32_t> masks(addresses.size());
    const device_array<std::uint32_t> whole(addresses.size());
    machine().launch({2, 2 * lanes}, form_apart{of.get(), masks.get(), whole.get()});
    const auto mask = masks.read();
    const auto is_whole = whole.read();
    for (std::uint32_t i = 0; i < addresses.size(); ++i) {
      std::uint32_t alike = 0;
      for (std::uint32_t k = 0; k < lanes; ++k) {
        if (addresses[k] == addresses[i % lanes]) alike |= 1u << k;
      }
      EXPECT_EQ(mask[i], alike) << "lane " << i;
      EXPECT_EQ(is_whole[i], alike == ~0u ? 1u : 0u) << "lane " << i;
    }
  }
}

/// Lane 0 of each warp waits, without a group, for what the others do in one.
struct spin_for_the_others {
  std::uint32_t* arrived;
  WARPHEAP_DEVICE void operator()() const {
    std::uint32_t& of_warp = arrived[simt::thread_rank() / 32];
    if (simt::lane_id() == 0) {
      while (simt::atomic_ref(of_warp).load(simt::order::acquire) != 31) simt::backoff(20);
    } else {
      const simt::group together = simt::coalesced(nullptr);
      const auto size = static_cast<std::uint32_t>(together.size());
      if (together.is_leader()) simt::atomic_ref(of_warp).fetch_add(size, simt::order::release);
    }
  }
};

TEST(groups, form_while_a_lane_of_the_warp_spins) {
  const device_array<std::uint32_t> arrived(8);
  machine().launch({2, 128}, spin_for_the_others{arrived.get()});
  EXPECT_EQ(arrived.read(), std::vector<std::uint32_t>(8, 31));
}

/// Every lane takes one lock, and uses a group while it holds it.
struct lock_then_coalesce {
  std::uint32_t* lock;
  std::uint32_t* counter;
  WARPHEAP_DEVICE void operator()() const {
    bool done = false;
    while (!done) {
      std::uint32_t expected = 0;
      if (simt::atomic_ref(*lock).compare_exchange(expected, 1u, simt::order::acquire)) {
        const simt::group holder = simt::coalesced(nullptr);
        if (holder.any(true)) *counter += 1;  // guarded by the lock
        simt::atomic_ref(*lock).store(0u, simt::order::release);
        done = true;
      } else {
        simt::backoff(50);
      }
    }
  }
};

TEST(groups, form_inside_a_lock_that_the_other_lanes_spin_on) {
  const device_array<std::uint32_t> lock(1);
  const device_array<std::uint32_t> counter(1);
  machine().launch({4, 64}, lock_then_coalesce{lock.get(), counter.get()});
  EXPECT_EQ(counter.read()[0], 256u);
}

/// Lanes leave a loop one after another, and the rest converge again in each round.
struct shrinking_loop {
  std::uint32_t* rounds;
  WARPHEAP_DEVICE void operator()() const {
    std::uint32_t mine = 0;
    for (int i = 0; i <= simt::lane_id(); ++i) {
      const simt::group together = simt::coalesced(nullptr);
      if (together.all(true)) ++mine;
    }
    rounds[simt::thread_rank()] = mine;
  }
};

TEST(groups, form_in_loops_that_lanes_leave_one_by_one) {
  const device_array<std::uint32_t> rounds(96);
  machine().launch({1, 96}, shrinking_loop{rounds.get()});
  const auto seen = rounds.read();
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(seen[i], i % 32 + 1);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
