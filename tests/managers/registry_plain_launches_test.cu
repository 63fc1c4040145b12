// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of 1024 threads per block by kernels without launch bounds. CUDA refuses one whose
// threads need more than 64 registers ("too many resources requested for launch").
#include "conformance/kernels.hpp"
#include "device_array.hpp"
#include "manager_names.hpp"
#include "plain_kernels.hpp"
#include "warpheap/registry.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What a program of lanes needs is not limited by launch bounds here.
template <class Functor>
__global__ void run_plainly(Functor functor) {
  functor();
}

/// Lane i stamps the i-th block with i.
struct stamp_blocks {
  void* const* blocks;
  std::uint64_t bytes;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (blocks[rank] != nullptr) stamp(blocks[rank], bytes, rank);
  }
};

/// Lanes use a block of a warp heap and end it.
template <class M>
struct use_warp_heap {
  handle<M> from;
  std::uint64_t bytes;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const auto mine = from.begin();
    void* block = from.malloc(mine, bytes);
    if (block == nullptr) {
      tally::add(found->nulls);
    } else {
      stamp(block, bytes, simt::thread_rank());
      simt::backoff(50);
      if (!is_stamped(block, bytes, simt::thread_rank())) tally::add(found->corrupted);
    }
    from.end(mine);
  }
};

template <class M>
struct subject_of {
  using manager = M;
};

namespace {

constexpr std::uint32_t largest_block = 1024;
constexpr std::uint64_t bytes = 48;

/// A grid that fills the device, of blocks of 1024 threads: runs `kernel(arguments...)` and waits.
struct plain_launch {
  std::uint32_t blocks = machine().properties().multiprocessors;
  std::uint64_t lanes = std::uint64_t{blocks} * largest_block;

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), const Arguments&... arguments) const {
    kernel<<<blocks, largest_block>>>(arguments...);
    const cudaError_t launched = cudaGetLastError();
    ASSERT_EQ(launched, cudaSuccess) << cudaGetErrorString(launched);
    const cudaError_t ended = cudaDeviceSynchronize();
    ASSERT_EQ(ended, cudaSuccess) << cudaGetErrorString(ended);
  }
};

template <class M>
class plain_launches : public ::testing::Test {
 protected:
  const plain_launch launch{};
  const heap<M> from{machine(), std::size_t{512} << 20};
  const device_array<tally> found{1};
  const device_array<void*> blocks{launch.lanes};
  std::vector<void*> taken;

  void all_lanes_are_served() {
    ASSERT_NO_FATAL_FAILURE(
        launch(&allocate_plainly<subject_of<M>>, from.ref(), blocks.get(), bytes));
    taken = blocks.read();
    EXPECT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0);
  }

  void blocks_hold_what_is_written_and_come_back() {
    // A block that two lanes have could hold what only one of them wrote.
    if (!M::about.keeps_blocks_apart()) return;
    EXPECT_EQ(std::set<void*>(taken.begin(), taken.end()).size(), launch.lanes);
    constexpr bool counts = M::about.frees && M::about.uses_region;
    if (counts) EXPECT_EQ(from.stats().blocks_in_use, launch.lanes);
    ASSERT_NO_FATAL_FAILURE(launch(&run_plainly<stamp_blocks>, stamp_blocks{blocks.get(), bytes}));
    const device_array<std::uint64_t> sizes(std::vector<std::uint64_t>(launch.lanes, bytes));
    std::vector<std::uint64_t> other(launch.lanes);
    for (std::uint64_t i = 0; i < launch.lanes; ++i) other[i] = launch.lanes - 1 - i;
    const device_array<std::uint64_t> whose(other);
    using frees = check_and_free<handle<M>>;
    ASSERT_NO_FATAL_FAILURE(launch(
        &run_plainly<frees>,
        frees{from.ref(), sizes.get(), blocks.get(), whose.get(), launch.lanes, found.get()}));
    if (counts) {
      EXPECT_EQ(from.stats().blocks_in_use, 0u);
      EXPECT_EQ(from.stats().bytes_in_use, 0u);
    }
  }

  void heaps_of_warps_serve_and_end() {
    using uses = use_warp_heap<M>;
    ASSERT_NO_FATAL_FAILURE(launch(&run_plainly<uses>, uses{from.ref(), bytes, found.get()}));
    EXPECT_EQ(found.read().front().nulls, 0u);
    EXPECT_EQ(from.stats().bytes_in_use, 0u);
  }
};

TYPED_TEST_SUITE(plain_launches, managers::apply<::testing::Types>, manager_names);

TYPED_TEST(plain_launches, blocks_of_1024_threads_are_served) {
  ASSERT_NO_FATAL_FAILURE(this->all_lanes_are_served());
  if constexpr (block_manager<TypeParam>) {
    this->blocks_hold_what_is_written_and_come_back();
  } else {
    this->heaps_of_warps_serve_and_end();
  }
  EXPECT_EQ(this->found.read().front().corrupted, 0u);
  EXPECT_TRUE(this->from.validate().ok()) << this->from.validate().describe();
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
