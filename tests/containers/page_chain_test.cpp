// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/containers/page_chain.hpp"

#include "fixture.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using chain = page_chain<std::uint32_t>;

/// Lane i appends runs of 1, 2, 3, 1, 2, ... elements and then single ones to its chain.
struct append_by_lane {
  heap_ref heap;
  chain* chains;
  std::uint32_t runs;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const auto me = static_cast<std::uint32_t>(simt::thread_rank());
    std::uint32_t next = me;
    refused[me] = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
      const std::uint32_t count = 1 + run % 3;
      std::uint32_t* const place = chains[me].append(heap, count);
      refused[me] += place == nullptr ? count : 0;
      for (std::uint32_t i = 0; place != nullptr && i < count; ++i) place[i] = next++;
    }
    for (std::uint32_t i = 0; i < runs; ++i) {
      const bool done = chains[me].push(heap, next);
      refused[me] += !done;
      next += done;
    }
  }
};

/// The lanes of warp w append to chain w: a run by all together, and one value of each odd lane.
struct append_by_warp {
  heap_ref heap;
  chain* chains;
  std::uint32_t rounds;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group warp = simt::warp();
    const std::uint64_t me = simt::thread_rank();
    chain& own = chains[me / simt::warp_size];
    const auto lane = static_cast<std::uint32_t>(simt::lane_id());
    refused[me] = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      std::uint32_t* const run = own.append(heap, warp, 5);
      if (run != nullptr && lane < 5) run[lane] = round * 100 + lane;
      refused[me] += run == nullptr && lane < 5;
      const bool wants = lane % 2 == 1;
      refused[me] += !own.push(heap, warp, wants, round * 100 + 10 + lane) && wants;
    }
  }
};

struct append_run {
  heap_ref heap;
  chain* to;
  std::uint32_t count;
  std::uint32_t* served;
  WARPHEAP_DEVICE void operator()() const { *served = to->append(heap, count) != nullptr; }
};

/// Overwrites what is freed. With zeroes: a lane that follows a link of a freed page finds the end.
struct erasing_heap {
  heap_ref inner;
  std::uint32_t bytes;
  WARPHEAP_DEVICE void* malloc(std::size_t wanted) const { return inner.malloc(wanted); }
  WARPHEAP_DEVICE void free(void* block) const {
    for (std::uint32_t i = 0; i < bytes; ++i) static_cast<volatile std::byte*>(block)[i] = {};
    inner.free(block);
  }
};
static_assert(containers::block_heap<erasing_heap>);

struct truncate_each {
  erasing_heap heap;
  chain* chains;
  std::uint32_t count;
  std::uint64_t keep;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (me < count && chains[me].size() > keep) chains[me].truncate(heap, keep);
  }
};

struct clear_chains {
  heap_ref heap;
  chain* chains;
  std::uint32_t count;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (me < count) chains[me].clear(heap);
  }
};

/// Warp w copies chain w to `out + w * stride`, lane 0 alone or all together, by the place that the
/// elements have in their page.
struct read_chains {
  const chain* chains;
  std::uint64_t stride;
  std::uint32_t* out;
  std::uint64_t* sizes;
  std::uint64_t* sums;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t w = simt::thread_rank() / simt::warp_size;
    const chain& own = chains[w];
    std::uint64_t sum = 0;
    own.for_each(simt::warp(), [&](std::uint32_t value) { sum += value; });
    simt::atomic_ref(sums[w]).fetch_add(sum, simt::order::relaxed);
    if (simt::lane_id() != 0) return;
    std::uint64_t at = 0;
    own.for_each_page([&](const std::uint32_t* elements, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) out[w * stride + at++] = elements[i];
    });
    sizes[w] = at;
    if (at != own.size()) sizes[w] = ~std::uint64_t{0};
  }
};

namespace {

std::vector<std::vector<std::uint32_t>> read(const device_array<chain>& chains,
                                             std::uint64_t stride) {
  const auto count = static_cast<std::uint32_t>(chains.size());
  const device_array<std::uint32_t> out(count * stride);
  const device_array<std::uint64_t> sizes(count);
  const device_array<std::uint64_t> sums(count);
  machine().launch({count, simt::warp_size},
                   read_chains{chains.get(), stride, out.get(), sizes.get(), sums.get()});
  std::vector<std::vector<std::uint32_t>> result;
  const auto all = out.read();
  for (std::size_t c = 0; c < count; ++c) {
    const std::uint64_t size = sizes.read()[c];
    EXPECT_LE(size, stride) << "the pages of chain " << c << " hold another number of elements";
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(c * stride);
    result.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size <= stride ? size : 0));
    std::uint64_t sum = 0;
    for (const std::uint32_t value : result.back()) sum += value;
    EXPECT_EQ(sums.read()[c], sum);
  }
  return result;
}

/// 64 bytes: 12 elements.
const chain small_pages{64};

void truncate(const heap<>& subject, const device_array<chain>& chains, std::uint64_t keep) {
  const auto count = static_cast<std::uint32_t>(chains.size());
  machine().launch(
      covering(count),
      truncate_each{{subject.ref(), small_pages.page_bytes()}, chains.get(), count, keep});
}

TEST(page_chain, pages_have_the_size_that_was_asked_for) {
  EXPECT_EQ(chain::capacity_of(15), 0u);
  EXPECT_EQ(chain::capacity_of(19), 0u);
  EXPECT_EQ(chain::capacity_of(64), 12u);
  EXPECT_EQ(chain{}.page_capacity(), 1020u);
}

