// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explorer's weak memory against litmus tests whose outcomes are published: J. Alglave et al.,
// "Herding Cats", TOPLAS 2014 (names and shapes); O. Lahav et al., PLDI 2017 (what C++ allows with
// sequentially consistent accesses and fences). Each test compares the set of outcomes that were
// seen with the set that is allowed, so a forbidden one fails it, and one that is never seen, too.
// Load buffering (LB), which C++ allows, is left out by the explorer, and LB's test says so. On a
// GPU, which need not show all that is allowed, only a forbidden outcome fails.
#include "litmus.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

// Message passing: the flag y is seen (r0 = 1), and the message x is not (r1 = 0).

struct message_passing : two_blocks {
  order publish;
  order look;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.store(1, publish);
    } else {
      s.r[0] = s.y.load(look);
      s.r[1] = s.x.load(relaxed);
    }
  }
};

TEST(litmus, message_passing_needs_both_orders) {
  using passing = message_passing;
  expect_outcomes("both relaxed", passing{{}, relaxed, relaxed}, in_order, too_old);
  expect_outcomes("a release alone", passing{{}, release, relaxed}, in_order, too_old);
  expect_outcomes("an acquire alone", passing{{}, relaxed, acquire}, in_order, too_old);
  expect_outcomes("both orders", passing{{}, release, acquire}, in_order, none);
  expect_outcomes("both sequential", passing{{}, seq_cst, seq_cst}, in_order, none);
}

struct message_passing_with_fences : two_blocks {
  order publish;
  order look;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      simt::fence(publish);
      s.y.store(1, relaxed);
    } else {
      s.r[0] = s.y.load(relaxed);
      simt::fence(look);
      s.r[1] = s.x.load(relaxed);
    }
  }
};

TEST(litmus, message_passing_needs_both_fences) {
  using passing = message_passing_with_fences;
  expect_outcomes("a release alone", passing{{}, release, relaxed}, in_order, too_old);
  expect_outcomes("an acquire alone", passing{{}, relaxed, acquire}, in_order, too_old);
  expect_outcomes("both fences", passing{{}, release, acquire}, in_order, none);
  expect_outcomes("both acq_rel", passing{{}, acq_rel, acq_rel}, in_order, none);
  expect_outcomes("both sequential", passing{{}, seq_cst, seq_cst}, in_order, none);
  expect_outcomes("both reversed", passing{{}, acquire, release}, in_order, too_old);
}

/// A third thread changes the flag before it is seen as 2.
struct release_sequence : two_blocks {
  static constexpr std::uint32_t blocks = 3;
  bool by_add;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
      s.y.store(1, release);
    } else if (thread == 1) {
      if (by_add) {
        s.y.add(1, relaxed);
      } else if (s.y.load(relaxed) == 1) {
        s.y.store(2, relaxed);
      }
    } else {
      s.r[0] = s.y.load(acquire) == 2;
      s.r[1] = s.x.load(relaxed);
    }
  }
};

TEST(litmus, a_release_sequence_goes_through_read_modify_writes_only) {
  expect_outcomes("an addition", release_sequence{{}, true}, in_order, none);
  expect_outcomes("a load and a store", release_sequence{{}, false}, in_order, too_old);
}

// Store buffering: neither thread sees the other's store.

const outcomes one_seen = all_but(2, {{0, 0}});
const outcomes none_seen{{0, 0}};

struct store_buffering : two_blocks {
  order store;
  order fence;
  order load;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    (thread == 0 ? s.x : s.y).store(1, store);
    simt::fence(fence);
    keep(s.r, thread, (thread == 0 ? s.y : s.x).load(load));
  }
};

TEST(litmus, store_buffering_needs_sequential_consistency) {
  using buffering = store_buffering;
  const auto weak = [](const char* what, const buffering& how) {
    expect_outcomes(what, how, one_seen, none_seen);
  };
  weak("all relaxed", {{}, relaxed, relaxed, relaxed});
  weak("release and acquire", {{}, release, relaxed, acquire});
  weak("an acq_rel fence", {{}, release, acq_rel, acquire});
  weak("a sequential store alone", {{}, seq_cst, relaxed, acquire});
  weak("a sequential load alone", {{}, release, relaxed, seq_cst});
  expect_outcomes("both sequential", buffering{{}, seq_cst, relaxed, seq_cst}, one_seen, none);
  expect_outcomes("a sequential fence", buffering{{}, relaxed, seq_cst, relaxed}, one_seen, none);
}

