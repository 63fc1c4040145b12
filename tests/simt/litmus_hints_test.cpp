// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More of litmus_test.cpp: how old hints may be. Each test has the same program with a relaxed
// load, or with an order that binds the hint, where the old value must not be seen.
#include "litmus.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

enum class kind { hint, load };

int look_at(cell& word, kind how) { return how == kind::hint ? word.hint() : word.load(relaxed); }

outcomes message(order look, kind how) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.y.store(1, release);
        } else {
          s.r[0] = s.y.load(look);
          s.r[1] = look_at(s.x, how);
        }
      },
      two_registers);
}

TEST(litmus_hint, an_acquire_binds_it_unless_it_is_relaxed_on_cuda) {
  const outcomes bound = all_but(2, {{1, 0}});
  EXPECT_EQ(message(relaxed, kind::hint), all_but(2, {}));
  EXPECT_EQ(message(acquire, kind::hint), bound);
  EXPECT_EQ(message(simt::acquire_to_write, kind::hint), all_but(2, {}));
  EXPECT_EQ(message(simt::acquire_to_write, kind::load), bound);
}

outcomes second_look(kind first, kind second) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
        } else {
          s.r[0] = look_at(s.x, first);
          s.r[1] = look_at(s.x, second);
        }
      },
      two_registers);
}

TEST(litmus_hint, what_the_lane_has_read_does_not_bind_it) {
  EXPECT_EQ(second_look(kind::load, kind::hint), all_but(2, {}));
  EXPECT_EQ(second_look(kind::hint, kind::hint), all_but(2, {}));
  EXPECT_EQ(second_look(kind::load, kind::load), all_but(2, {{1, 0}}));
}

TEST(litmus_hint, it_binds_nothing) {
  EXPECT_EQ(second_look(kind::hint, kind::load), all_but(2, {}));
}

template <class Store>
outcomes own_store(const Store& store) {
  return weak_outcomes(
      2,
      [&](litmus& s, int thread) {
        if (thread == 0) {
          store(s.x);
          s.r[0] = s.x.hint();
        } else {
          s.x.store(2, relaxed);
        }
      },
      [](const litmus& s) {
        return outcome{s.r[0], s.x.final()};
      });
}

TEST(litmus_hint, what_the_lane_has_stored_binds_it) {
  EXPECT_EQ(own_store([](cell& x) { x.store(1, relaxed); }), (outcomes{{1, 1}, {1, 2}, {2, 2}}));
  EXPECT_EQ(own_store([](cell& x) { x.exchange(1, relaxed); }), (outcomes{{1, 1}, {1, 2}, {2, 2}}));
}

outcomes message_before_a_fence(kind how, order fence) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.y.store(1, release);
        } else {
          s.r[0] = look_at(s.y, how);
          simt::fence(fence);
          s.r[1] = s.x.load(relaxed);
        }
      },
      two_registers);
}

TEST(litmus_hint, no_fence_makes_an_acquire_of_it) {
  EXPECT_EQ(message_before_a_fence(kind::hint, acquire), all_but(2, {}));
  EXPECT_EQ(message_before_a_fence(kind::load, acquire), all_but(2, {{1, 0}}));
}

/// A lane reads the flag, and another one of its warp takes the hint after a barrier.
outcomes message_through_a_member(order look) {
  return seen_by(
      {2, 2}, simt::memory_model::weak,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
          s.y.store(1, release);
        }
        if (thread == 2) s.r[0] = s.y.load(look);
        if (thread >= 2) simt::warp().sync();
        if (thread == 3) s.r[1] = s.x.hint();
      },
      two_registers);
}

TEST(litmus_hint, a_barrier_passes_on_what_its_members_have_acquired) {
  EXPECT_EQ(message_through_a_member(acquire), all_but(2, {{1, 0}}));
  EXPECT_EQ(message_through_a_member(relaxed), all_but(2, {}));
}

/// Whether the initial value is seen after the last of more stores than ordinary loads can read.
outcomes after_many_stores(kind how) {
  return weak_outcomes(
      2,
      [=](litmus& s, int thread) {
        if (thread == 0) {
          for (int i = 1; i <= 20; ++i) s.x.store(i, relaxed);
        } else {
          s.r[0] = s.x.load(relaxed) == 20;
          s.r[1] = look_at(s.x, how) != 0;
        }
      },
      two_registers);
}

TEST(litmus_hint, it_may_be_the_initial_value_however_many_stores_came_later) {
  EXPECT_EQ(after_many_stores(kind::hint), all_but(2, {}));
  EXPECT_EQ(after_many_stores(kind::load), all_but(2, {{1, 0}}));
}

TEST(litmus_hint, in_sequential_memory_it_is_the_newest) {
  const auto seen = seen_by(
      {2, 1}, simt::memory_model::sequential,
      [](litmus& s, int thread) {
        if (thread == 0) {
          s.x.store(1, relaxed);
        } else {
          s.r[0] = s.x.load(relaxed);
          s.r[1] = s.x.hint();
        }
      },
      two_registers);
  EXPECT_EQ(seen, all_but(2, {{1, 0}}));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
