// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request does while others hold what it needs, and do not give it back.
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Chunks of 64 bytes for pages of 16, 32 and 64.
template <queue_kind Queue>
using tiny_chunks = ouroboros<ouroboros_config{
    .queue = Queue, .item = item_kind::chunks, .smallest_page = 16, .queues = 3}>;

template <class M>
class borrowed_chunks : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = 64 * 1024;
  struct alignas(4096) space {
    std::byte all[bytes];
  };

  borrowed_chunks() : manager_(region{memory_->all, bytes}, machine(), {}) {
    std::memset(memory_->all, 0xcd, bytes);
    manager_.format(0, 1);
  }
  static simt::device_properties machine() {
    simt::device_properties properties;
    properties.multiprocessors = 1;
    properties.resident_threads = 32;
    return properties;
  }
  /// One lane; what it waits for in vain is reported as stuck.
  template <class Lane>
  void run(const Lane& lane) {
    EXPECT_EQ(alone_.run({simt::strategy::sticky, 1}, lane).stuck, "");
  }

  std::unique_ptr<space> memory_ = std::make_unique<space>();
  M manager_;
  simt::explorer alone_{{1, 1}, 4'000'000};
};

using chunk_queues =
    ::testing::Types<tiny_chunks<queue_kind::static_array>, tiny_chunks<queue_kind::virtual_array>,
                     tiny_chunks<queue_kind::virtual_list>>;
TYPED_TEST_SUITE(borrowed_chunks, chunk_queues);

// Wholly free chunks of another size, the units of which a lane holds for longer than anybody
// waits. On a GPU, a million lanes that borrowed from each other never ended.
TYPED_TEST(borrowed_chunks, are_not_waited_for_without_end) {
  this->run([&] {
    std::vector<void*> blocks;
    while (void* block = this->manager_.malloc(16)) blocks.push_back(block);
    for (void* block : blocks) this->manager_.free(block);
  });
  const auto units = this->manager_.map().units(0);
  std::uint32_t held = 0;
  void* block = nullptr;
  this->run([&] { held = units.borrow_up_to(1u << 20); });
  EXPECT_GT(held, 0u);
  this->run([&] { block = this->manager_.malloc(32); });
  EXPECT_EQ(block, nullptr);
  this->run([&] { units.deliver(held, held); });
  this->run([&] { block = this->manager_.malloc(32); });
  EXPECT_NE(block, nullptr);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
