// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface as a caller sees it, through the shared library.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "warpheap/host/c/pool.h"
#include "warpheap/host/c/replay.h"
#include "warpheap/host/c/torch.h"

namespace {

warpheap_pool* make(const char* policy, warpheap_pool_options options = {}) {
  warpheap_pool* pool = nullptr;
  EXPECT_EQ(warpheap_pool_create(policy, "reserved", 0, &options, &pool), WARPHEAP_OK)
      << warpheap_last_error();
  return pool;
}

TEST(c_api, a_block_comes_and_goes) {
  warpheap_pool* pool = make("tlsf");
  void* memory = nullptr;
  ASSERT_EQ(warpheap_pool_allocate(pool, 1000, 256, 0, &memory), WARPHEAP_OK);
  EXPECT_EQ(warpheap_pool_usable_bytes(pool, memory), 1024u);
  size_t taken = 0;
  EXPECT_EQ(warpheap_pool_truncate(pool, memory, 500, &taken), WARPHEAP_OK);
  EXPECT_EQ(taken, 512u);
  EXPECT_EQ(warpheap_pool_deallocate(pool, memory, 0), WARPHEAP_OK);
  EXPECT_EQ(warpheap_pool_check(pool), WARPHEAP_OK);
  warpheap_pool_stats stats{};
  warpheap_pool_get_stats(pool, &stats);
  EXPECT_EQ(stats.allocations, 1u);
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.regions, 1u);
  EXPECT_EQ(warpheap_pool_trim(pool, 0), stats.reserved_bytes);
  warpheap_pool_destroy(pool);
}

TEST(c_api, quick_calls_do_what_the_others_do_or_nothing) {
  warpheap_pool* pool = make("tlsf", {0, 1 << 20, 0, 0, 0, 0});
  void* memory = nullptr;
  EXPECT_EQ(warpheap_pool_allocate_quickly(nullptr, 1000, 256, 0), nullptr);
  EXPECT_EQ(warpheap_pool_deallocate_quickly(nullptr, &memory, 0), 0);
  EXPECT_EQ(warpheap_pool_deallocate_quickly(pool, nullptr, 0), 0);
  EXPECT_EQ(warpheap_pool_allocate_quickly(pool, 1000, 256, 0), nullptr) << "a new pool is empty";
  ASSERT_EQ(warpheap_pool_allocate(pool, 1000, 256, 0, &memory), WARPHEAP_OK);
  EXPECT_EQ(warpheap_pool_deallocate_quickly(pool, memory, 0x100), 0) << "in another stream";
  EXPECT_EQ(warpheap_pool_usable_bytes(pool, memory), 1024u);
  EXPECT_EQ(warpheap_pool_deallocate_quickly(pool, memory, 0), 1);
  EXPECT_EQ(warpheap_pool_deallocate_quickly(pool, memory, 0), 0) << "freed twice";
  EXPECT_EQ(warpheap_pool_deallocate(pool, memory, 0), WARPHEAP_INVALID_ARGUMENT);

  EXPECT_EQ(warpheap_pool_allocate_quickly(pool, 1000, 256, 0), memory);
  for (const size_t bytes : {size_t{0}, size_t{2} << 20, ~size_t{0}}) {
    EXPECT_EQ(warpheap_pool_allocate_quickly(pool, bytes, 256, 0), nullptr);
  }
  EXPECT_EQ(warpheap_pool_allocate_quickly(pool, 1000, 3, 0), nullptr);
  warpheap_pool_stats stats{};
  warpheap_pool_get_stats(pool, &stats);
  EXPECT_EQ(stats.allocations, 2u);
  EXPECT_EQ(stats.deallocations, 1u);
  EXPECT_EQ(stats.failures, 0u) << "a caller that is quick has not given up";
  EXPECT_EQ(stats.bytes_in_use, 1024u);
  EXPECT_EQ(warpheap_pool_check(pool), WARPHEAP_OK);
  warpheap_pool_destroy(pool);
}

