// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a malloc and a free cost in a heap whose queues are full: counted in switch points of the
// seam, so that no clock is needed.
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Chunks of 64 bytes; a queue chunk has eight entries.
template <queue_kind Queue>
using tiny_pages = ouroboros<ouroboros_config{
    .queue = Queue, .item = item_kind::pages, .smallest_page = 16, .queues = 3}>;

template <class M>
class full_queues : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = 256 * 1024;
  static constexpr std::size_t most_lanes = 64;

  full_queues() : manager_(region{memory_->all, bytes}, machine(), {}) {
    std::memset(memory_->all, 0xcd, bytes);
    manager_.format(0, 1);
    // Smaller blocks come first, and their pages take all the room.
    give(take(16, 2000));
    give(take(32, 1000));
  }

  std::vector<void*> take(std::size_t size, int count) {
    std::vector<void*> blocks;
    alone_.run({simt::strategy::sticky, 1}, [&] {
      for (int i = 0; i < count; ++i) blocks.push_back(manager_.malloc(size));
    });
    return blocks;
  }
  void give(const std::vector<void*>& blocks) {
    alone_.run({simt::strategy::sticky, 1}, [&] {
      for (void* block : blocks) manager_.free(block);
    });
  }

  /// Steps in which lanes of `blocks` blocks of four take 64 bytes and free them again, one lane
  /// each, all at once; the most of a few schedules.
  struct cost {
    std::uint64_t of_malloc = 0;
    std::uint64_t of_free = 0;
  };
  cost all_at_once(std::uint32_t blocks) {
    cost most;
    simt::explorer together({blocks, 4}, 1'000'000);
    std::vector<void*> held(most_lanes);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const simt::schedule order{simt::strategy::uniform, seed};
      const auto taking =
          together.run(order, [&] { held[simt::thread_rank()] = manager_.malloc(64); });
      EXPECT_EQ(taking.stuck, "");
      for (std::uint32_t i = 0; i < 4 * blocks; ++i) EXPECT_NE(held[i], nullptr);
      const auto giving = together.run(order, [&] { manager_.free(held[simt::thread_rank()]); });
      EXPECT_EQ(giving.stuck, "");
      most.of_malloc = std::max(most.of_malloc, taking.steps);
      most.of_free = std::max(most.of_free, giving.steps);
    }
    return most;
  }

 private:
  static simt::device_properties machine() {
    simt::device_properties properties;
    properties.multiprocessors = 2;
    properties.resident_threads = most_lanes;
    return properties;
  }

  struct alignas(4096) space {
    std::byte all[bytes];
  };
  std::unique_ptr<space> memory_ = std::make_unique<space>();
  M manager_;
  simt::explorer alone_{{1, 1}, 4'000'000};
};

using page_queues =
    ::testing::Types<tiny_pages<queue_kind::static_array>, tiny_pages<queue_kind::virtual_array>,
                     tiny_pages<queue_kind::virtual_list>>;
TYPED_TEST_SUITE(full_queues, page_queues);

// Lanes that meet in one word and each repeat until they win take steps as the square of their
// number: 64 times as many for eight times the lanes.
TYPED_TEST(full_queues, steps_grow_as_the_number_of_lanes) {
  const auto few = this->all_at_once(2);
  const auto many = this->all_at_once(16);
  EXPECT_LE(many.of_free, 8 * few.of_free * 3 / 2);
  EXPECT_LE(many.of_malloc, 8 * few.of_malloc * 3 / 2);
  this->RecordProperty("free_of_8", static_cast<int>(few.of_free));
  this->RecordProperty("free_of_64", static_cast<int>(many.of_free));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
