// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The wrappers around a resource, alone and stacked.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "fake_events.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/adaptors/failure_callback_resource.hpp"
#include "warpheap/host/adaptors/limiting_resource.hpp"
#include "warpheap/host/adaptors/logging_resource.hpp"
#include "warpheap/host/adaptors/statistics_resource.hpp"

namespace warpheap::host {
namespace {

constexpr stream_id stream{0x100};

pool_resource make_resource(std::size_t limit = 64_MiB) {
  return pool_resource(make_pool("tlsf", std::make_shared<counted_upstream>(),
                                 std::make_shared<no_events>(),
                                 {.limit_bytes = limit, .region_bytes = 1_MiB}));
}

TEST(pool_resource, copies_are_the_same_pool) {
  pool_resource one = make_resource();
  pool_resource same = one;
  EXPECT_EQ(one, same);
  EXPECT_NE(one, make_resource());
  void* memory = one.allocate(stream, 1000);
  same.deallocate(stream, memory, 1000);
  EXPECT_EQ(one.pool().stats().blocks, 0u);
  EXPECT_THROW(same.deallocate(stream, memory, 1000), invalid_argument);
  EXPECT_THROW(static_cast<void>(one.allocate(stream, 65_MiB)), out_of_memory);
}

TEST(pool_resource, takes_every_kind_of_stream) {
  struct stream_object {
    void* get() const { return reinterpret_cast<void*>(0x300); }
  };
  EXPECT_EQ(id_of(stream_id{5}), stream_id{5});
  EXPECT_EQ(id_of(reinterpret_cast<void*>(0x200)), stream_id{0x200});
  EXPECT_EQ(id_of(stream_object{}), stream_id{0x300});
  EXPECT_EQ(id_of(reinterpret_cast<void*>(1)), stream_id::legacy_default);
}

TEST(statistics_resource, counts_requested_bytes_and_failures) {
  statistics_resource counted(make_resource());
  auto copy = counted;
  void* a = counted.allocate(stream, 1000);
  void* b = copy.allocate_sync(500);
  EXPECT_EQ(counted.stats().bytes_in_use, 1500u);
  copy.deallocate(stream, a, 1000);
  counted.deallocate_sync(b, 500);
  EXPECT_THROW(static_cast<void>(counted.allocate(stream, 65_MiB)), out_of_memory);
  EXPECT_THROW(counted.deallocate(stream, a, 1000), invalid_argument);
  const pool_stats stats = copy.stats();
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.peak_bytes, 1500u);
  EXPECT_EQ(stats.allocations, 2u);
  EXPECT_EQ(stats.deallocations, 2u) << "a refused free does not count";
  EXPECT_EQ(stats.failures, 1u);
  EXPECT_EQ(stats.last_failed_bytes, 65_MiB);
  EXPECT_EQ(counted, copy);
}

TEST(limiting_resource, refuses_above_the_limit_and_frees_make_room) {
  limiting_resource limited(make_resource(), 10000);
  void* a = limited.allocate(stream, 6000);
  try {
    static_cast<void>(limited.allocate(stream, 4001));
    ADD_FAILURE() << "above the limit";
  } catch (const out_of_memory& refused) {
    EXPECT_NE(std::string(refused.what()).find("10000"), std::string::npos) << refused.what();
  }
  void* b = limited.allocate(stream, 4000);
  EXPECT_EQ(limited.bytes_in_use(), 10000u);
  limited.deallocate(stream, a, 6000);
  EXPECT_EQ(limited.bytes_in_use(), 4000u);
  EXPECT_THROW(limited.deallocate(stream, a, 6000), invalid_argument);
  EXPECT_EQ(limited.bytes_in_use(), 4000u) << "a refused free makes no room";
  limited.deallocate(stream, b, 4000);
  // What the upstream refuses is not counted either.
  limiting_resource wide(make_resource(), 1_GiB);
  EXPECT_THROW(static_cast<void>(wide.allocate(stream, 65_MiB)), out_of_memory);
  EXPECT_EQ(wide.bytes_in_use(), 0u);
}

TEST(limiting_resource, a_size_that_no_number_can_add_is_above_the_limit) {
  limiting_resource limited(statistics_resource{make_resource()}, 10000);
  void* a = limited.allocate(stream, 6000);
  for (const std::size_t bytes :
       {~std::size_t{0}, ~std::size_t{0} - 5999, ~std::size_t{0} - 2000}) {
    EXPECT_THROW(static_cast<void>(limited.allocate(stream, bytes)), out_of_memory) << bytes;
    EXPECT_EQ(limited.bytes_in_use(), 6000u);
  }
  EXPECT_EQ(limited.upstream_resource().stats().failures, 0u) << "the limit refuses before";
  limited.deallocate(stream, a, 6000);
}

TEST(failure_callback_resource, asks_until_memory_came_or_it_gives_up) {
  limiting_resource limited(make_resource(), 10000);
  void* held = limited.allocate(stream, 9000);
  std::vector<std::size_t> asked;
  failure_callback_resource helped(limited, [&](std::size_t bytes) {
    asked.push_back(bytes);
    if (asked.size() == 2) limited.deallocate(stream, held, 9000);
    return asked.size() <= 2;
  });
  void* memory = helped.allocate(stream, 5000);
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(asked, (std::vector<std::size_t>{5000, 5000}));
  EXPECT_THROW(static_cast<void>(helped.allocate(stream, 6000)), out_of_memory);
  EXPECT_EQ(asked.back(), 6000u);
  helped.deallocate(stream, memory, 5000);
}

// The second that the log's clock is in: std::time() may still be in the one before, since it reads
// what the last tick of the system left.
std::time_t present_second() {
  using clock = std::chrono::system_clock;
  return clock::to_time_t(clock::now());
}

TEST(logging_resource, writes_what_rmm_writes) {
  const std::string path = testing::TempDir() + "warpheap_logging_test.csv";
  void* memory = nullptr;
  const std::time_t before = present_second();
  {
    logging_resource logged(make_resource(), path);
    memory = logged.allocate(stream, 1000);
    logged.deallocate(stream, memory, 1000);
    EXPECT_THROW(static_cast<void>(logged.allocate(stream, 65_MiB)), out_of_memory);
    logged.deallocate_sync(logged.allocate_sync(7), 7);
  }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::remove(path.c_str());
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "Thread,Time,Action,Pointer,Size,Stream");
  const auto tail = [](const std::string& line) {
    return line.substr(line.find(',', line.find(',') + 1) + 1);
  };
  const std::string pointer = to_text(reinterpret_cast<address>(memory));
  EXPECT_EQ(tail(lines[1]), "allocate," + pointer + ",1000,0x100");
  EXPECT_EQ(tail(lines[2]), "free," + pointer + ",1000,0x100");
  EXPECT_EQ(tail(lines[3]), "allocate failure,(nil)," + std::to_string(65_MiB) + ",0x100");
  EXPECT_EQ(tail(lines[4]), "allocate," + pointer + ",7,0");
  // Thread and time: a number, then HH:MM:SS.uuuuuu.
  int thread = 0, hour = 0, minute = 0, second = 0, micro = 0;
  EXPECT_EQ(std::sscanf(lines[1].c_str(), "%d,%2d:%2d:%2d.%6d,", &thread, &hour, &minute, &second,
                        &micro),
            5)
      << lines[1];
  bool is_local_time = false;
  for (std::time_t then = before; then <= present_second(); ++then) {
    std::tm local{};
    localtime_r(&then, &local);
    is_local_time |= local.tm_hour == hour && local.tm_min == minute && local.tm_sec == second;
  }
  EXPECT_TRUE(is_local_time) << lines[1];
  try {
    logging_resource(make_resource(), "/nowhere/log.csv");
    ADD_FAILURE() << "a log in a folder that does not exist";
  } catch (const error& refused) {
    EXPECT_STREQ(refused.what(),
                 "the log '/nowhere/log.csv' cannot be written: No such file or directory");
  }
}

