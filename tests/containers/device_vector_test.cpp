// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/containers/device_vector.hpp"

#include "fixture.hpp"

#if !WARPHEAP_CUDA_MODEL
#include "warpheap/simt/cpu/explorer.hpp"
#endif

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using words = device_vector<std::uint32_t>;

/// Lane i pushes i, i + 1, ... onto its vector, `count` times; counts what was refused.
struct push_by_lane {
  heap_ref heap;
  words* vectors;
  std::uint32_t count;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const auto me = static_cast<std::uint32_t>(simt::thread_rank());
    refused[me] = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      // The next value without a gap: what others free lets a later push succeed.
      refused[me] += !vectors[me].push(heap, me + vectors[me].size());
    }
  }
};

/// The lanes of warp w push onto vector w, in rounds; those with `(lane + round) % 3 == 0` want to.
struct push_by_warp {
  heap_ref heap;
  words* vectors;
  std::uint32_t rounds;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group warp = simt::warp();
    const std::uint64_t me = simt::thread_rank();
    words& own = vectors[me / simt::warp_size];
    const auto lane = static_cast<std::uint32_t>(simt::lane_id());
    refused[me] = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const bool wants = (lane + round) % 3 == 0;
      const bool done = own.push(heap, warp, wants, round * 32 + lane);
      refused[me] += wants && !done;
    }
  }
};

/// Keeps a quarter of each vector and moves it, by lanes or by warps.
struct shrink_each {
  heap_ref heap;
  words* vectors;
  std::uint32_t keep;
  bool by_warp;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (by_warp) {
      const simt::group warp = simt::warp();
      words& own = vectors[me / simt::warp_size];
      if (warp.is_leader()) own.set_size(keep);
      warp.sync();
      own.shrink(heap, warp);
    } else {
      vectors[me].set_size(keep);
      vectors[me].shrink(heap);
    }
  }
};

struct clear_each {
  heap_ref heap;
  words* vectors;
  std::uint32_t count;
  WARPHEAP_DEVICE void operator()() const {
    if (simt::thread_rank() < count) vectors[simt::thread_rank()].clear(heap);
  }
};

/// Hands over a block with three elements that it has filled, and appends a fourth.
struct replace_and_push {
  heap_ref heap;
  words* vector;
  std::uint32_t* capacity;
  std::uint32_t* moved;
  WARPHEAP_DEVICE void operator()() const {
    auto* const block = static_cast<std::uint32_t*>(heap.malloc(words::bytes_for(3)));
    for (std::uint32_t i = 0; i < 3; ++i) block[i] = i;
    heap.free(vector->replace(block, 3));
    *capacity = vector->capacity();
    vector->push(heap, 3);
    *moved = vector->data() != block ? 1 : 0;
  }
};

/// Copies vector i to `out + i * stride`, and notes its size and capacity.
struct read_each {
  const words* vectors;
  std::uint32_t count;
  std::uint32_t stride;
  std::uint32_t* out;
  std::uint32_t* sizes;
  std::uint32_t* capacities;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (me >= count) return;
    sizes[me] = vectors[me].size();
    capacities[me] = vectors[me].capacity();
    for (std::uint32_t i = 0; i < vectors[me].size(); ++i) out[me * stride + i] = vectors[me][i];
  }
};

namespace {

struct contents {
  std::vector<std::vector<std::uint32_t>> values;
  std::vector<std::uint32_t> capacities;
};

contents read(const device_array<words>& vectors, std::uint32_t stride) {
  const auto count = static_cast<std::uint32_t>(vectors.size());
  const device_array<std::uint32_t> out(std::size_t{count} * stride);
  const device_array<std::uint32_t> sizes(count);
  const device_array<std::uint32_t> capacities(count);
  machine().launch(covering(count), read_each{vectors.get(), count, stride, out.get(), sizes.get(),
                                              capacities.get()});
  contents result{{}, capacities.read()};
  const auto all = out.read();
  const auto ends = sizes.read();
  for (std::size_t v = 0; v < count; ++v) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(v * stride);
    result.values.emplace_back(begin, begin + ends[v]);
  }
  return result;
}

