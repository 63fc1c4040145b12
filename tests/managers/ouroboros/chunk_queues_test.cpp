// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request does while others hold what it needs, and do not give it back.
#include "any_schedule.hpp"
#include "small.hpp"

#include "warpheap/managers/ouroboros/chunk_queues.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
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

// Two lanes free pages of two chunks, one of which is wholly free then, and one lane counts them
// for both. A lane that sees the count can have that chunk for pages of another size.
TYPED_TEST(borrowed_chunks, are_there_for_a_lane_that_sees_their_pages_counted) {
  auto& all = this->manager_;
  const auto& map = all.map();
  const ouroboros_parts::chunk_queues<std::decay_t<decltype(map)>> queues(map);
  constexpr std::size_t pages = 4;
  std::array<void*, 2 * pages> blocks{};
  bool is_missed = false;
  int met = 0;
  const auto begin = [&] {
    this->run_alone([&] {
      all.format(0, 1);
      for (void*& block : blocks) block = all.malloc(16);
      std::sort(blocks.begin(), blocks.end());
      for (std::size_t i = 1; i < pages; ++i) all.free(blocks[i]);
    });
  };
  const auto lane = [&] {
    const auto number = static_cast<std::size_t>(simt::lane_id());
    if (simt::block_rank() == 0) return all.free(blocks[number == 0 ? pages : 0]);
    if (number != 0) return;
    for (int tries = 0; tries < 40; ++tries) {
      if (map.units(0).read(simt::order::acquire).count == pages + 1) {
        ++met;
        is_missed = !queues.reclaim(1);
        return;
      }
      simt::backoff(1);
    }
  };
  simt::explorer two_warps({2, 2}, 20'000);
  expect_in_schedules(two_warps, WARPHEAP_TEST_SANITIZED ? 500 : 2000, begin, lane,
                      [&] { return is_missed; });
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
