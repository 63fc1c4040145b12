// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More of litmus_test.cpp: coherence of one word, orders of stores, barriers, plain stores, lanes
// that spin.
#include "litmus.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

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