void clear(const heap<>& subject, const device_array<words>& vectors) {
  const auto count = static_cast<std::uint32_t>(vectors.size());
  machine().launch(covering(count), clear_each{subject.ref(), vectors.get(), count});
  for (const words& one : vectors.read()) {
    ASSERT_TRUE(one.empty());
    ASSERT_EQ(one.capacity(), 0u);
    ASSERT_EQ(one.data(), nullptr);
  }
  expect_nothing_left(subject);
}

TEST(device_vector, a_block_that_was_taken_over_is_used_up) {
  const heap<> subject(machine(), 1_MiB);
  const device_array<words> vectors(std::vector<words>(1));
  const device_array<std::uint32_t> capacity(1);
  const device_array<std::uint32_t> moved(1);
  machine().launch({1, 1},
                   replace_and_push{subject.ref(), vectors.get(), capacity.get(), moved.get()});
  EXPECT_EQ(capacity.read()[0], 4u) << "of 16 bytes";
  EXPECT_EQ(moved.read()[0], 0u);
  EXPECT_EQ(read(vectors, 4).values[0], (std::vector<std::uint32_t>{0, 1, 2, 3}));
  clear(subject, vectors);
}

TEST(device_vector, blocks_are_powers_of_two) {
  EXPECT_EQ(words::bytes_for(0), 16u);
  EXPECT_EQ(words::bytes_for(4), 16u);
  EXPECT_EQ(words::bytes_for(5), 32u);
  EXPECT_EQ(words::bytes_for(1025), 8192u);
  struct three {
    std::uint32_t words[3];
  };
  EXPECT_EQ(device_vector<three>::bytes_for(1), 16u);
  EXPECT_EQ(device_vector<three>::bytes_for(2), 32u);
  EXPECT_EQ(device_vector<three>::bytes_for(3), 64u);
}

TEST(device_vector, grows_by_lanes_and_shrinks) {
  const heap<> subject(machine(), 8_MiB);
  const std::uint32_t count = 100;
  const device_array<words> vectors(256);
  const device_array<std::uint32_t> refused(256, 99);
  machine().launch({2, 128}, push_by_lane{subject.ref(), vectors.get(), count, refused.get()});
  auto got = read(vectors, count);
  for (std::uint32_t v = 0; v < 256; ++v) {
    EXPECT_EQ(refused.read()[v], 0u);
    ASSERT_EQ(got.values[v].size(), count);
    EXPECT_EQ(got.capacities[v], 128u);
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(got.values[v][i], v + i);
  }
  machine().launch({2, 128}, shrink_each{subject.ref(), vectors.get(), 9, false});
  got = read(vectors, count);
  for (std::uint32_t v = 0; v < 256; ++v) {
    EXPECT_EQ(got.capacities[v], 16u);
    ASSERT_EQ(got.values[v].size(), 9u);
    for (std::uint32_t i = 0; i < 9; ++i) ASSERT_EQ(got.values[v][i], v + i);
  }
  clear(subject, vectors);
}

TEST(device_vector, grows_by_warps_in_the_order_of_lanes) {
  const heap<> subject(machine(), 8_MiB);
  const device_array<words> vectors(8);
  const device_array<std::uint32_t> refused(256, 99);
  machine().launch({2, 128}, push_by_warp{subject.ref(), vectors.get(), 50, refused.get()});
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 50 * 32; ++i) {
    if ((i % 32 + i / 32) % 3 == 0) expected.push_back(i);
  }
  for (const std::uint32_t count : refused.read()) EXPECT_EQ(count, 0u);
  for (const auto& values : read(vectors, 1024).values) EXPECT_EQ(values, expected);
  machine().launch({2, 128}, shrink_each{subject.ref(), vectors.get(), 40, true});
  expected.resize(40);
  const auto got = read(vectors, 1024);
  for (const auto& values : got.values) EXPECT_EQ(values, expected);
  for (const std::uint32_t capacity : got.capacities) EXPECT_EQ(capacity, 64u);
  machine().launch({2, 128}, shrink_each{subject.ref(), vectors.get(), 0, true});
  expect_nothing_left(subject);
}

