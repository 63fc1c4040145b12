// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The outcomes of litmus tests in the explorer's schedules.

#include "litmus_words.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include "machine.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// All outcomes that are seen in many schedules, `each` of every strategy. `lane(state, i)` is the
/// program of thread i, and `observe(state)` what its outcome is.
template <class Lane, class Observe>
outcomes seen_by(const simt::grid& shape, simt::memory_model memory, const Lane& lane,
                 const Observe& observe, std::uint64_t each = sanitized ? 3'000 : 20'000) {
  simt::explorer explorer(shape, 2000);
  outcomes seen;
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    for (std::uint64_t seed = 1; seed <= each; ++seed) {
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

/// Nothing drops a store here.
inline void keep_apart() {}

/// A litmus test that a GPU runs, too (litmus_instances.hpp). Weak memory must show all of its
/// outcomes, and sequential memory those that some interleaving has.
template <class Program>
void expect_outcomes(const char* what, const Program& program, const outcomes& interleaved,
                     const outcomes& weak) {
  SCOPED_TRACE(what);
  const auto lane = [&](litmus& s, int thread) { program.lane(s, thread); };
  const simt::grid shape{Program::blocks, Program::lanes};
  constexpr std::uint64_t few = 3'000;
  EXPECT_EQ(seen_by(shape, simt::memory_model::sequential, lane, &Program::observed, few),
            interleaved);
  outcomes all = interleaved;
  all.insert(weak.begin(), weak.end());
  EXPECT_EQ(seen_by(shape, simt::memory_model::weak, lane, &Program::observed), all);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