TEST(c_api, threads_take_the_parts_of_a_pool_in_turn) {
  warpheap_pool_options options{};
  options.parts = 3;
  for (const char* policy : {"tlsf", "binary_buddy", "best_fit"}) {
    warpheap_pool* pool = make(policy, options);
    std::vector<void*> blocks(6);
    for (void*& block : blocks) {
      std::thread([&] {
        EXPECT_EQ(warpheap_pool_allocate(pool, 1000, 256, 0, &block), WARPHEAP_OK);
      }).join();
    }
    warpheap_pool_stats stats{};
    warpheap_pool_get_stats(pool, &stats);
    EXPECT_EQ(stats.regions, 3u);
    for (void* block : blocks) {
      EXPECT_EQ(warpheap_pool_deallocate(pool, block, 0), WARPHEAP_OK);
      EXPECT_EQ(warpheap_pool_deallocate(pool, block, 0), WARPHEAP_INVALID_ARGUMENT);
    }
    EXPECT_EQ(warpheap_pool_check(pool), WARPHEAP_OK);
    warpheap_pool_destroy(pool);
  }
  warpheap_pool* pool = nullptr;
  options.parts = 1025;
  EXPECT_EQ(warpheap_pool_create("tlsf", "reserved", 0, &options, &pool),
            WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("1025 parts"), std::string::npos);
}

