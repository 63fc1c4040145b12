// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request does while others hold what it needs, and do not give it back.
#include "tiny.hpp"

#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class borrowed_chunks : public tiny_heap<M> {};
using chunk_queues = ::testing::Types<tiny<item_kind::chunks, queue_kind::static_array>,
                                      tiny<item_kind::chunks, queue_kind::virtual_array>,
                                      tiny<item_kind::chunks, queue_kind::virtual_list>>;
TYPED_TEST_SUITE(borrowed_chunks, chunk_queues);

// Wholly free chunks of another size, the units of which a lane holds for longer than any lane
// waits. On a GPU, a million lanes that borrowed from each other never ended.
TYPED_TEST(borrowed_chunks, are_not_waited_for_without_end) {
  this->run_alone([&] {
    std::vector<void*> blocks;
    while (void* block = this->manager_.malloc(16)) blocks.push_back(block);
    for (void* block : blocks) this->manager_.free(block);
  });
  const auto units = this->manager_.map().units(0);
  std::uint32_t held = 0;
  void* block = nullptr;
  this->run_alone([&] { held = units.borrow_up_to(1u << 20); });
  EXPECT_GT(held, 0u);
  this->run_alone([&] { block = this->manager_.malloc(32); });
  EXPECT_EQ(block, nullptr);
  this->run_alone([&] { units.deliver(held, held); });
  this->run_alone([&] { block = this->manager_.malloc(32); });
  EXPECT_NE(block, nullptr);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
