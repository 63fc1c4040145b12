// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several heaps of the default manager, used at once by kernels in several queues: blocks of any
// heap go from lane to lane, also between the kernels, and go back to the heap that they are from.
#include "conformance/kernels.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "take_and_give.hpp"

#include "warpheap/simt/device_memory.hpp"
#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::size_t heap_count = 3;

/// Three heaps as if they were one. A lane takes from another one each time, and neighbours from
/// different ones.
struct any_of_three {
  heap_ref heaps[heap_count];
  const std::byte* regions[heap_count];
  std::size_t bytes;  ///< of each region
  /// The calls to each heap that returned null.
  std::uint64_t* nulls;

  WARPHEAP_DEVICE void* malloc(std::size_t wanted) const {
    const std::size_t which = (simt::noise() >> 32) % heap_count;
    void* const block = heaps[which].malloc(wanted);
    if (block == nullptr) tally::add(nulls[which]);
    return block;
  }
  WARPHEAP_DEVICE void free(void* block) const {
    for (std::size_t i = 0; i < heap_count; ++i) {
      const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - regions[i]);
      if (offset < bytes) return heaps[i].free(block);
    }
  }
};

using exchange = exchange_blocks<any_of_three>;

TEST(several_heaps, kernels_in_several_queues_use_them_at_once) {
  constexpr std::size_t heap_bytes = sanitized ? 256_KiB : 4_MiB;
  constexpr std::uint64_t lanes = WARPHEAP_CUDA_MODEL ? 1u << 16 : sanitized ? 64 : 1024;
  constexpr std::uint32_t rounds = WARPHEAP_CUDA_MODEL ? 64 : 24;
  constexpr int launches = WARPHEAP_CUDA_MODEL ? 10 : 2;
  std::vector<device_memory> regions;
  std::vector<heap<default_manager>> heaps;
  for (std::size_t i = 0; i < heap_count; ++i) {
    regions.emplace_back(machine(), heap_bytes);
    heaps.emplace_back(machine(), region{regions.back().get(), heap_bytes});
  }
  // As many boxes as hold more than the heaps: these are full most of the time.
  const device_array<std::uint64_t> boxes(3 * heap_count * heap_bytes / 512);
  const device_array<std::uint64_t> nulls(heap_count);
  const device_array<tally> found(1);
  exchange lane{{{heaps[0].ref(), heaps[1].ref(), heaps[2].ref()},
                 {regions[0].get(), regions[1].get(), regions[2].get()},
                 heap_bytes,
                 nulls.get()},
                {exchange::least_bytes, 1024},
                rounds,
                0,
                boxes.get(),
                static_cast<std::uint32_t>(boxes.size()),
                found.get()};
  std::array<std::size_t, heap_count> held{};
  for (std::size_t i = 0; i < heap_count; ++i) {
    const block_list all = take_all(heaps[i], 1024, lanes);
    held[i] = all.size();
    give(heaps[i], all);
    heaps[i].reset();  // its failures are forgotten
  }

  const std::array queues{machine().queue(), machine().queue(), machine().queue(),
                          machine().queue()};
  machine().synchronize();
  for (int launch = 0; launch < launches; ++launch) {
    for (const device& queue : queues) {
      ++lane.seed;
      queue.launch(covering(lanes), lane);
    }
  }
  for (const device& queue : queues) queue.synchronize();
  machine().launch(covering(boxes.size()), empty_boxes<any_of_three>{lane});

  EXPECT_EQ(found.read().front().corrupted, 0u);
  const std::vector<std::uint64_t> refused = nulls.read();
  for (std::size_t i = 0; i < heap_count; ++i) {
    EXPECT_GT(refused[i], 0u) << "heap " << i << " was never full";
    EXPECT_EQ(heaps[i].stats().failures, refused[i]);
    EXPECT_EQ(heaps[i].stats().blocks_in_use, 0u);
    EXPECT_EQ(heaps[i].stats().bytes_in_use, 0u);
    expect_valid(heaps[i]);
    EXPECT_EQ(take_all(heaps[i], 1024, lanes).size(), held[i]) << "memory was lost";
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
