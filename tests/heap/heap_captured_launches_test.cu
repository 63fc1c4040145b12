// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with the handle of a heap, captured into a CUDA graph that is replayed many times: blocks
// that one kernel takes and another one frees, that live across replays, that two branches of the
// graph take and free at once, and that do not fit.
#include "conformance/kernels.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/hash.hpp"
#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using simt::runtime::check;

/// What the kernels of a graph know of its replays, and count.
struct lap_book {
  std::uint64_t lap = 0;  ///< of this replay, from 1 on
  /// Of the two branches in this lap, in nanoseconds of the device's clock.
  unsigned long long began[2] = {};
  unsigned long long ended[2] = {};
  std::uint64_t laps_at_once = 0;  ///< in which the branches overlapped
  std::uint64_t served = 0;        ///< requests of this lap
  std::uint64_t least_served = ~std::uint64_t{0};
  std::uint64_t most_served = 0;
  /// Of all laps. `blocks` counts the requests that were served.
  tally all;
};

struct held_block {
  void* block = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
};

/// Which requests a kernel makes: one per lane, in a ring of `laps` places for each.
struct requests {
  std::uint64_t fixed_bytes = 0;  ///< 0: 1 to 4096, drawn
  held_block* places = nullptr;
  std::uint64_t laps = 1;

  WARPHEAP_DEVICE std::uint64_t bytes(std::uint64_t tag) const {
    if (fixed_bytes != 0) return fixed_bytes;
    const std::uint64_t drawn = mix64(tag);
    return 1 + (drawn >> 32) % (std::uint64_t{16} << drawn % 9);
  }
  WARPHEAP_DEVICE held_block& place(std::uint64_t lap, std::uint64_t lane) const {
    return places[lap % laps * simt::grid_size() + lane];
  }
};

/// What a block holds that a lane of a branch has taken: no two in use hold the same.
WARPHEAP_DEVICE inline std::uint64_t tag_of(std::uint64_t lap, int branch, std::uint64_t lane) {
  return lap << 32 | static_cast<std::uint64_t>(branch) << 31 | lane;
}

__device__ unsigned long long device_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void begin_lap(lap_book* book) {
  ++book->lap;
  book->served = 0;
  for (int branch = 0; branch < 2; ++branch) {
    book->began[branch] = ~0ull;
    book->ended[branch] = 0;
  }
}

__global__ void end_lap(lap_book* book) {
  const auto& [first, second] = book->began;
  const auto& [first_end, second_end] = book->ended;
  if (first < second_end && second < first_end) ++book->laps_at_once;
  if (book->served < book->least_served) book->least_served = book->served;
  if (book->served > book->most_served) book->most_served = book->served;
}

/// Notes when a branch of the graph runs.
class branch_time {
 public:
  __device__ branch_time(lap_book* book, int branch) : book_(book), branch_(branch) {
    if (threadIdx.x == 0) atomicMin(&book_->began[branch_], device_nanoseconds());
  }
  __device__ ~branch_time() {
    if (threadIdx.x == 0) atomicMax(&book_->ended[branch_], device_nanoseconds());
  }

 private:
  lap_book* book_;
  int branch_;
};

__device__ void count(lap_book* book, const void* block) {
  tally::add(block != nullptr ? book->all.blocks : book->all.nulls);
  if (block != nullptr) tally::add(book->served);
}

/// Each lane takes a block and writes all of it.
__global__ void take_and_write(heap_ref heap, requests asked, lap_book* book, int branch) {
  const branch_time noted(book, branch);
  const std::uint64_t lane = simt::thread_rank();
  const std::uint64_t tag = tag_of(book->lap, branch, lane);
  const std::uint64_t bytes = asked.bytes(tag);
  void* const block = heap.malloc(bytes);
  if (block != nullptr) stamp(block, bytes, tag);
  asked.place(book->lap, lane) = {block, bytes, tag};
  count(book, block);
}

/// Each lane checks and frees what another lane has taken `asked.laps` laps ago, or in this lap
/// where the ring has one place.
__global__ void check_and_give(heap_ref heap, requests asked, lap_book* book, int branch) {
  const branch_time noted(book, branch);
  const std::uint64_t taker = simt::grid_size() - 1 - simt::thread_rank();
  held_block& held = asked.place(book->lap, taker);
  const std::uint64_t age = asked.laps == 1 ? 0 : asked.laps;
  if (held.block != nullptr) {
    const bool right =
        (held.tag >> 32) + age == book->lap && is_stamped(held.block, held.bytes, held.tag);
    if (!right) tally::add(book->all.corrupted);
    heap.free(held.block);
  }
  held.block = nullptr;
}