TEST(adaptors, pass_alignment_and_stream_on_whatever_the_call_is_named) {
  const auto events = std::make_shared<fake_events>();
  statistics_resource outer{limiting_resource{
      pool_resource(make_pool("tlsf", std::make_shared<counted_upstream>(), events)), 64_MiB}};
  pool_interface& pool = outer.upstream_resource().upstream_resource().pool();
  // Before an aligned block lies one that is not.
  const auto expect_aligned = [&](auto&& take) {
    void* const before = outer.allocate(one, 100);
    void* const block = take(4096);
    EXPECT_EQ(reinterpret_cast<address>(block) % 4096, 0u);
    outer.deallocate(one, before, 100);
    return block;
  };
  const auto by_stream = [&](std::size_t at) { return outer.allocate(one, 100, at); };
  const auto earlier = [&](std::size_t at) { return outer.allocate_async(100, at, one); };
  outer.deallocate(one, expect_aligned(by_stream), 100, 4096);
  outer.deallocate_async(expect_aligned(earlier), 100, 4096, one);
  EXPECT_EQ(events->recorded, 0) << "in the only stream that there is";
  const auto in_no_stream = [&](std::size_t at) { return outer.allocate_sync(100, at); };
  const auto earlier_sync = [&](std::size_t at) { return outer.allocate(100, at); };
  outer.deallocate_sync(expect_aligned(in_no_stream), 100, 4096);
  outer.deallocate(expect_aligned(earlier_sync), 100, 4096);
  EXPECT_EQ(pool.stats().blocks, 0u);
  EXPECT_EQ(outer.stats().bytes_in_use, 0u);
  // Another stream's free is pending, one in no stream is not.
  void* const block = outer.allocate(one, 100);
  void* const other = outer.allocate(one, 100);
  outer.deallocate(two, block, 100);
  EXPECT_EQ(pool.stats().pending_blocks, 1u);
  outer.deallocate_sync(other, 100);
  EXPECT_EQ(pool.stats().pending_blocks, 1u);
}

