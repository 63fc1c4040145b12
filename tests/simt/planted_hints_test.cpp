// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that is right if a hint is a relaxed load, and wrong if it may be older than what its lane
// has seen: weak memory must find that, and nothing once the lane looks at memory.
#include "planted.hpp"

#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using enum simt::order;

/// How a lane looks at a word.
enum class look {
  hint,              ///< the mistake
  hint_then_memory,  ///< what a hint says is confirmed by a read-modify-write
  hint_and_acquire,  ///< an acquire follows, so the next hint is of now
  load,
};

template <look How>
bool is_set(std::uint32_t& word) {
  const simt::atomic_ref in(word);
  if (How == look::load) return in.load(relaxed) != 0;
  if (How == look::hint_then_memory) {
    return simt::load_hint(word) != 0 && in.fetch_or(0, relaxed) != 0;
  }
  const bool set = simt::load_hint(word) != 0;
  if (How == look::hint_and_acquire) in.load(acquire);
  return set;
}

/// A lane waits until another one has set a flag.
template <look How>
struct wait_for_a_flag {
  alignas(8) std::uint32_t flag = 0;

  void lane(std::uint64_t rank) {
    if (rank == 0) {
      simt::atomic_ref(flag).store(1, release);
    } else {
      while (!is_set<How>(flag)) simt::backoff(1);
    }
  }
  bool is_sound() const { return true; }
};

/// A heap that was exhausted gets a unit back. A lane that has seen this must not get null.
template <look How>
struct null_of_an_exhausted_heap {
  alignas(8) std::uint32_t out = 1;
  bool wrong_null = false;

  void lane(std::uint64_t rank) {
    const simt::atomic_ref known(out);
    if (rank == 0) {
      known.store(0, relaxed);
    } else {
      const bool sure = known.load(relaxed) == 0;
      const bool null = is_set<How>(out);
      wrong_null = sure && null;
    }
  }
  bool is_sound() const { return !wrong_null; }
};

TEST(planted_hint, a_loop_that_waits_for_a_hint_is_found_in_weak_memory_alone) {
  expect<wait_for_a_flag<look::hint>>(sequential, false);
  expect<wait_for_a_flag<look::hint>>(weak, true);
}
TEST(planted_hint, a_loop_that_looks_at_memory_as_well_is_clean) {
  expect<wait_for_a_flag<look::load>>(weak, false);
  expect<wait_for_a_flag<look::hint_and_acquire>>(weak, false);
}
TEST(planted_hint, a_null_that_a_hint_decides_is_found_in_weak_memory_alone) {
  expect<null_of_an_exhausted_heap<look::hint>>(sequential, false);
  expect<null_of_an_exhausted_heap<look::hint>>(weak, true);
}
TEST(planted_hint, a_null_that_is_confirmed_is_clean) {
  expect<null_of_an_exhausted_heap<look::load>>(weak, false);
  expect<null_of_an_exhausted_heap<look::hint_then_memory>>(weak, false);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
