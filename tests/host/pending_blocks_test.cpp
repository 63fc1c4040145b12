// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that streams may still use, and the events that streams must wait for, without a pool.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "fake_events.hpp"
#include "mapped_bytes.hpp"
#include "warpheap/host/streams/pending_blocks.hpp"
#include "warpheap/host/streams/stream_fences.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t batch = 32;

extent block(std::size_t n, std::size_t bytes = 256) { return {0x10000 + 0x1000 * n, bytes}; }

class pending : public testing::Test {
 protected:
  ~pending() override {
    blocks.reset();
    EXPECT_EQ(events.live, 0) << "every event goes back";
  }

  void add(stream_id stream, std::size_t n, std::size_t bytes = 256) {
    blocks->add(stream, stream, block(n, bytes));
  }
  /// What a stream's own block of this size would be.
  extent take(stream_id stream, std::size_t bytes) { return blocks->take(stream, bytes, 65536, 1); }
  /// The numbers of the blocks that a call released, in their order.
  std::vector<std::size_t> numbers() {
    std::vector<std::size_t> found;
    for (const extent& one : released) found.push_back((one.base - 0x10000) / 0x1000);
    released.clear();
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<std::size_t> retire_happened() {
    blocks->retire_happened(release);
    return numbers();
  }

  using list = std::vector<std::size_t>;

  fake_events events;
  std::optional<pending_blocks> blocks{std::in_place, policy_options{256}, events};
  std::vector<extent> released;
  std::function<void(extent)> release = [this](extent one) { released.push_back(one); };
};

TEST_F(pending, are_counted_with_their_bytes) {
  add(one, 0, 256);
  add(two, 1, 1024);
  EXPECT_EQ(blocks->blocks(), 2u);
  EXPECT_EQ(blocks->bytes(), 1280u);
  EXPECT_TRUE(blocks->contains(block(0).base));
  EXPECT_FALSE(blocks->contains(block(2).base));
  EXPECT_EQ(take(one, 256), block(0));
  EXPECT_EQ(blocks->blocks(), 1u);
  EXPECT_EQ(blocks->bytes(), 1024u);
  EXPECT_FALSE(blocks->contains(block(0).base));
}

TEST_F(pending, a_stream_has_only_its_own_back_and_each_once) {
  add(one, 0);
  EXPECT_FALSE(take(two, 256));
  EXPECT_FALSE(blocks->others_than(one));
  EXPECT_TRUE(blocks->others_than(two));
  EXPECT_TRUE(take(one, 256));
  EXPECT_FALSE(take(one, 256));
  EXPECT_FALSE(blocks->others_than(two));
}

TEST_F(pending, of_two_alike_a_stream_has_each_back) {
  add(one, 0);
  add(one, 1);
  EXPECT_EQ(take(one, 256), block(1)) << "the newest first";
  EXPECT_EQ(take(one, 256), block(0));
}

TEST_F(pending, a_block_is_taken_only_if_it_fits_well_and_is_aligned) {
  add(one, 1, 512);
  EXPECT_FALSE(blocks->take(one, 768, 4096, 1)) << "too small";
  EXPECT_FALSE(blocks->take(one, 256, 511, 1)) << "too large";
  EXPECT_FALSE(blocks->take(one, 512, 512, 0x2000)) << "at an odd multiple of 0x1000";
  EXPECT_EQ(blocks->take(one, 512, 512, 0x1000), block(1, 512));
}

TEST_F(pending, blocks_that_were_taken_are_missing_from_their_batch_alone) {
  for (std::size_t n = 0; n < batch; ++n) add(one, n, 256 * (n + 1));
  ASSERT_EQ(events.recorded, 1);
  // The first, the last and two neighbours between.
  for (const std::size_t n : {0u, 15u, 16u, 31u}) EXPECT_TRUE(take(one, 256 * (n + 1))) << n;
  list left;
  for (std::size_t n = 0; n < batch; ++n) {
    if (n != 0 && n != 15 && n != 16 && n != 31) left.push_back(n);
  }
  EXPECT_EQ(retire_happened(), left);
  EXPECT_EQ(blocks->blocks(), 0u);
  EXPECT_EQ(blocks->bytes(), 0u);
}

TEST_F(pending, a_batch_retires_when_its_own_event_has_happened) {
  for (std::size_t n = 0; n < batch; ++n) {
    events.submit(one);
    add(one, n);
  }
  for (std::size_t n = batch; n < 2 * batch; ++n) add(two, n);
  const list first = retire_happened();
  EXPECT_EQ(first.size(), batch);
  EXPECT_EQ(first.front(), batch) << "the other stream has no work";
  EXPECT_EQ(events.live, 1);
  events.finish(one);
  EXPECT_EQ(retire_happened().size(), batch);
  EXPECT_EQ(events.live, 0);
}

TEST_F(pending, all_batches_whose_events_have_happened_retire_at_once) {
  for (std::size_t n = 0; n < 3 * batch; ++n) {
    events.submit(one);
    add(one, n);
    if (n + 1 == 2 * batch) events.finish(one);
  }
  EXPECT_EQ(retire_happened().size(), 2 * batch);
}

TEST_F(pending, the_batch_of_a_silent_stream_is_closed_by_the_32nd_look) {
  add(one, 0);
  for (int look = 1; look < 32; ++look) {
    EXPECT_EQ(retire_happened(), list{});
    EXPECT_EQ(events.recorded, 0) << look;
  }
  EXPECT_EQ(retire_happened(), list{0});
  EXPECT_EQ(events.recorded, 1);
  // The next batch is young again.
  add(one, 1);
  EXPECT_EQ(events.recorded, 1);
}

TEST_F(pending, what_a_thread_frees_in_its_own_stream_has_an_event_at_once) {
  blocks->add(one, stream_id::per_thread, block(0));
  EXPECT_EQ(events.recorded, 1);
  EXPECT_EQ(retire_happened(), list{0});
}

TEST_F(pending, all_retire_behind_one_event_of_each_stream) {
  for (std::size_t n = 0; n <= batch; ++n) add(one, n);
  add(two, 40);
  add(three, 41);
  EXPECT_TRUE(take(three, 256)) << "nothing of this stream is left";
  std::vector<stream_id> fenced;
  blocks->retire_all(release, [&](stream_id key, event_handle event) {
    fenced.push_back(key);
    events.recycle(event);
  });
  std::sort(fenced.begin(), fenced.end());
  EXPECT_EQ(fenced, (std::vector<stream_id>{one, two}));
  EXPECT_EQ(numbers().size(), batch + 2);
  EXPECT_EQ(blocks->blocks(), 0u);
  EXPECT_EQ(events.live, 0);
  // The next batch is a new one.
  add(one, 50);
  EXPECT_EQ(events.recorded, 3);
  EXPECT_EQ(take(one, 256), block(50));
}

// Other streams wait for this event alone.
TEST_F(pending, the_event_behind_which_all_retire_comes_after_the_last_free) {
  for (std::size_t n = 0; n <= 2 * batch; ++n) {
    events.submit(one);
    add(one, n);
  }
  int fenced = 0;
  blocks->retire_all(release, [&](stream_id, event_handle event) {
    ++fenced;
    events.finished[one] = 2 * batch;
    EXPECT_FALSE(events.happened(event)) << "two batches are done, and one block is in use";
    events.finish(one);
    EXPECT_TRUE(events.happened(event));
    events.recycle(event);
  });
  EXPECT_EQ(fenced, 1);
  EXPECT_EQ(numbers().size(), 2 * batch + 1);
}

TEST_F(pending, a_batch_of_which_nothing_is_left_keeps_its_event_until_it_is_asked_for) {
  for (std::size_t n = 0; n < batch; ++n) add(one, n);
  for (std::size_t n = 0; n < batch; ++n) EXPECT_TRUE(take(one, 256));
  EXPECT_EQ(events.live, 1);
  int fenced = 0;
  blocks->retire_all(release, [&](stream_id, event_handle event) {
    ++fenced;
    events.recycle(event);
  });
  EXPECT_EQ(fenced, 1);
  EXPECT_EQ(events.live, 0);
}

TEST_F(pending, the_blocks_of_one_stream_retire_without_the_others) {
  for (std::size_t n = 0; n <= batch; ++n) add(one, n);
  add(two, 40);
  blocks->retire_stream(three, release);
  EXPECT_EQ(numbers(), list{});
  blocks->retire_stream(one, release);
  EXPECT_EQ(numbers().size(), batch + 1) << "a closed batch and an open one";
  EXPECT_EQ(events.live, 0);
  EXPECT_EQ(blocks->blocks(), 1u);
  EXPECT_FALSE(take(one, 256));
  // A full batch from the start closes, and no sooner.
  for (std::size_t n = 0; n < batch; ++n) {
    EXPECT_EQ(events.recorded, 1) << n;
    add(one, n);
  }
  EXPECT_EQ(events.recorded, 2);
}

TEST_F(pending, batches_that_retired_leave_no_memory_behind) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer maps memory of its own";
  const auto come_and_go = [&](int batches) {
    for (int n = 0; n < batches; ++n) {
      blocks->add(one, stream_id::per_thread, block(0));
      blocks->retire_happened([](extent) {});
    }
  };
  come_and_go(1000);
  const std::size_t before = mapped_bytes();
  come_and_go(200'000);
  EXPECT_LT(mapped_bytes(), before + (1 << 20)) << "5 bytes a batch";
}

TEST_F(pending, batches_that_were_taken_back_leave_no_memory_behind) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer maps memory of its own";
  // So many streams that they are forgotten when all is retired.
  constexpr std::uintptr_t streams = 100;
  const auto come_and_go = [&](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (std::uintptr_t n = 1; n <= streams; ++n) {
        add(stream_id{0x1000 * n}, n);
        EXPECT_TRUE(take(stream_id{0x1000 * n}, 256));
      }
      blocks->retire_all(release, [](stream_id, event_handle) { FAIL() << "nothing pends"; });
    }
  };
  come_and_go(10);
  const std::size_t before = mapped_bytes();
  come_and_go(1500);
  EXPECT_LT(mapped_bytes(), before + (1 << 20)) << "7 bytes a batch";
}