/// A resource that tells when it has taken back a block.
struct telling_resource {
  void* allocate(stream_id by, std::size_t bytes, std::size_t alignment = 256) {
    return memory.allocate(by, bytes, alignment);
  }
  void deallocate(stream_id by, void* block, std::size_t bytes, std::size_t = 256) {
    memory.deallocate(by, block, bytes);
    (*freed)();
  }
  void* allocate_sync(std::size_t bytes, std::size_t alignment = 256) {
    return allocate(stream_id::none, bytes, alignment);
  }
  void deallocate_sync(void* block, std::size_t bytes, std::size_t = 256) {
    deallocate(stream_id::none, block, bytes);
  }

  pool_resource memory;
  std::function<void()>* freed;
};

// As if another thread got a block as soon as it was free.
TEST(logging_resource, a_block_is_logged_as_free_before_it_is_handed_out_again) {
  const std::string path = testing::TempDir() + "warpheap_logging_order_test.csv";
  std::function<void()> freed;
  {
    logging_resource logged(telling_resource{make_resource(), &freed}, path);
    void* const block = logged.allocate(stream, 1000);
    freed = [&] { EXPECT_EQ(logged.allocate(stream, 1000), block); };
    logged.deallocate(stream, block, 1000);
  }
  std::ifstream file(path);
  std::vector<std::string> actions;
  for (std::string line; std::getline(file, line);) {
    const std::size_t action = line.find(',', line.find(',') + 1) + 1;
    actions.push_back(line.substr(action, line.find(',', action) - action));
  }
  std::remove(path.c_str());
  EXPECT_EQ(actions, (std::vector<std::string>{"Action", "allocate", "free", "allocate"}));
}

TEST(adaptors, stack_in_any_order) {
  statistics_resource outer{limiting_resource{statistics_resource{make_resource()}, 1_MiB}};
  void* memory = outer.allocate(stream, 5000);
  EXPECT_EQ(outer.upstream_resource().upstream_resource().stats().bytes_in_use, 5000u);
  EXPECT_THROW(static_cast<void>(outer.allocate(stream, 2_MiB)), out_of_memory);
  EXPECT_EQ(outer.stats().failures, 1u);
  EXPECT_EQ(outer.upstream_resource().upstream_resource().stats().failures, 0u)
      << "the limit refused before";
  outer.deallocate(stream, memory, 5000);
}

}  // namespace
}  // namespace warpheap::host
