// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bugs that are known to be there, and the same code without them: the explorer must find the
// former under every strategy, and nothing in the latter.
#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::array strategies{simt::strategy::sticky, simt::strategy::uniform,
                                simt::strategy::pct};

/// A scenario of two warps of four lanes: `reset`, the lanes' program, and what is wrong in the
/// end.
struct scenario {
  virtual ~scenario() = default;
  virtual void reset() = 0;
  virtual void lane() = 0;
  virtual bool sound() const = 0;
};

/// The first seed whose schedule is stuck or unsound; 0 if there is none among `schedules`.
std::uint64_t first_finding(scenario& of, simt::strategy how, std::uint64_t schedules) {
  simt::explorer explorer({2, 4}, 2000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    of.reset();
    const auto outcome = explorer.run({how, seed}, [&of] { of.lane(); });
    if (!outcome.stuck.empty() || !of.sound()) return seed;
  }
  return 0;
}

void expect_found(scenario&& planted) {
  for (const auto how : strategies) {
    const std::uint64_t seed = first_finding(planted, how, 20'000);
    EXPECT_NE(seed, 0u) << "strategy " << static_cast<int>(how);
    std::printf("strategy %d: found at seed %llu\n", static_cast<int>(how),
                static_cast<unsigned long long>(seed));
  }
}

void expect_clean(scenario&& correct) {
  constexpr std::uint64_t schedules = sanitized ? 2'000 : 100'000;
  for (const auto how : strategies) {
    EXPECT_EQ(first_finding(correct, how, schedules), 0u) << "strategy " << static_cast<int>(how);
  }
}

/// Lanes take slots out of a bitmap: with a check and then a store, or with one atomic.
template <bool Correct>
struct take_slots : scenario {
  alignas(8) std::uint32_t used = 0;
  std::array<int, 8> owners{};

  void reset() override {
    used = 0;
    owners = {};
  }
  void lane() override {
    const simt::atomic_ref<std::uint32_t> word(used);
    for (;;) {
      const std::uint32_t seen = word.load(simt::order::acquire);
      const std::uint32_t bit = 1u << lowest_bit(~seen);
      if (Correct) {
        if ((word.fetch_or(bit, simt::order::acq_rel) & bit) != 0) continue;
      } else {
        word.store(seen | bit, simt::order::release);
      }
      std::atomic_ref(owners[lowest_bit(bit)]).fetch_add(1);  // no step of a schedule
      return;
    }
  }
  bool sound() const override {
    return used == 0xff && owners == std::array{1, 1, 1, 1, 1, 1, 1, 1};
  }
};

TEST(planted, check_then_set_is_found) { expect_found(take_slots<false>{}); }
TEST(planted, one_atomic_is_clean) { expect_clean(take_slots<true>{}); }

/// A stack of nodes, each popped and pushed back: with a counter beside the head, or without.
template <bool Tagged>
struct treiber_stack : scenario {
  static constexpr std::uint32_t none = 0xff;
  alignas(8) std::uint64_t head = 0;
  std::array<std::uint32_t, 4> next{};
  std::array<std::uint32_t, 4> holders{};
  bool doubled = false;

  void reset() override {
    head = 0;
    next = {1, 2, 3, none};
    holders = {};
    doubled = false;
  }
  static constexpr std::uint64_t retagged(std::uint64_t old, std::uint32_t node) {
    return Tagged ? ((old >> 32) + 1) << 32 | node : node;
  }
  std::uint32_t pop() {
    const simt::atomic_ref<std::uint64_t> top(head);
    std::uint64_t seen = top.load(simt::order::acquire);
    for (;;) {
      const auto node = static_cast<std::uint32_t>(seen);
      if (node == none) return none;
      const std::uint32_t after = simt::atomic_ref(next[node]).load(simt::order::relaxed);
      if (top.compare_exchange(seen, retagged(seen, after), simt::order::acq_rel)) return node;
    }
  }
  void push(std::uint32_t node) {
    const simt::atomic_ref<std::uint64_t> top(head);
    std::uint64_t seen = top.load(simt::order::relaxed);
    do {
      simt::atomic_ref(next[node]).store(static_cast<std::uint32_t>(seen), simt::order::relaxed);
    } while (!top.compare_exchange(seen, retagged(seen, node), simt::order::acq_rel));
  }
  void lane() override {
    const std::uint32_t first = pop();
    if (first != none) hold(first);
    const std::uint32_t second = pop();
    if (second != none) hold(second);
    if (first != none) let_go(first);
    if (second != none) let_go(second);
  }
  void hold(std::uint32_t node) {
    if (simt::atomic_ref(holders[node]).fetch_add(1, simt::order::relaxed) != 0) doubled = true;
  }
  void let_go(std::uint32_t node) {
    simt::atomic_ref(holders[node]).fetch_sub(1, simt::order::relaxed);
    push(node);
  }
  bool sound() const override {
    std::array<bool, 4> there{};
    std::uint32_t count = 0;
    for (auto node = static_cast<std::uint32_t>(head); node != none; node = next[node]) {
      if (there[node]) return false;
      there[node] = true;
      ++count;
    }
    return count == 4 && !doubled;
  }
};

TEST(planted, treiber_aba_is_found) { expect_found(treiber_stack<false>{}); }
TEST(planted, a_tagged_stack_is_clean) { expect_clean(treiber_stack<true>{}); }

/// The lanes of a branch use the mask of the lanes before the branch, or that of the branch.
template <bool Correct>
struct branch_mask : scenario {
  std::atomic<int> votes = 0;  // not the model's: no step of a schedule
  void reset() override { votes = 0; }
  void lane() override {
    const simt::group outer = simt::coalesced(nullptr);
    if (simt::lane_id() < 2) {
      const simt::group used = Correct ? simt::coalesced(nullptr) : outer;
      if (used.any(true)) ++votes;
    } else {
      outer.sync();
      ++votes;
    }
    if (Correct && simt::lane_id() < 2) outer.sync();
  }
  bool sound() const override { return votes == 8; }
};

TEST(planted, a_mask_that_does_not_fit_is_found) { expect_found(branch_mask<false>{}); }
TEST(planted, masks_that_fit_are_clean) { expect_clean(branch_mask<true>{}); }

/// A lock that is left locked on one of two ways out.
template <bool Correct>
struct early_return : scenario {
  alignas(8) std::uint32_t lock = 0;
  alignas(8) std::uint32_t left = 0;
  void reset() override {
    lock = 0;
    left = 4;
  }
  void lane() override {
    const simt::atomic_ref<std::uint32_t> word(lock);
    std::uint32_t expected = 0;
    while (!word.compare_exchange(expected, 1u, simt::order::acquire)) {
      expected = 0;
      simt::backoff(1);
    }
    if (left == 0) {
      if (Correct) word.store(0, simt::order::release);
      return;
    }
    --left;  // guarded by the lock
    word.store(0, simt::order::release);
  }
  bool sound() const override { return lock == 0 && left == 0; }
};

TEST(planted, a_leaked_lock_is_found) { expect_found(early_return<false>{}); }
TEST(planted, a_lock_that_is_always_released_is_clean) { expect_clean(early_return<true>{}); }

/// One lane reserves for its group: for its actual size, or for a full warp of four.
template <bool Correct>
struct reserve_together : scenario {
  alignas(8) std::uint32_t next = 0;
  std::array<int, 64> owners{};
  void reset() override {
    next = 0;
    owners = {};
  }
  void lane() override {
    const simt::group together = simt::coalesced(nullptr);
    std::uint32_t first = 0;
    if (together.is_leader()) {
      const std::uint32_t count = Correct ? static_cast<std::uint32_t>(together.size()) : 4;
      first = simt::atomic_ref(next).fetch_add(count, simt::order::relaxed);
    }
    ++owners[together.broadcast(first) + static_cast<std::uint32_t>(together.rank())];
  }
  bool sound() const override {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] != (i < 8 ? 1 : 0)) return false;
    }
    return true;
  }
};

TEST(planted, assumed_full_convergence_is_found) { expect_found(reserve_together<false>{}); }
TEST(planted, counting_the_group_is_clean) { expect_clean(reserve_together<true>{}); }

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
