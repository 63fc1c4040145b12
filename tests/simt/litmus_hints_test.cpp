// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More of litmus_test.cpp: how old hints may be, in the explorer's weak memory and on a GPU. Each
// test has the same program with a relaxed load, or with an order that binds the hint, where the
// old value must not be seen.
#include "litmus.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

enum class kind { hint, load };

WARPHEAP_DEVICE inline int look_at(cell& word, kind how) {
  return how == kind::hint ? word.hint() : word.load(relaxed);
}

struct message : two_blocks {
  order look;
  kind how;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.store(1, release);
    } else {
      s.r[0] = s.y.load(look);
      s.r[1] = look_at(s.x, how);
    }
  }
};

TEST(litmus_hint, an_acquire_binds_it_unless_it_is_relaxed_on_cuda) {
  constexpr order to_write = simt::acquire_to_write;
  expect_outcomes("a relaxed load, a hint", message{{}, relaxed, kind::hint}, in_order, too_old);
  expect_outcomes("an acquire, a hint", message{{}, acquire, kind::hint}, in_order, none);
  expect_outcomes("acquire_to_write, a hint", message{{}, to_write, kind::hint}, in_order, too_old);
  // On CUDA it is an acquire for those who write first, and no promise to those who read.
  expect_outcomes("acquire_to_write, a relaxed load", message{{}, to_write, kind::load}, in_order,
                  WARPHEAP_CUDA_MODEL ? too_old : none);
}

/// The flag is read by a read-modify-write.
struct message_by_add : two_blocks {
  order look;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.add(1, release);
    } else {
      s.r[0] = s.y.add(0, look);
      s.r[1] = s.x.hint();
    }
  }
};

TEST(litmus_hint, a_read_modify_write_that_acquires_binds_it) {
  expect_outcomes("an addition that acquires, a hint", message_by_add{{}, acquire}, in_order, none);
  expect_outcomes("a relaxed addition, a hint", message_by_add{{}, relaxed}, in_order, too_old);
}

struct second_look : two_blocks {
  kind first;
  kind second;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
    } else {
      s.r[0] = look_at(s.x, first);
      s.r[1] = look_at(s.x, second);
    }
  }
};

TEST(litmus_hint, what_the_lane_has_read_does_not_bind_it) {
  expect_outcomes("a load, a hint", second_look{{}, kind::load, kind::hint}, in_order, too_old);
  expect_outcomes("a hint, a hint", second_look{{}, kind::hint, kind::hint}, in_order, too_old);
  expect_outcomes("a load, a load", second_look{{}, kind::load, kind::load}, in_order, none);
}

TEST(litmus_hint, it_binds_nothing) {
  expect_outcomes("a hint, a load", second_look{{}, kind::hint, kind::load}, in_order, too_old);
}

struct own_store : two_blocks {
  bool by_exchange;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 1) {
      s.x.store(2, relaxed);
      return;
    }
    if (by_exchange) {
      s.x.exchange(1, relaxed);
    } else {
      s.x.store(1, relaxed);
    }
    s.r[0] = s.x.hint();
  }
  static outcome observed(const litmus& s) { return {s.r[0], s.x.final()}; }
};

TEST(litmus_hint, what_the_lane_has_stored_binds_it) {
  const outcomes own_or_later{{1, 1}, {1, 2}, {2, 2}};
  expect_outcomes("a store, a hint", own_store{{}, false}, own_or_later, none);
  expect_outcomes("an exchange, a hint", own_store{{}, true}, own_or_later, none);
}

struct message_before_a_fence : two_blocks {
  kind flag;
  kind how;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.store(1, release);
    } else {
      s.r[0] = look_at(s.y, flag);
      simt::fence(acquire);
      s.r[1] = look_at(s.x, how);
    }
  }
};

TEST(litmus_hint, no_fence_makes_an_acquire_of_it) {
  using fenced = message_before_a_fence;
  expect_outcomes("a hint, a fence, a load", fenced{{}, kind::hint, kind::load}, in_order, too_old);
  expect_outcomes("a load, a fence, a load", fenced{{}, kind::load, kind::load}, in_order, none);
}

TEST(litmus_hint, an_acquire_fence_binds_it) {
  using fenced = message_before_a_fence;
  expect_outcomes("a load, a fence, a hint", fenced{{}, kind::load, kind::hint}, in_order, none);
}

/// A lane reads the flag, and another one of its warp takes the hint after a barrier.
struct message_through_a_member : two_blocks {
  static constexpr std::uint32_t lanes = 2;
  order look;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.store(1, release);
    }
    if (thread == 2) s.r[0] = s.y.load(look);
    if (thread >= 2) simt::warp().sync();
    if (thread == 3) s.r[1] = s.x.hint();
  }
};

TEST(litmus_hint, a_barrier_passes_on_what_its_members_have_acquired) {
  using through = message_through_a_member;
  expect_outcomes("an acquire, a barrier, a hint", through{{}, acquire}, in_order, none);
  expect_outcomes("a relaxed load, a barrier, a hint", through{{}, relaxed}, in_order, too_old);
}

/// Whether the initial value is seen after the last of more stores than ordinary loads can read.
struct after_many_stores : two_blocks {
  kind how;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      for (int i = 1; i <= 20; ++i) {
        s.x.store(i, relaxed);
        keep_apart();
      }
    } else {
      s.r[0] = s.x.load(relaxed) == 20;
      s.r[1] = look_at(s.x, how) != 0;
    }
  }
};

TEST(litmus_hint, it_may_be_the_initial_value_however_many_stores_came_later) {
  expect_outcomes("a load, a hint", after_many_stores{{}, kind::hint}, in_order, too_old);
  expect_outcomes("a load, a load", after_many_stores{{}, kind::load}, in_order, none);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
