// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop that replays a trace, over an allocator that writes down its calls.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../../src/host/replay_pool.hpp"
#include "warpheap/host/replay/replay.hpp"

namespace warpheap::host {
namespace {

/// Hands out addresses one after the other, 1000 bytes apart, but none to requests of `refused`
/// bytes or of none. Each call takes `busy_ns` of the processor.
struct written_calls {
  std::vector<std::string> calls;
  std::int64_t refused = -1;
  std::uint64_t busy_ns = 0;

  void* allocate(std::size_t bytes, stream_id stream) {
    work();
    const bool is_given = bytes != 0 && static_cast<std::int64_t>(bytes) != refused;
    calls.push_back("give " + std::to_string(bytes) + " in " + text(stream));
    return is_given ? reinterpret_cast<void*>(next += 1000) : nullptr;
  }
  void deallocate(void* memory, std::size_t bytes, stream_id stream) {
    work();
    calls.push_back("take " + std::to_string(bytes) + " at " +
                    std::to_string(reinterpret_cast<address>(memory)) + " in " + text(stream));
  }
  replay_result replay(const warpheap_trace& trace, const replay_options& options = {}) {
    return host::replay(
        trace, options,
        [this](std::size_t bytes, stream_id stream) { return allocate(bytes, stream); },
        [this](void* memory, std::size_t bytes, stream_id stream) {
          deallocate(memory, bytes, stream);
        },
        [this](std::size_t event) { calls.push_back("look " + std::to_string(event)); });
  }

 private:
  static std::string text(stream_id stream) {
    return std::to_string(static_cast<std::uintptr_t>(stream));
  }
  void work() const {
    const std::uint64_t start = processor_nanoseconds();
    while (processor_nanoseconds() - start < busy_ns) {
    }
  }

  address next = 0;
};

using lines = std::vector<std::string>;
const std::vector<std::int64_t> two_and_one_left{100, 200, -1, 300, -3};

TEST(replay, makes_the_calls_in_order_and_frees_what_is_left) {
  written_calls made;
  const replay_result result =
      made.replay({two_and_one_left.data(), nullptr, two_and_one_left.size()});
  EXPECT_EQ(made.calls, (lines{"give 100 in 0", "look 0", "give 200 in 0", "look 1",
                               "take 100 at 1000 in 0", "look 2", "give 300 in 0", "look 3",
                               "take 300 at 3000 in 0", "look 4", "take 200 at 2000 in 0"}));
  EXPECT_EQ(result.failures, 0u);
  EXPECT_EQ(result.peak_bytes, 500u);
  EXPECT_EQ(result.span_bytes, 2300u);
  EXPECT_EQ(result.clock_overhead_ns, 0) << "nothing was timed";
}

TEST(replay, each_event_is_in_its_stream) {
  const std::vector<std::uint64_t> streams{7, 8, 9, 7, 8};
  written_calls made;
  made.replay({two_and_one_left.data(), streams.data(), two_and_one_left.size()});
  EXPECT_EQ(made.calls, (lines{"give 100 in 7", "look 0", "give 200 in 8", "look 1",
                               "take 100 at 1000 in 9", "look 2", "give 300 in 7", "look 3",
                               "take 300 at 3000 in 8", "look 4", "take 200 at 2000 in 0"}));
}

TEST(replay, one_stream_for_all_events_is_that_of_the_trace) {
  const std::vector<std::uint64_t> streams(2, 7);
  written_calls made;
  made.replay({two_and_one_left.data(), streams.data(), 2});
  EXPECT_EQ(made.calls, (lines{"give 100 in 7", "look 0", "give 200 in 7", "look 1",
                               "take 100 at 1000 in 0", "take 200 at 2000 in 0"}));
}

TEST(replay, a_request_that_fails_is_counted_and_never_freed) {
  const std::vector<std::int64_t> operations{100, 200, 0, -2, -3, 300};
  written_calls made;
  made.refused = 200;
  const replay_result result = made.replay({operations.data(), nullptr, operations.size()});
  EXPECT_EQ(made.calls, (lines{"give 100 in 0", "look 0", "give 200 in 0", "look 1", "give 0 in 0",
                               "look 2", "look 3", "look 4", "give 300 in 0", "look 5",
                               "take 100 at 1000 in 0", "take 300 at 2000 in 0"}));
  EXPECT_EQ(result.failures, 1u) << "a request of no bytes does not fail";
  EXPECT_EQ(result.peak_bytes, 400u);
  EXPECT_EQ(result.span_bytes, 1300u);
}

TEST(replay, ends_at_the_first_failure_if_told_so) {
  const std::vector<std::int64_t> operations{100, 0, 200, 300, 200};
  written_calls made;
  made.refused = 200;
  const replay_result result =
      made.replay({operations.data(), nullptr, operations.size()}, {nullptr, true});
  EXPECT_EQ(made.calls, (lines{"give 100 in 0", "look 0", "give 0 in 0", "look 1", "give 200 in 0",
                               "take 100 at 1000 in 0"}));
  EXPECT_EQ(result.failures, 1u);
  EXPECT_EQ(result.peak_bytes, 100u);
  EXPECT_EQ(result.span_bytes, 100u);
}

TEST(replay, an_empty_trace_makes_no_call) {
  written_calls made;
  const replay_result result = made.replay({nullptr, nullptr, 0});
  EXPECT_EQ(made.calls, lines{});
  EXPECT_EQ(result.span_bytes, 0u);
  EXPECT_EQ(result.peak_bytes, 0u);
}

TEST(replay, times_each_call_and_only_calls) {
  constexpr std::uint64_t busy = 2'000'000;
  const std::vector<std::int64_t> operations{100, 200, -1, -2};
  std::vector<std::uint32_t> latencies(operations.size(), 1);
  written_calls made;
  made.refused = 200;
  made.busy_ns = busy;
  const replay_result result =
      made.replay({operations.data(), nullptr, operations.size()}, {latencies.data()});
  // Half as long, because the clock is compared with another one for a moment only.
  for (const std::size_t call : {0u, 1u, 2u}) {
    EXPECT_GT(latencies[call], busy / 2) << call;
    EXPECT_LT(latencies[call], std::numeric_limits<std::uint32_t>::max()) << call;
  }
  EXPECT_EQ(latencies[3], 0u) << "what failed is not freed";
  EXPECT_GE(result.cpu_ns, 3 * busy);
  EXPECT_GE(result.wall_ns, 3 * busy);
  EXPECT_LT(result.cpu_ns, 100 * busy) << "of these calls alone";
  EXPECT_GT(result.clock_overhead_ns, 0);
  EXPECT_LT(result.clock_overhead_ns, 1e6);
}

// On a single processor, four threads may be through before the one that started them runs again:
// its clock would then say that they took no time.
TEST(replay, threads_are_timed_by_their_own_clocks) {
  cpu_set_t usual;
  ASSERT_EQ(sched_getaffinity(0, sizeof usual, &usual), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  constexpr std::uint64_t busy = 1'000'000;
  constexpr std::array<warpheap_trace, 4> traces{};
  for (int round = 0; round < 10; ++round) {
    std::uint64_t wall = 0;
    std::uint64_t failures = 0;
    replay_threads(traces, &wall, &failures, [](const warpheap_trace& /*empty*/) {
      const std::uint64_t start = processor_nanoseconds();
      while (processor_nanoseconds() - start < busy) {
      }
      return 1u;
    });
    EXPECT_EQ(failures, traces.size());
    EXPECT_GE(wall, traces.size() * busy);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof usual, &usual), 0);
}

}  // namespace
}  // namespace warpheap::host
