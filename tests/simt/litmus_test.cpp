// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explorer's weak memory against litmus tests whose outcomes are published: J. Alglave et al.,
// "Herding Cats", TOPLAS 2014 (names and shapes); O. Lahav et al., PLDI 2017 (what C++ allows with
// sequentially consistent accesses and fences). Each test compares the set of outcomes that were
// seen with the set that is allowed, so a forbidden one fails it, and one that is never seen, too.
// Load buffering (LB), which C++ allows, is left out by the model, and LB's test says so.
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
namespace {

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
outcomes all_but(int registers, const outcomes& without) {
  outcomes all;
  for (int bits = 0; bits < 1 << registers; ++bits) {
    outcome one;
    for (int i = registers - 1; i >= 0; --i) one.push_back(bits >> i & 1);
    if (!without.contains(one)) all.insert(one);
  }
  return all;
}

outcome two_registers(const litmus& s) { return {s.r[0], s.r[1]}; }
outcome four_registers(const litmus& s) { return {s.r[0], s.r[1], s.r[2], s.r[3]}; }

// Message passing: the flag y is seen (r0 = 1), and the message x is not (r1 = 0).

outcomes message_passing(order publish, order look) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.y.store(1, publish);
        } else {
          s.r[0] = s.y.load(look);
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
}

TEST(litmus, message_passing_needs_both_orders) {
  EXPECT_EQ(message_passing(relaxed, relaxed), all_but(2, {}));
  EXPECT_EQ(message_passing(release, relaxed), all_but(2, {}));
  EXPECT_EQ(message_passing(relaxed, acquire), all_but(2, {}));
  EXPECT_EQ(message_passing(release, acquire), all_but(2, {{1, 0}}));
  EXPECT_EQ(message_passing(seq_cst, seq_cst), all_but(2, {{1, 0}}));
}

outcomes message_passing_with_fences(order publish, order look) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          simt::fence(publish);
          s.y.store(1, relaxed);
        } else {
          s.r[0] = s.y.load(relaxed);
          simt::fence(look);
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
}

TEST(litmus, message_passing_needs_both_fences) {
  EXPECT_EQ(message_passing_with_fences(release, relaxed), all_but(2, {}));
  EXPECT_EQ(message_passing_with_fences(relaxed, acquire), all_but(2, {}));
  EXPECT_EQ(message_passing_with_fences(acquire, release), all_but(2, {}));
  EXPECT_EQ(message_passing_with_fences(release, acquire), all_but(2, {{1, 0}}));
  EXPECT_EQ(message_passing_with_fences(acq_rel, acq_rel), all_but(2, {{1, 0}}));
  EXPECT_EQ(message_passing_with_fences(seq_cst, seq_cst), all_but(2, {{1, 0}}));
}

/// A third thread changes the flag by `between` before it is seen as 2.
template <class Between>
outcomes release_sequence(const Between& between) {
  return weak_outcomes(
      3,
      [&](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.y.store(1, release);
        } else if (thread == 1) {
          between(s);
        } else {
          s.r[0] = s.y.load(acquire) == 2;
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
}

TEST(litmus, a_release_sequence_goes_through_read_modify_writes_only) {
  EXPECT_EQ(release_sequence([](litmus& s) { s.y.add(1, relaxed); }), all_but(2, {{1, 0}}));
  EXPECT_EQ(release_sequence([](litmus& s) {
              if (s.y.load(relaxed) == 1) s.y.store(2, relaxed);
            }),
            all_but(2, {}));
}

// Store buffering: neither thread sees the other's store.

outcomes store_buffering(order store, order fence, order load) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        cell& mine = thread == 0 ? s.x : s.y;
        cell& other = thread == 0 ? s.y : s.x;
        mine.store(1, store);
        simt::fence(fence);
        s.r[thread] = other.load(load);
      },
      two_registers);
}

TEST(litmus, store_buffering_needs_sequential_consistency) {
  EXPECT_EQ(store_buffering(relaxed, relaxed, relaxed), all_but(2, {}));
  EXPECT_EQ(store_buffering(release, relaxed, acquire), all_but(2, {}));
  EXPECT_EQ(store_buffering(release, acq_rel, acquire), all_but(2, {}));
  EXPECT_EQ(store_buffering(seq_cst, relaxed, acquire), all_but(2, {}));
  EXPECT_EQ(store_buffering(release, relaxed, seq_cst), all_but(2, {}));
  EXPECT_EQ(store_buffering(seq_cst, relaxed, seq_cst), all_but(2, {{0, 0}}));
  EXPECT_EQ(store_buffering(relaxed, seq_cst, relaxed), all_but(2, {{0, 0}}));
}