/// Each lane takes blocks, writes them, reads them back and frees them.
__global__ void use(heap_ref heap, requests asked, lap_book* book, int branch) {
  constexpr int at_once = 4;
  const branch_time noted(book, branch);
  const std::uint64_t lane = simt::thread_rank();
  void* blocks[at_once];
  std::uint64_t tags[at_once];
  for (int i = 0; i < at_once; ++i) {
    // Other numbers than those of blocks that stay.
    tags[i] = ~tag_of(book->lap * at_once + static_cast<unsigned>(i), branch, lane);
    blocks[i] = heap.malloc(asked.bytes(tags[i]));
    count(book, blocks[i]);
    if (blocks[i] != nullptr) stamp(blocks[i], asked.bytes(tags[i]), tags[i]);
  }
  for (int i = 0; i < at_once; ++i) {
    if (blocks[i] == nullptr) continue;
    if (!is_stamped(blocks[i], asked.bytes(tags[i]), tags[i])) tally::add(book->all.corrupted);
    heap.free(blocks[i]);
  }
}

/// A stream, and events that order others by it.
class own_stream {
 public:
  own_stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "create an event");
  }
  ~own_stream() {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;

  operator cudaStream_t() const { return stream_; }
  /// What is queued here from now on comes after what is queued there.
  void wait_for(const own_stream& other) const {
    check(cudaEventRecord(other.event_, other.stream_), "record an event");
    check(cudaStreamWaitEvent(stream_, other.event_, 0), "wait for an event");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

/// Launches on two streams between the kernels that begin and end a lap, captured once.
class lap_graph {
 public:
  /// \param record queues the launches, on two streams that begin and end together
  template <class Record>
  lap_graph(lap_book* book, const Record& record) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "begin a capture");
    begin_lap<<<1, 1, 0, stream_>>>(book);
    branch_.wait_for(stream_);
    record(stream_, branch_);
    stream_.wait_for(branch_);
    end_lap<<<1, 1, 0, stream_>>>(book);
    check(cudaGetLastError(), "capture a launch");
    check(cudaStreamEndCapture(stream_, &graph), "end a capture");
    const cudaError_t made = cudaGraphInstantiate(&launchable_, graph, 0);
    cudaGraphDestroy(graph);
    check(made, "instantiate a graph");
  }
  ~lap_graph() { cudaGraphExecDestroy(launchable_); }
  lap_graph(const lap_graph&) = delete;
  lap_graph& operator=(const lap_graph&) = delete;

  void replay(int times) const {
    for (int i = 0; i < times; ++i) check(cudaGraphLaunch(launchable_, stream_), "launch a graph");
    check(cudaStreamSynchronize(stream_), "wait for a graph");
  }

 private:
  own_stream stream_;
  own_stream branch_;
  cudaGraphExec_t launchable_ = nullptr;
};

/// A heap, what its users count, and launches of half of the device, so that two run at once.
class captured_launches : public ::testing::Test {
 protected:
  static constexpr std::uint32_t threads = 256;
  const std::uint32_t blocks = machine().properties().multiprocessors;
  const std::uint64_t lanes = std::uint64_t{blocks} * threads;
  const device_array<lap_book> book{1};

  requests ring(const device_array<held_block>& places, std::uint64_t fixed_bytes = 0) const {
    return {fixed_bytes, places.get(), places.size() / lanes};
  }
  lap_book counted() const { return book.read().front(); }

  /// The contents were right, and the heap has counted every request that got null.
  void expect_sound(const heap<default_manager>& of, std::uint64_t blocks_in_use,
                    std::uint64_t failed_before = 0) const {
    EXPECT_EQ(counted().all.corrupted, 0u);
    const heap_stats found = of.stats();
    EXPECT_EQ(found.failures, failed_before + counted().all.nulls);
    EXPECT_EQ(found.impossible, 0u);
    EXPECT_EQ(found.blocks_in_use, blocks_in_use);
    EXPECT_EQ(found.bytes_in_use == 0, blocks_in_use == 0);
    expect_valid(of);
  }
  /// Frees the blocks of a ring by launches of their own.
  void give_without_a_graph(const heap<default_manager>& to,
                            const device_array<held_block>& places) const {
    for (std::uint64_t lap = 0; lap < ring(places).laps; ++lap) {
      begin_lap<<<1, 1>>>(book.get());
      check_and_give<<<blocks, threads>>>(to.ref(), ring(places), book.get(), 0);
    }
    check(cudaDeviceSynchronize(), "free blocks without a graph");
  }
  void expect_branches_at_once() const {
    EXPECT_GT(counted().laps_at_once, 0u)
        << "the two branches never ran at once in " << counted().lap << " replays";
  }
};