TEST(page_chain, keeps_what_lanes_append) {
  const heap<> subject(machine(), 4_MiB);
  const device_array<chain> chains(64, small_pages);
  const device_array<std::uint32_t> refused(64, 99);
  machine().launch({1, 64}, append_by_lane{subject.ref(), chains.get(), 30, refused.get()});
  auto got = read(chains, 90);
  for (std::uint32_t c = 0; c < 64; ++c) {
    EXPECT_EQ(refused.read()[c], 0u);
    ASSERT_EQ(got[c].size(), 90u);
    for (std::uint32_t i = 0; i < 90; ++i) ASSERT_EQ(got[c][i], c + i);
  }
  truncate(subject, chains, 25);
  got = read(chains, 90);
  for (std::uint32_t c = 0; c < 64; ++c) {
    ASSERT_EQ(got[c].size(), 25u);
    ASSERT_EQ(got[c][24], c + 24);
  }
  // They go on where they were cut.
  machine().launch({1, 64}, append_by_lane{subject.ref(), chains.get(), 3, refused.get()});
  for (const auto& values : read(chains, 90)) EXPECT_EQ(values.size(), 25u + 6 + 3);
  truncate(subject, chains, 0);
  expect_nothing_left(subject);
}

TEST(page_chain, keeps_what_warps_append) {
  const heap<> subject(machine(), 4_MiB);
  const device_array<chain> chains(8, small_pages);
  const device_array<std::uint32_t> refused(256, 99);
  machine().launch({2, 128}, append_by_warp{subject.ref(), chains.get(), 20, refused.get()});
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t lane = 0; lane < 5; ++lane) expected.push_back(round * 100 + lane);
    for (std::uint32_t lane = 1; lane < 32; lane += 2) expected.push_back(round * 100 + 10 + lane);
  }
  for (const auto& values : read(chains, 420)) EXPECT_EQ(values, expected);
  for (const std::uint32_t count : refused.read()) EXPECT_EQ(count, 0u);
  truncate(subject, chains, 0);
  expect_nothing_left(subject);
}

TEST(page_chain, is_as_new_when_it_was_cleared) {
  const heap<> subject(machine(), 4_MiB);
  const device_array<chain> chains(64, small_pages);
  const device_array<std::uint32_t> refused(64, 99);
  for (int round = 0; round < 2; ++round) {
    machine().launch({1, 64}, append_by_lane{subject.ref(), chains.get(), 30, refused.get()});
    for (const auto& values : read(chains, 90)) ASSERT_EQ(values.size(), 90u);
    machine().launch({1, 64}, clear_chains{subject.ref(), chains.get(), 64});
    for (const chain& one : chains.read()) {
      ASSERT_TRUE(one.empty());
      ASSERT_EQ(one.first(), nullptr);
      EXPECT_EQ(one.page_bytes(), small_pages.page_bytes());
    }
    expect_nothing_left(subject);
  }
}

TEST(page_chain, refuses_runs_that_fit_in_no_page) {
  const heap<> subject(machine(), 1_MiB);
  const device_array<chain> chains(1, small_pages);
  for (const std::uint32_t count : {0u, 13u}) {
    const device_array<std::uint32_t> served(1, 99);
    machine().launch({1, 1}, append_run{subject.ref(), chains.get(), count, served.get()});
    EXPECT_EQ(served.read()[0], 0u) << count;
  }
  expect_nothing_left(subject);
}

TEST(page_chain, a_run_may_fill_a_page) {
  const heap<> subject(machine(), 1_MiB);
  const device_array<chain> chains(1, small_pages);
  const device_array<std::uint32_t> served(1, 99);
  machine().launch({1, 1}, append_run{subject.ref(), chains.get(), 12, served.get()});
  EXPECT_EQ(served.read()[0], 1u);
  EXPECT_EQ(chains.read()[0].size(), 12u);
  truncate(subject, chains, 0);
  expect_nothing_left(subject);
}

// A request that finds nothing takes longest: where races are looked for, there are fewer of them.
TEST(page_chain, loses_nothing_when_memory_is_exhausted) {
  const heap<> subject(machine(), 64_KiB);
  const device_array<chain> by_lanes(64, small_pages);
  const device_array<std::uint32_t> refused(128, 0);
  machine().launch({1, 64}, append_by_lane{subject.ref(), by_lanes.get(), 100, refused.get()});
  std::uint64_t kept = 0;
  const auto got = read(by_lanes, 300);
  for (std::uint32_t c = 0; c < 64; ++c) {
    EXPECT_EQ(got[c].size() + refused.read()[c], 199u + 100u);
    for (std::uint32_t i = 0; i < got[c].size(); ++i) ASSERT_EQ(got[c][i], c + i);
    kept += got[c].size();
  }
  EXPECT_LT(kept, 64u * 299);
  EXPECT_GT(kept, 1000u);
  truncate(subject, by_lanes, 0);
  expect_nothing_left(subject);

  const device_array<chain> by_warps(4, small_pages);
  const std::uint32_t rounds = race_checked ? 120 : 500;
  machine().launch({1, 128}, append_by_warp{subject.ref(), by_warps.get(), rounds, refused.get()});
  const auto denied = refused.read();
  const auto those = read(by_warps, rounds * 21);
  for (std::uint32_t w = 0; w < 4; ++w) {
    std::uint64_t refusals = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane) refusals += denied[w * 32 + lane];
    EXPECT_GT(refusals, 0u);
    EXPECT_EQ(those[w].size() + refusals, rounds * 21);
  }
  truncate(subject, by_warps, 0);
  expect_nothing_left(subject);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