outcomes store_buffering_by_exchange(order o) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        cell& mine = thread == 0 ? s.x : s.y;
        cell& other = thread == 0 ? s.y : s.x;
        mine.exchange(1, o);
        s.r[thread] = other.load(o == seq_cst ? seq_cst : acquire);
      },
      two_registers);
}

TEST(litmus, an_exchange_is_no_fence) {
  EXPECT_EQ(store_buffering_by_exchange(acq_rel), all_but(2, {}));
  EXPECT_EQ(store_buffering_by_exchange(seq_cst), all_but(2, {{0, 0}}));
}

// Load buffering: each thread sees what the other one stores after its own load. C++ and PTX allow
// that for relaxed accesses; the model does not show it.

TEST(litmus, load_buffering_is_left_out) {
  const auto seen = weak_outcomes(
      2,
      [](litmus& s, int thread) {
        s.r[thread] = (thread == 0 ? s.x : s.y).load(relaxed);
        (thread == 0 ? s.y : s.x).store(1, relaxed);
      },
      two_registers);
  EXPECT_EQ(seen, all_but(2, {{1, 1}}));
}

// Independent reads of independent writes: two readers see two stores in opposite orders.

outcomes independent_reads(order store, order load, order fence = relaxed) {
  return weak_outcomes(
      4,
      [=](litmus& s, int thread) {
        if (thread < 2) {
          (thread == 0 ? s.x : s.y).store(1, store);
        } else {
          s.r[2 * thread - 4] = (thread == 2 ? s.x : s.y).load(load);
          simt::fence(fence);
          s.r[2 * thread - 3] = (thread == 2 ? s.y : s.x).load(load);
        }
      },
      four_registers);
}

TEST(litmus, independent_reads_need_sequential_consistency) {
  EXPECT_EQ(independent_reads(relaxed, relaxed), all_but(4, {}));
  EXPECT_EQ(independent_reads(release, acquire), all_but(4, {}));
  EXPECT_EQ(independent_reads(release, seq_cst), all_but(4, {}));
  EXPECT_EQ(independent_reads(release, acquire, acq_rel), all_but(4, {}));
  EXPECT_EQ(independent_reads(seq_cst, seq_cst), all_but(4, {{1, 0, 1, 0}}));
  EXPECT_EQ(independent_reads(relaxed, relaxed, seq_cst), all_but(4, {{1, 0, 1, 0}}));
}

/// Write to read causality: the second thread passes on what it has seen.
outcomes write_to_read(order publish, order look) {
  return weak_outcomes(
      3,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
        } else if (thread == 1) {
          s.r[0] = s.x.load(relaxed);
          s.y.store(1, publish);
        } else {
          s.r[1] = s.y.load(look);
          s.r[2] = s.x.load(relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0], s.r[1], s.r[2]};
      });
}

TEST(litmus, what_was_seen_is_published_as_well) {
  EXPECT_EQ(write_to_read(relaxed, acquire), all_but(3, {}));
  EXPECT_EQ(write_to_read(release, acquire), all_but(3, {{1, 1, 0}}));
}

// Coherence: one word alone is always sequentially consistent.

TEST(litmus, coherence_of_two_reads) {
  const auto seen = weak_outcomes(
      2,
      [](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.x.store(2, relaxed);
        } else {
          s.r[0] = s.x.load(relaxed);
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(litmus, coherence_of_two_writes) {
  const auto seen = weak_outcomes(
      1,
      [](litmus& s, int) {
        s.x.store(1, relaxed);
        s.x.store(2, relaxed);
      },
      [](const litmus& s) { return outcome{s.x.final()}; });
  EXPECT_EQ(seen, (outcomes{{2}}));
}

TEST(litmus, coherence_of_a_read_before_a_write) {
  const auto seen = weak_outcomes(
      2,
      [](litmus& s, int thread) {
        if (thread == 0) {
          s.r[0] = s.x.load(relaxed);
          s.x.store(1, relaxed);
        } else {
          s.x.store(2, relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0], s.x.final()};
      });
  EXPECT_EQ(seen, (outcomes{{0, 1}, {0, 2}, {2, 1}}));
}

TEST(litmus, coherence_of_a_read_after_a_write) {
  const auto seen = weak_outcomes(
      2,
      [](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.r[0] = s.x.load(relaxed);
        } else {
          s.x.store(2, relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0], s.x.final()};
      });
  EXPECT_EQ(seen, (outcomes{{1, 1}, {1, 2}, {2, 2}}));
}

// 2+2W and S: stores of two threads end in an order that no interleaving has.

outcomes two_and_two_writes(order first, order second, order fence = relaxed) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        (thread == 0 ? s.x : s.y).store(1, first);
        simt::fence(fence);
        (thread == 0 ? s.y : s.x).store(2, second);
      },
      [](const litmus& s) {
        return outcome{s.x.final(), s.y.final()};
      });
}