// Memory ends in the middle: what was pushed stays, and what was refused is known.
TEST(device_vector, loses_nothing_when_memory_is_exhausted) {
  const heap<> subject(machine(), 80_KiB);
  // A push that finds no room takes longest: where races are looked for, there are fewer of them.
  const std::uint32_t count = race_checked ? 250 : 1000;
  const device_array<words> vectors(64);
  const device_array<std::uint32_t> refused(64, 99);
  machine().launch({1, 64}, push_by_lane{subject.ref(), vectors.get(), count, refused.get()});
  std::uint64_t pushed = 0;
  const auto got = read(vectors, count);
  for (std::uint32_t v = 0; v < 64; ++v) {
    EXPECT_EQ(got.values[v].size() + refused.read()[v], count);
    for (std::uint32_t i = 0; i < got.values[v].size(); ++i) ASSERT_EQ(got.values[v][i], v + i);
    pushed += got.values[v].size();
  }
  EXPECT_LT(pushed, 64u * count);
  EXPECT_GT(pushed, 64u * 4);
  clear(subject, vectors);
}

TEST(device_vector, warps_fill_what_room_is_left) {
  const heap<> subject(machine(), race_checked ? 64_KiB : 128_KiB);
  const device_array<words> vectors(4);
  const device_array<std::uint32_t> refused(128, 99);
  // Each vector alone would fill more than the heap; in a test for races, all of them together.
  const std::uint32_t rounds = race_checked ? 420 : 4000;
  machine().launch({1, 128}, push_by_warp{subject.ref(), vectors.get(), rounds, refused.get()});
  const auto got = read(vectors, rounds * 11);
  const auto denied = refused.read();
  for (std::uint32_t v = 0; v < 4; ++v) {
    std::uint64_t refusals = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane) refusals += denied[v * 32 + lane];
    EXPECT_GT(refusals, 0u);
    EXPECT_EQ(got.values[v].size(), got.capacities[v]) << "room is left";
    EXPECT_EQ(got.values[v].size() + refusals, (rounds * 32 + 2) / 3);
    // Values may be missing in the middle: one vector gets what another has grown out of after it
    // was refused. Those that are there are in order, each once.
    std::uint32_t next = 0;
    for (const std::uint32_t value : got.values[v]) {
      ASSERT_EQ((value % 32 + value / 32) % 3, 0u);
      ASSERT_GE(value, next);
      next = value + 1;
    }
  }
  clear(subject, vectors);
}

}  // namespace
#if !WARPHEAP_CUDA_MODEL
/// Has one block, and lanes do not meet in its calls.
struct one_block {
  std::uint32_t* block;
  void* malloc(std::size_t /*bytes*/) const { return block; }
  void free(void* /*block*/) const {}
};

TEST(device_vector, it_has_its_elements_until_all_members_clear_it) {
  std::uint32_t memory[64]{};
  const one_block heap{memory};
  simt::explorer pair({1, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    words shared;
    bool was_early = false;
    const auto outcome = pair.run({simt::strategy::uniform, seed}, [&] {
      const simt::group both = simt::warp();
      shared.push(heap, both, true, 7);
      for (int pauses = 0; pauses < 4; ++pauses) simt::backoff(1);
      if (shared.size() != 2) was_early = true;
      shared.clear(heap, both);
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_FALSE(was_early) << seed;
  }
}
#endif

}  // namespace test
WARPHEAP_END_NAMESPACE