TEST(c_api, errors_are_told_and_change_no_result) {
  warpheap_pool* pool = nullptr;
  EXPECT_EQ(warpheap_pool_create("nonsense", "host", 0, nullptr, &pool), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(pool, nullptr);
  EXPECT_NE(std::string(warpheap_last_error()).find("'nonsense'"), std::string::npos);
  EXPECT_EQ(warpheap_pool_create("tlsf", "nowhere", 0, nullptr, &pool), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("'nowhere'"), std::string::npos);

  pool = make("best_fit", {0, 1 << 20, 0, 0, 0, 0});
  int mark = 0;
  void* memory = &mark;
  EXPECT_EQ(warpheap_pool_allocate(pool, 2 << 20, 256, 0, &memory), WARPHEAP_OUT_OF_MEMORY);
  EXPECT_EQ(warpheap_pool_allocate(pool, 1, 3, 0, &memory), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(memory, &mark);
  EXPECT_EQ(warpheap_pool_deallocate(pool, &mark, 0), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(warpheap_pool_allocate(pool, 0, 256, 0, &memory), WARPHEAP_OK);
  EXPECT_EQ(memory, nullptr);
  warpheap_pool_destroy(pool);
}

TEST(c_api, every_option_reaches_the_pool) {
  using options = warpheap_pool_options;
  const auto create = [](size_t options::*option, size_t value) {
    options given{};
    given.limit_bytes = 1 << 20;
    given.*option = value;
    warpheap_pool* pool = nullptr;
    const warpheap_status status = warpheap_pool_create("tlsf", "reserved", 0, &given, &pool);
    warpheap_pool_destroy(pool);
    return status;
  };
  EXPECT_EQ(create(&options::initial_bytes, 2 << 20), WARPHEAP_INVALID_ARGUMENT) << "the limit";
  EXPECT_EQ(create(&options::granule_bytes, 100), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(create(&options::spare_percent, 1'000'001), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("1000001 percent"), std::string::npos);
  EXPECT_EQ(create(&options::spare_percent, 1'000'000), WARPHEAP_OK);

  warpheap_pool* pool = make("tlsf", {3 << 20, 9 << 20, 5 << 20, 4096, 0, 0});
  const auto held = [&] {
    warpheap_pool_stats stats{};
    warpheap_pool_get_stats(pool, &stats);
    return stats.reserved_bytes;
  };
  EXPECT_EQ(held(), 3u << 20);
  void* memory = nullptr;
  EXPECT_EQ(warpheap_pool_allocate(pool, 3 << 20, 1, 0, &memory), WARPHEAP_OK);
  EXPECT_EQ(warpheap_pool_allocate(pool, 1, 1, 0, &memory), WARPHEAP_OK);
  EXPECT_EQ(held(), 8u << 20) << "one region more";
  EXPECT_EQ(warpheap_pool_usable_bytes(pool, memory), 4096u);
  EXPECT_EQ(warpheap_pool_allocate(pool, 6 << 20, 1, 0, &memory), WARPHEAP_OUT_OF_MEMORY);
  warpheap_pool_destroy(pool);
}

TEST(c_api, every_name_in_the_list_is_a_pool) {
  std::string names = warpheap_pool_names();
  int pools = 0;
  for (size_t at = 0; at < names.size(); ++pools) {
    const size_t end = std::min(names.find(' ', at), names.size());
    const std::string name = names.substr(at, end - at);
    at = end + 1;
    if (name.rfind("cuda_", 0) == 0) continue;  // the driver's allocators need a driver
    warpheap_pool_destroy(make(name.c_str()));
  }
  EXPECT_GE(pools, 18);
}

TEST(c_api, a_trace_is_replayed) {
  warpheap_pool* pool = make("tlsf");
  const std::vector<int64_t> operations{1000, 2000, -1, 500, -2, 0};
  const warpheap_trace trace{operations.data(), nullptr, operations.size()};
  std::vector<uint32_t> latencies(operations.size(), 0);
  warpheap_replay_result result{};
  ASSERT_EQ(warpheap_replay(pool, &trace, 0, latencies.data(), &result), WARPHEAP_OK);
  EXPECT_EQ(result.failures, 0u);
  EXPECT_EQ(result.peak_bytes, 3000u);
  EXPECT_EQ(result.span_bytes, 1024u + 2000u);
  EXPECT_GT(latencies[0], 0u);
  EXPECT_GT(result.wall_ns, 0u);
  EXPECT_GT(result.cpu_ns, 0u);
  warpheap_pool_stats stats{};
  warpheap_pool_get_stats(pool, &stats);
  EXPECT_EQ(stats.blocks, 0u) << "what the trace leaves is freed";

  const std::vector<int64_t> wrong{1000, -2};
  const warpheap_trace bad{wrong.data(), nullptr, wrong.size()};
  EXPECT_EQ(warpheap_replay(pool, &bad, 0, nullptr, &result), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("event 1"), std::string::npos);
  const std::vector<int64_t> twice{1000, -1, 500, -1};
  const warpheap_trace freed_twice{twice.data(), nullptr, twice.size()};
  EXPECT_EQ(warpheap_replay(pool, &freed_twice, 0, nullptr, &result), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("event 3"), std::string::npos);
  warpheap_pool_destroy(pool);
}

TEST(c_api, a_replay_uses_the_stream_of_each_event) {
  // What is left at the end is freed in stream 0.
  const std::vector<int64_t> operations{1000, 1000, 1000, -1, -2, -3};
  const auto pending_after = [&](const std::vector<uint64_t>& streams) {
    warpheap_pool* pool = make("tlsf");
    const warpheap_trace trace{operations.data(), streams.data(), operations.size()};
    warpheap_replay_result result{};
    EXPECT_EQ(warpheap_replay(pool, &trace, 0, nullptr, &result), WARPHEAP_OK);
    EXPECT_EQ(result.span_bytes, 3048u);
    warpheap_pool_stats stats{};
    warpheap_pool_get_stats(pool, &stats);
    warpheap_pool_destroy(pool);
    return stats.pending_blocks;
  };
  EXPECT_EQ(pending_after({7, 7, 7, 7, 7, 7}), 0u) << "the stream owns the pool";
  EXPECT_GT(pending_after({7, 7, 9, 7, 7, 7}), 0u);
}

TEST(c_api, a_replay_stops_at_the_first_failure_if_told_so) {
  warpheap_pool* pool = make("tlsf", {0, 1 << 16, 0, 0, 0, 0});
  const std::vector<int64_t> operations{60000, 60000, 60000, -1};
  const warpheap_trace trace{operations.data(), nullptr, operations.size()};
  warpheap_replay_result result{};
  ASSERT_EQ(warpheap_replay(pool, &trace, 0, nullptr, &result), WARPHEAP_OK);
  EXPECT_EQ(result.failures, 2u);
  ASSERT_EQ(warpheap_replay(pool, &trace, 1, nullptr, &result), WARPHEAP_OK);
  EXPECT_EQ(result.failures, 1u);
  warpheap_pool_destroy(pool);
}

TEST(c_api, a_timeline_shows_the_holes) {
  warpheap_pool* pool = make("tlsf", {8192, 8192, 0, 0, 0, 0});
  const std::vector<int64_t> operations{2048, 2048, 2048, -2};
  const warpheap_trace trace{operations.data(), nullptr, operations.size()};
  std::vector<warpheap_timeline_point> timeline(2);
  ASSERT_EQ(warpheap_replay_timeline(pool, &trace, timeline.size(), timeline.data()), WARPHEAP_OK);
  EXPECT_EQ(warpheap_replay_timeline(pool, &trace, 0, nullptr), WARPHEAP_OK) << "no point at all";
  EXPECT_EQ(timeline[0].event, 1u);
  EXPECT_EQ(timeline[0].bytes_in_use, 4096u);
  EXPECT_EQ(timeline[0].largest_free_bytes, 4096u);
  EXPECT_EQ(timeline[1].event, 3u);
  EXPECT_EQ(timeline[1].free_blocks, 2u);
  EXPECT_EQ(timeline[1].free_bytes, 4096u);
  EXPECT_EQ(timeline[1].largest_free_bytes, 2048u);
  warpheap_pool_destroy(pool);
}

TEST(c_api, traces_run_in_threads) {
  warpheap_pool* pool = make("tlsf");
  std::vector<int64_t> operations;
  for (int n = 0; n < 1000; ++n) operations.insert(operations.end(), {100 + n, -1 - n});
  std::vector<std::vector<uint64_t>> streams;
  std::vector<warpheap_trace> traces;
  for (uint64_t thread = 1; thread <= 4; ++thread) {
    streams.emplace_back(operations.size(), 4096 * thread);
    traces.push_back({operations.data(), streams.back().data(), operations.size()});
  }
  uint64_t wall = 0;
  uint64_t failures = 1;
  ASSERT_EQ(warpheap_replay_threads(pool, traces.data(), traces.size(), &wall, &failures),
            WARPHEAP_OK);
  EXPECT_EQ(failures, 0u);
  EXPECT_GT(wall, 0u);
  warpheap_pool_stats stats{};
  warpheap_pool_get_stats(pool, &stats);
  EXPECT_EQ(stats.allocations, 4000u);
  EXPECT_EQ(stats.deallocations, 4000u);
  EXPECT_EQ(warpheap_pool_check(pool), WARPHEAP_OK);
  warpheap_pool_destroy(pool);
}

TEST(c_api, torch_gets_memory_from_the_pool_of_its_device) {
  EXPECT_THROW(warpheap_torch_allocate(100, 3, nullptr), std::exception);
  for (const int device : {-1, 64, 1000}) {
    EXPECT_EQ(warpheap_torch_use(device, nullptr), WARPHEAP_INVALID_ARGUMENT);
    EXPECT_THROW(warpheap_torch_allocate(100, device, nullptr), std::exception);
  }
  warpheap_pool* pool = make("tlsf", {0, 1 << 20, 0, 0, 0, 0});
  ASSERT_EQ(warpheap_torch_use(3, pool), WARPHEAP_OK);
  void* memory = warpheap_torch_allocate(1000, 3, nullptr);
  EXPECT_EQ(warpheap_pool_usable_bytes(pool, memory), 1024u);
  void* const side_stream = reinterpret_cast<void*>(0x500);
  warpheap_torch_record_stream(memory, side_stream);
  warpheap_torch_deallocate(memory, 1000, 3, nullptr);
  EXPECT_EQ(warpheap_pool_usable_bytes(pool, memory), 0u);
  EXPECT_THROW(warpheap_torch_allocate(2 << 20, 3, nullptr), std::exception);
  warpheap_torch_deallocate(nullptr, 0, 3, nullptr);
  ASSERT_EQ(warpheap_torch_use(3, nullptr), WARPHEAP_OK);
  warpheap_pool_destroy(pool);
}

}  // namespace