TEST(litmus, two_and_two_writes) {
  const outcomes all{{1, 1}, {1, 2}, {2, 1}, {2, 2}};
  const outcomes sequential{{1, 2}, {2, 1}, {2, 2}};
  EXPECT_EQ(two_and_two_writes(relaxed, relaxed), all);
  EXPECT_EQ(two_and_two_writes(release, release), all);
  EXPECT_EQ(two_and_two_writes(seq_cst, seq_cst), sequential);
  EXPECT_EQ(two_and_two_writes(relaxed, relaxed, seq_cst), sequential);
}

outcomes store_after_message(order publish, order look) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(2, relaxed);
          s.y.store(1, publish);
        } else {
          s.r[0] = s.y.load(look);
          s.x.store(1, relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0], s.x.final()};
      });
}

TEST(litmus, a_store_after_a_message) {
  const outcomes all{{0, 1}, {0, 2}, {1, 1}, {1, 2}};
  EXPECT_EQ(store_after_message(relaxed, relaxed), all);
  EXPECT_EQ(store_after_message(release, acquire), (outcomes{{0, 1}, {0, 2}, {1, 1}}));
}

TEST(litmus, read_modify_writes_lose_nothing) {
  const auto seen = weak_outcomes(
      3,
      [](litmus& s, int thread) {
        if (thread == 2) {
          s.x.store(10, relaxed);
        } else {
          s.r[thread] = s.x.add(1, relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0] == s.r[1] ? 1 : 0, s.x.final()};
      });
  // Never both from the same value; the store is before, between or after the two.
  EXPECT_EQ(seen, (outcomes{{0, 10}, {0, 11}, {0, 12}}));
}

// The barriers of groups and blocks order their members, and nobody else.

outcomes message_through_barrier(const simt::grid& shape, bool whole_block) {
  return seen_by(
      shape, simt::memory_model::weak,
      [=](litmus& s, int thread) {
        if (thread == 0) s.x.store(1, relaxed);
        if (whole_block) {
          simt::block_sync();
        } else {
          simt::warp().sync();
        }
        if (thread == 0) s.y.store(1, relaxed);
        if (thread == 1) {
          s.r[0] = s.y.load(relaxed);
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
}

TEST(litmus, barriers_order_their_members_only) {
  const outcomes message_seen{{0, 1}, {1, 1}};
  EXPECT_EQ(message_through_barrier({1, 2}, false), message_seen);
  EXPECT_EQ(message_through_barrier({1, 2}, true), message_seen);
  EXPECT_EQ(message_through_barrier({2, 1}, false), all_but(2, {}));
  EXPECT_EQ(message_through_barrier({2, 1}, true), all_but(2, {}));
}

TEST(litmus, a_plain_store_starts_the_history_anew) {
  // The host's value is the first one, and a plain store replaces all that was before.
  const auto seen = weak_outcomes(
      1,
      [](litmus& s, int) {
        s.x.store(1, relaxed);
        s.x.store(2, relaxed);
        s.x.clear();
        s.r[0] = s.x.load(relaxed);
      },
      [](const litmus& s) { return outcome{s.r[0]}; });
  EXPECT_EQ(seen, (outcomes{{0}}));
}

TEST(litmus, a_lane_that_spins_sees_the_newest_before_long) {
  simt::explorer explorer({3, 1}, 2000);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    litmus state;
    const auto ended = explorer.run({simt::strategy::uniform, seed, simt::memory_model::weak}, [&] {
      const auto rank = static_cast<int>(simt::thread_rank());
      if (rank == 2) {
        state.x.store(1, relaxed);
        state.y.store(1, relaxed);
      } else {
        while (state.x.load(relaxed) == 0 || state.y.load(relaxed) == 0) simt::backoff(1);
      }
    });
    ASSERT_EQ(ended.stuck, "") << seed;
  }
}

TEST(litmus, sequential_memory_shows_none_of_it) {
  const auto sequential = [](const auto& lane) {
    return seen_by({2, 1}, simt::memory_model::sequential, lane, two_registers);
  };
  EXPECT_EQ(sequential([](litmus& s, int thread) {
              (thread == 0 ? s.x : s.y).store(1, relaxed);
              s.r[thread] = (thread == 0 ? s.y : s.x).load(relaxed);
            }),
            all_but(2, {{0, 0}}));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