TEST_F(pending, streams_that_are_gone_leave_no_memory_behind) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer maps memory of its own";
  const std::size_t before = mallinfo2().uordblks;
  for (std::uintptr_t n = 1; n <= 2000; ++n) {
    add(stream_id{0x1000 * n}, 0);
    blocks->retire_all([](extent) {},
                       [&](stream_id, event_handle event) { events.recycle(event); });
  }
  EXPECT_LT(mallinfo2().uordblks, before + (std::size_t{4} << 20)) << "2 KiB a stream";
}

class fences : public testing::Test {
 protected:
  ~fences() override {
    all.reset();
    EXPECT_EQ(events.live, 0) << "every event goes back";
  }

  // The stream's work so far is to be waited for.
  void raise(stream_id stream) {
    events.submit(stream);
    all->raise(stream, events.record(stream));
  }
  bool waits(stream_id user, stream_id other) {
    return events.waited[{user, other}] == events.submitted[other];
  }

  fake_events events;
  std::optional<stream_fences> all{std::in_place, events};
};

TEST_F(fences, every_other_stream_waits_once) {
  EXPECT_TRUE(all->empty());
  raise(one);
  EXPECT_FALSE(all->empty());
  all->pass(one, one);
  EXPECT_EQ(events.waited.size(), 0u) << "not for itself";
  all->pass(two, two);
  EXPECT_TRUE(waits(two, one));
  const int calls = events.calls;
  all->pass(two, two);
  EXPECT_EQ(events.calls, calls + 1) << "it asks whether the event has happened, and no more";
  raise(three);
  all->pass(two, two);
  EXPECT_TRUE(waits(two, three));
  all->pass(three, three);
  EXPECT_TRUE(waits(three, one));
  EXPECT_EQ(events.blocked, 0);
}

