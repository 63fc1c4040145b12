// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The owner: where its memory may come from, and what it reports about itself.
#include "device_array.hpp"

#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/on_failure.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Each lane asks for `bytes` and leaves what it got.
template <class Handle>
struct take_blocks {
  Handle heap;
  std::uint64_t bytes;
  void** taken;
  WARPHEAP_DEVICE void operator()() const { taken[simt::thread_rank()] = heap.malloc(bytes); }
};

template <class M>
std::vector<void*> take(const heap<M>& from, std::uint32_t lanes, std::uint64_t bytes) {
  const device_array<void*> taken(lanes);
  machine().launch({1, lanes}, take_blocks<handle<M>>{from.ref(), bytes, taken.get()});
  return taken.read();
}

/// What a resource has handed out.
struct ledger {
  std::size_t live_bytes = 0;
  int allocations = 0;
};

/// Models a resource as CCCL has them since 3.1; a copy is the same resource.
struct resource {
  ledger* book;
  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    EXPECT_EQ(alignment, 256u);
    ++book->allocations;
    book->live_bytes += bytes;
    return machine().allocate(bytes);
  }
  void deallocate_sync(void* memory, std::size_t bytes, std::size_t /*alignment*/) {
    book->live_bytes -= bytes;
    machine().deallocate(memory, bytes);
  }
};
/// Models one of before that.
struct older_resource {
  resource same;
  void* allocate(std::size_t bytes, std::size_t alignment) {
    return same.allocate_sync(bytes, alignment);
  }
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
    same.deallocate_sync(memory, bytes, alignment);
  }
};
static_assert(memory_resource<resource> && memory_resource<older_resource>);
static_assert(!memory_resource<int> && !memory_resource<region>);

template <class Resource>
void serves_out_of(Resource from, const ledger& book) {
  {
    warpheap::heap made(machine(), from, 1_MiB);
    EXPECT_GE(book.live_bytes, 1_MiB);
    const heap<> owner = std::move(made);
    for (void* block : take(owner, 100, 64)) EXPECT_NE(block, nullptr);
    EXPECT_EQ(owner.stats().blocks_in_use, 100u);
  }
  EXPECT_EQ(book.live_bytes, 0u);
  EXPECT_GE(book.allocations, 1);
}

TEST(heap, memory_comes_out_of_a_resource_and_goes_back) {
  ledger book;
  serves_out_of(resource{&book}, book);
  serves_out_of(older_resource{{&book}}, book);
}

TEST(heap, lies_in_memory_of_the_callers) {
  constexpr std::size_t bytes = 1_MiB;
  const device_array<std::byte> memory(bytes + 64);
  // Any address will do, and nothing beyond is touched.
  std::byte* const base = memory.get() + 7;
  const warpheap::heap subject(machine(), region{base, bytes});
  EXPECT_LT(subject.bytes(), bytes);
  EXPECT_GT(subject.bytes(), bytes - 4_KiB);
  for (void* block : take(subject, 100, 64)) {
    EXPECT_GE(block, base);
    EXPECT_LT(block, base + bytes);
  }
  EXPECT_EQ(subject.stats().blocks_in_use, 100u);
  const auto contents = memory.read();
  for (int i = 0; i < 7; ++i) EXPECT_EQ(contents[i], std::byte{0});
  for (std::size_t i = 7 + bytes; i < contents.size(); ++i) EXPECT_EQ(contents[i], std::byte{0});
}

TEST(heap, memory_of_the_callers_that_is_too_small_is_refused) {
  const device_array<std::byte> memory(4096);
  EXPECT_THROW(warpheap::heap(machine(), region{memory.get(), 100}), region_too_small);
  EXPECT_THROW(warpheap::heap(machine(), region{nullptr, 1_MiB}), region_too_small);
  EXPECT_THROW((heap<gallatin<>>(machine(), region{memory.get(), 4096})), region_too_small);
}

TEST(heap, one_that_was_moved_from_refuses_whatever_needs_its_region) {
  using manager_type = checked<rw<>>;
  heap<manager_type> gone(machine(), 1_MiB);
  const heap<manager_type> owner = std::move(gone);
  EXPECT_THROW(gone.ref(), invalid_argument);
  EXPECT_THROW(gone.largest_block(), invalid_argument);
  EXPECT_THROW(gone.reset(), invalid_argument);
  EXPECT_THROW(gone.stats(), invalid_argument);
  EXPECT_THROW(gone.validate(), invalid_argument);
  EXPECT_THROW(gone.incidents(), invalid_argument);
  EXPECT_THROW(gone.report(), invalid_argument);
  EXPECT_NE(take(owner, 1, 16).front(), nullptr);
  warpheap::heap grown(machine(), 1_MiB);
  const heap<> other = std::move(grown);
  EXPECT_THROW(grown.grow(4_KiB), invalid_argument);
}

TEST(heap, growth_that_the_manager_refuses_is_an_error) {
  heap<> subject(machine(), 1_MiB, {.initial_bytes = 256_KiB});
  const std::size_t step = subject.ref().manager().growth_step();
  for (const std::size_t bytes : {std::size_t{0}, step + 16, 2_MiB}) {
    EXPECT_THROW(subject.grow(bytes), invalid_argument) << bytes;
  }
  EXPECT_NO_THROW(subject.grow(step));
}