TEST_F(captured_launches, blocks_are_freed_by_the_next_kernel_and_by_later_replays) {
  constexpr int replays = 300;
  constexpr std::uint64_t kept_laps = 3;
  const heap<default_manager> subject(machine(), 1_GiB);
  const heap_ref ref = subject.ref();
  const device_array<held_block> taken(lanes);
  const device_array<held_block> kept(kept_laps * lanes);
  const lap_graph graph(book.get(), [&](const own_stream& one, const own_stream& other) {
    take_and_write<<<blocks, threads, 0, one>>>(ref, ring(taken), book.get(), 0);
    check_and_give<<<blocks, threads, 0, one>>>(ref, ring(taken), book.get(), 0);
    use<<<blocks, threads, 0, other>>>(ref, requests{}, book.get(), 1);
    check_and_give<<<blocks, threads, 0, other>>>(ref, ring(kept), book.get(), 1);
    take_and_write<<<blocks, threads, 0, other>>>(ref, ring(kept), book.get(), 1);
  });
  graph.replay(replays);
  expect_sound(subject, kept_laps * lanes);
  expect_branches_at_once();
  EXPECT_EQ(counted().all.nulls, 0u) << "the heap has room for all";
  EXPECT_EQ(counted().all.blocks, replays * 6 * lanes);
  give_without_a_graph(subject, kept);
  expect_sound(subject, 0);
}

TEST_F(captured_launches, branches_that_fill_a_heap_get_all_of_it_each_time) {
  constexpr int replays = 200;
  constexpr std::uint64_t bytes = 1024;
  // Room for three quarters of the requests. Slots of this size fill their chunks.
  const heap<default_manager> subject(machine(), lanes * 2 * bytes * 3 / 4);
  const heap_ref ref = subject.ref();
  const std::uint64_t capacity = subject.largest_block() / bytes;
  const device_array<held_block> some(lanes);
  const device_array<held_block> others(lanes);
  const lap_graph graph(book.get(), [&](const own_stream& one, const own_stream& other) {
    take_and_write<<<blocks, threads, 0, one>>>(ref, ring(some, bytes), book.get(), 0);
    take_and_write<<<blocks, threads, 0, other>>>(ref, ring(others, bytes), book.get(), 1);
    one.wait_for(other);
    other.wait_for(one);
    // Nobody frees before both have got what they can.
    check_and_give<<<blocks, threads, 0, one>>>(ref, ring(others, bytes), book.get(), 0);
    check_and_give<<<blocks, threads, 0, other>>>(ref, ring(some, bytes), book.get(), 1);
  });
  graph.replay(replays);
  expect_sound(subject, 0);
  expect_branches_at_once();
  EXPECT_EQ(counted().least_served, capacity);
  EXPECT_EQ(counted().most_served, capacity);
  EXPECT_EQ(counted().all.nulls, replays * (2 * lanes - capacity));
}

TEST_F(captured_launches, branches_that_take_and_free_in_a_full_heap_lose_nothing) {
  constexpr int replays = 300;
  // Lanes of `use` have four blocks of 450 bytes on average: far more than fit.
  const heap<default_manager> subject(machine(), 8_MiB);
  const heap_ref ref = subject.ref();
  const block_list whole = take_all(subject, 1024, lanes);
  give(subject, whole);
  const std::uint64_t failed_before = subject.stats().failures;
  const device_array<held_block> kept(3 * lanes);
  const lap_graph graph(book.get(), [&](const own_stream& one, const own_stream& other) {
    use<<<blocks, threads, 0, one>>>(ref, requests{}, book.get(), 0);
    use<<<blocks, threads, 0, one>>>(ref, requests{}, book.get(), 0);
    check_and_give<<<blocks, threads, 0, other>>>(ref, ring(kept), book.get(), 1);
    take_and_write<<<blocks, threads, 0, other>>>(ref, ring(kept), book.get(), 1);
    use<<<blocks, threads, 0, other>>>(ref, requests{}, book.get(), 1);
  });
  graph.replay(replays);
  expect_branches_at_once();
  EXPECT_EQ(counted().all.blocks + counted().all.nulls, replays * 13 * lanes);
  EXPECT_GT(counted().all.nulls, 0u) << "the heap was never full";
  EXPECT_GT(counted().least_served, 0u);
  give_without_a_graph(subject, kept);
  expect_sound(subject, 0, failed_before);
  EXPECT_EQ(take_all(subject, 1024, lanes).size(), whole.size()) << "memory was lost";
}

TEST_F(captured_launches, a_graph_stays_valid_when_its_heap_is_reset) {
  heap<default_manager> subject(machine(), 256_MiB);
  const device_array<held_block> places(2 * lanes);
  const lap_graph graph(book.get(), [&](const own_stream& one, const own_stream& other) {
    take_and_write<<<blocks, threads, 0, one>>>(subject.ref(), ring(places), book.get(), 0);
    use<<<blocks, threads, 0, other>>>(subject.ref(), requests{}, book.get(), 1);
  });
  for (int round = 0; round < 3; ++round) {
    graph.replay(2);
    EXPECT_EQ(counted().all.nulls, 0u) << "the heap has room for all";
    expect_sound(subject, 2 * lanes);
    subject.reset();
    expect_sound(subject, 0);
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