struct store_buffering_by_exchange : two_blocks {
  order exchange;
  order load;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    (thread == 0 ? s.x : s.y).exchange(1, exchange);
    keep(s.r, thread, (thread == 0 ? s.y : s.x).load(load));
  }
};

TEST(litmus, an_exchange_is_not_a_fence) {
  using buffering = store_buffering_by_exchange;
  expect_outcomes("acq_rel", buffering{{}, acq_rel, acquire}, one_seen, none_seen);
  expect_outcomes("sequential", buffering{{}, seq_cst, seq_cst}, one_seen, none);
}

// Load buffering: each thread sees what the other one stores after its own load. C++ and PTX allow
// that for relaxed accesses; the explorer does not show it.

struct load_buffering : two_blocks {
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    const int seen = (thread == 0 ? s.x : s.y).load(relaxed);
    (thread == 0 ? s.y : s.x).store(1, relaxed);
    keep(s.r, thread, seen);
  }
};

TEST(litmus, load_buffering_is_left_out) {
  expect_outcomes("relaxed", load_buffering{}, all_but(2, {{1, 1}}),
                  WARPHEAP_CUDA_MODEL ? outcomes{{1, 1}} : none);
}

// Independent reads of independent writes: two readers see two stores in opposite orders.

struct independent_reads : two_blocks {
  static constexpr std::uint32_t blocks = 4;
  order store;
  order load;
  order fence;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread < 2) {
      (thread == 0 ? s.x : s.y).store(1, store);
      return;
    }
    const int first = (thread == 2 ? s.x : s.y).load(load);
    simt::fence(fence);
    const int second = (thread == 2 ? s.y : s.x).load(load);
    keep(s.r, 2 * thread - 4, first);
    keep(s.r, 2 * thread - 3, second);
  }
  static outcome observed(const litmus& s) { return four_registers(s); }
};

TEST(litmus, independent_reads_need_sequential_consistency) {
  using reads = independent_reads;
  const outcomes opposite{{1, 0, 1, 0}};
  const outcomes agreed = all_but(4, opposite);
  expect_outcomes("relaxed", reads{{}, relaxed, relaxed, relaxed}, agreed, opposite);
  expect_outcomes("acquires", reads{{}, release, acquire, relaxed}, agreed, opposite);
  expect_outcomes("acq_rel fences", reads{{}, release, acquire, acq_rel}, agreed, opposite);
  expect_outcomes("sequential loads", reads{{}, release, seq_cst, relaxed}, agreed, opposite);
  expect_outcomes("all sequential", reads{{}, seq_cst, seq_cst, relaxed}, agreed, none);
  expect_outcomes("sequential fences", reads{{}, relaxed, relaxed, seq_cst}, agreed, none);
}

/// Write to read causality: the second thread passes on what it has seen.
struct write_to_read : two_blocks {
  static constexpr std::uint32_t blocks = 3;
  order publish;
  order look;
  template <class State>
  WARPHEAP_DEVICE void lane(State& s, int thread) const {
    if (thread == 0) {
      s.x.store(1, relaxed);
    } else if (thread == 1) {
      s.r[0] = s.x.load(relaxed);
      s.y.store(1, publish);
    } else {
      s.r[1] = s.y.load(look);
      s.r[2] = s.x.load(relaxed);
    }
  }
  static outcome observed(const litmus& s) { return {s.r[0], s.r[1], s.r[2]}; }
};

TEST(litmus, what_was_seen_is_published_as_well) {
  const outcomes lost{{1, 1, 0}};
  expect_outcomes("acquire alone", write_to_read{{}, relaxed, acquire}, all_but(3, lost), lost);
  expect_outcomes("both orders", write_to_read{{}, release, acquire}, all_but(3, lost), none);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