TEST(heap, host_threads_that_ask_at_once_are_told_the_same) {
  const heap<rw_malloc<>> subject(machine(), 64_KiB);
  take(subject, 20, 16);
  std::uint64_t wrong[2] = {};
  const auto ask = [&](std::uint64_t& mine) {
    for (int i = 0; i < (sanitized ? 10 : 40); ++i) mine += subject.stats().blocks_in_use != 20;
  };
  std::thread other([&] { ask(wrong[0]); });
  ask(wrong[1]);
  other.join();
  EXPECT_EQ(wrong[0] + wrong[1], 0u);
}

TEST(report, says_what_is_in_use_by_size) {
  const heap<gallatin<>> subject(machine(), 64_MiB);
  take(subject, 30, 16);
  take(subject, 20, 1000);
  const heap_stats stats = subject.stats();
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last = 0;
  for (const blocks_of_size& size : stats.in_use) {
    EXPECT_GT(size.most_bytes, last);
    last = size.most_bytes;
    EXPECT_GT(size.bytes * 2, size.blocks * size.most_bytes);
    EXPECT_LE(size.bytes, size.blocks * size.most_bytes);
    blocks += size.blocks;
    bytes += size.bytes;
  }
  EXPECT_EQ(blocks, stats.blocks_in_use);
  EXPECT_EQ(bytes, stats.bytes_in_use);
  const std::string text = subject.report();
  EXPECT_THAT(text, HasSubstr("gallatin on "));
  EXPECT_THAT(text, HasSubstr("  9 to 16 bytes: 30 blocks, 480 bytes\n"));
  EXPECT_THAT(text, HasSubstr("  513 to 1024 bytes: 20 blocks, 20480 bytes\n"));
  EXPECT_THAT(text, HasSubstr("failed: nothing\n"));
}

TEST(report, tells_impossible_requests_from_exhaustion) {
  const heap<rw_malloc<>> subject(machine(), 1_MiB);
  const std::string largest = std::to_string(subject.largest_block());
  take(subject, 3, subject.largest_block() + 1);
  std::string text = subject.report();
  EXPECT_THAT(text,
              HasSubstr("failed: 3 requests that this heap never serves: its largest block has " +
                        largest + " bytes"));
  EXPECT_THAT(text, Not(HasSubstr("exhausted")));
  EXPECT_THAT(text, HasSubstr(std::to_string(subject.largest_block() + 1)));
  take(subject, 1000, subject.largest_block());
  text = subject.report();
  EXPECT_THAT(text, HasSubstr("because the heap was exhausted; one of the last asked for " +
                              largest + " bytes"));
  EXPECT_THAT(text, HasSubstr("the heap is full"));
}

TEST(report, has_the_wrong_uses_that_were_found) {
  const heap<checked<rw<>>> subject(machine(), 1_MiB);
  take(subject, 3, 16);
  EXPECT_THAT(subject.report(), HasSubstr("leak: 3 blocks of 16 bytes"));
}

/// What the lanes of `count_failures` were told; one word a reason.
struct count_failures {
  WARPHEAP_DEVICE void operator()(const failed_request& request) const;
};
#if WARPHEAP_CUDA_MODEL
__device__ __managed__ std::uint64_t told[2];
#else
std::uint64_t told[2];
#endif
WARPHEAP_DEVICE void count_failures::operator()(const failed_request& request) const {
  const bool right =
      request.by.tag() == 5 && request.by.thread() == simt::thread_in_block() &&
      (request.why == failure_reason::impossible) == (request.bytes > request.largest_block);
  if (right) {
    simt::atomic_ref(told[static_cast<int>(request.why)])
        .fetch_add(std::uint64_t{1}, simt::order::relaxed);
  }
}

template <class Handle>
struct take_tagged {
  Handle heap;
  std::uint64_t bytes;
  WARPHEAP_DEVICE void operator()() const { heap.tagged(5).malloc(bytes); }
};

template <class M>
void hears_each_failure() {
  using manager_type = on_failure<M, count_failures>;
  const heap<manager_type> subject(machine(), 2_MiB);
  told[0] = told[1] = 0;
  const auto ask = [&](std::uint32_t lanes, std::uint64_t bytes) {
    machine().launch({1, lanes}, take_tagged<handle<manager_type>>{subject.ref(), bytes});
    machine().synchronize();
  };
  ask(100, 16);
  ask(100, 0);
  EXPECT_EQ(told[0] + told[1], 0u);
  ask(100, subject.largest_block() + 1);
  EXPECT_EQ(told[1], 100u);
  EXPECT_EQ(told[0], 0u);
  ask(1000, subject.largest_block());
  const heap_stats stats = subject.stats();
  EXPECT_GT(told[0], 0u);
  EXPECT_EQ(told[0], stats.failures);
  EXPECT_EQ(told[1], stats.impossible);
}

TEST(on_failure, each_failed_request_is_told_once_with_its_lane_and_reason) {
  hears_each_failure<default_manager>();
  hears_each_failure<checked<rw_malloc<>>>();
}

#if !WARPHEAP_CUDA_MODEL
TEST(on_failure, a_trap_names_the_request) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  // The death test sees standard error alone.
  const auto misuse = [] {
    dup2(2, 1);
    using manager_type = on_failure<rw_malloc<>>;
    const heap<manager_type> subject(machine(), 1_MiB);
    machine().launch({1, 1}, take_tagged<handle<manager_type>>{subject.ref(), 8193});
  };
  EXPECT_DEATH(misuse(),
               "malloc\\(8193\\) returned null: this heap never serves it, and at most 8192 "
               "bytes; block 0 thread 0 tag 5");
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