TEST_F(fences, a_later_event_of_a_stream_stands_in_for_its_earlier_one) {
  raise(one);
  all->pass(two, two);
  raise(one);
  EXPECT_EQ(events.live, 1);
  EXPECT_FALSE(waits(two, one));
  all->pass(two, two);
  EXPECT_TRUE(waits(two, one));
}

TEST_F(fences, what_has_happened_is_not_waited_for) {
  raise(one);
  raise(two);
  events.finish(one);
  all->pass(three, three);
  EXPECT_FALSE(waits(three, one));
  EXPECT_TRUE(waits(three, two));
  EXPECT_EQ(events.live, 1);
  events.finish(two);
  all->pass(three, three);
  EXPECT_TRUE(all->empty());
  EXPECT_EQ(events.live, 0);
  // A stream that waited before waits for what comes now.
  raise(two);
  all->pass(three, three);
  EXPECT_TRUE(waits(three, two));
}

TEST_F(fences, no_stream_waits_here_and_now) {
  raise(one);
  raise(two);
  all->pass(stream_id::none, stream_id::none);
  EXPECT_EQ(events.blocked, 2);
  EXPECT_TRUE(events.waited.empty());
}

TEST_F(fences, all_are_waited_for_and_gone) {
  raise(one);
  raise(two);
  all->wait_for_all();
  EXPECT_EQ(events.blocked, 2);
  EXPECT_TRUE(all->empty());
  EXPECT_EQ(events.live, 0);
}

TEST_F(fences, streams_that_are_gone_leave_no_memory_behind) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "another allocator";
  const std::size_t before = mallinfo2().uordblks;
  for (std::uintptr_t n = 1; n <= 50'000; ++n) {
    raise(one);
    all->pass(stream_id{0x1000 * n}, stream_id::none);
    all->pass(two, two);
  }
  EXPECT_LT(mallinfo2().uordblks, before + (std::size_t{1} << 20)) << "20 bytes a stream";
}

TEST_F(fences, a_wait_ends_at_its_deadline_and_keeps_what_has_not_happened) {
  const auto soon = std::chrono::steady_clock::now();
  raise(one);
  EXPECT_TRUE(all->wait_until(soon));
  EXPECT_EQ(events.last_deadline, soon);
  EXPECT_TRUE(all->empty());
  raise(one);
  raise(two);
  events.finish(one);
  events.stuck = true;
  EXPECT_FALSE(all->wait_until(soon));
  EXPECT_FALSE(all->empty());
  EXPECT_EQ(events.live, 1);
}

}  // namespace
}  // namespace warpheap::host
