// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What litmus tests of the explorer are written with: words, threads, and sets of outcomes.

#include "warpheap/simt/cpu/explorer.hpp"

#include "machine.hpp"

#include "warpheap/simt/simt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using simt::order;
using enum simt::order;
using outcome = std::vector<int>;
using outcomes = std::set<outcome>;
using ::testing::ElementsAreArray;

/// One word, with the operations that litmus tests are written in.
class cell {
 public:
  void store(int value, order o) { word().store(value, o); }
  int load(order o) { return word().load(o); }
  int hint() { return simt::load_hint(value_); }
  int add(int value, order o) { return word().fetch_add(value, o); }
  int exchange(int value, order o) { return word().exchange(value, o); }
  /// What is in memory, which is the newest store.
  int final() const { return value_; }
  void clear() { value_ = 0; }

 private:
  simt::atomic_ref<int> word() { return simt::atomic_ref<int>(value_); }
  alignas(8) int value_ = 0;
};

/// The words and the registers of a litmus test.
struct litmus {
  cell x, y, z;
  std::array<int, 4> r{};
};

/// All outcomes that are seen in many schedules. `lane(state, i)` is the program of thread i, and
/// `observe(state)` what its outcome is.
template <class Lane, class Observe>
outcomes seen_by(const simt::grid& shape, simt::memory_model memory, const Lane& lane,
                 const Observe& observe) {
  constexpr std::uint64_t schedules = sanitized ? 3'000 : 20'000;
  simt::explorer explorer(shape, 2000);
  outcomes seen;
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      litmus state;
      const auto ended = explorer.run({how, seed, memory},
                                      [&] { lane(state, static_cast<int>(simt::thread_rank())); });
      EXPECT_EQ(ended.stuck, "");
      seen.insert(observe(state));
    }
  }
  return seen;
}

/// Threads in blocks of their own, so no two share a warp.
template <class Lane, class Observe>
outcomes weak_outcomes(std::uint32_t threads, const Lane& lane, const Observe& observe) {
  return seen_by({threads, 1}, simt::memory_model::weak, lane, observe);
}

/// Every outcome of `registers` registers of 0 or 1, but for those `without`.
inline outcomes all_but(int registers, const outcomes& without) {
  outcomes all;
  for (int bits = 0; bits < 1 << registers; ++bits) {
    outcome one;
    for (int i = registers - 1; i >= 0; --i) one.push_back(bits >> i & 1);
    if (!without.contains(one)) all.insert(one);
  }
  return all;
}

inline outcome two_registers(const litmus& s) { return {s.r[0], s.r[1]}; }
inline outcome four_registers(const litmus& s) { return {s.r[0], s.r[1], s.r[2], s.r[3]}; }

}  // namespace test
WARPHEAP_END_NAMESPACE
