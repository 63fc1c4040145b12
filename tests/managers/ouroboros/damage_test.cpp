// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant, and words that it could miss.
#include "damage.hpp"
#include "refusal_steps.hpp"
#include "rubbish.hpp"

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/ouroboros/memory_map.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr ouroboros_config few_small_chunks{.queue = queue_kind::static_array,
                                            .item = item_kind::chunks,
                                            .smallest_page = 16,
                                            .queues = 3,
                                            .second_queues = 1};

TEST(ouroboros_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<ouroboros<few_small_chunks>>(12 * 1024, {16, 24, 64, 128},
                                                     {{1, {72, 572}},
                                                      {2, {67, 4559}},
                                                      {4, {17, 594}},
                                                      {5, {22, 46066}},
                                                      {6, {33, 1399}},
                                                      {7, {19, 334}}});
}

using ouroboros_parts::chunk_state;

template <class M>
class ouroboros_inspection : public ::testing::Test {};
using both_items = ::testing::Types<
    ouroboros<ouroboros_config{.queue = queue_kind::static_array, .item = item_kind::pages}>,
    ouroboros<ouroboros_config{.queue = queue_kind::static_array, .item = item_kind::chunks}>>;
TYPED_TEST_SUITE(ouroboros_inspection, both_items);

// Behind the words of the chunks there is one that looks like a chunk with free pages.
TYPED_TEST(ouroboros_inspection, an_entry_with_the_number_of_chunks_is_none_of_a_chunk) {
  const rubbish memory(1024 * 1024);
  const TypeParam manager(memory.all(), {}, {});
  manager.format(0, 1);
  const auto& map = manager.map();
  const std::uint32_t behind = map.chunk_count();
  ASSERT_NE(behind % 32, 0u) << "words behind those of the chunks belong to nothing else";
  map.table().set(behind, chunk_state::data(0, 1));
  ASSERT_FALSE(map.table().page_is_free(behind, 1));
  const auto queue = map.queue(0);
  using map_type = std::decay_t<decltype(map)>;
  const std::uint64_t entry = map_type::pages ? std::uint64_t{behind} * 512 + 1 : behind;
  queue.put(queue.draw_back(1), static_cast<typename map_type::value_type>(entry));
  inspection found;
  manager.inspect(0, 1, found);
  EXPECT_EQ(found.violations[4], 1u);
}

// Free would take a page of the second run for one of the first, which does not reach that far.
TYPED_TEST(ouroboros_inspection, a_tail_belongs_to_the_run_that_it_lies_in) {
  const rubbish memory(1024 * 1024);
  const TypeParam manager(memory.all(), {}, {});
  manager.format(0, 1);
  const auto& map = manager.map();
  std::uint32_t heads[2];
  steps({1, 1}, [&] {
    for (std::uint32_t& head : heads) {
      void* const block = manager.malloc(manager.largest_block());
      head = static_cast<std::uint32_t>(map.offset_of(block) >> 13);  // chunks of 8 KiB
    }
  });
  ASSERT_NE(heads[0], heads[1]);
  const std::uint32_t first = std::min(heads[0], heads[1]);
  const std::uint32_t second = std::max(heads[0], heads[1]);
  inspection found;
  manager.inspect(0, 1, found);
  ASSERT_EQ(found.violations[1], 0u);
  map.table().set(second + 1, chunk_state::tail(second + 1 - first));
  manager.inspect(0, 1, found);
  EXPECT_EQ(found.violations[1], 2u) << "by the run that misses it, and by the tail itself";
  // Nor may it pass for a chunk of its own, all of whose pages are in use.
  found = {};
  map.table().set(second + 1, chunk_state::data(map.table().get(second).cls(), 0));
  manager.inspect(0, 1, found);
  EXPECT_NE(found.violations[1], 0u);
}

template <queue_kind Queue>
using pages_in = ouroboros<ouroboros_config{.queue = Queue, .item = item_kind::pages}>;

TEST(ouroboros_page_inspection, an_entry_is_of_its_class_and_not_parked) {
  constexpr std::uint64_t most_pages = 512;
  const rubbish memory(1024 * 1024);
  const pages_in<queue_kind::static_array> manager(memory.all(), {}, {});
  manager.format(0, 1);
  const auto& map = manager.map();
  std::uint64_t other = 0;
  steps({1, 1}, [&] {
    manager.malloc(4096);
    other = map.offset_of(manager.malloc(2048)) >> 13;  // chunks of 8 KiB
  });
  inspection found;
  manager.inspect(0, 1, found);
  EXPECT_EQ(found.violations[4], 0u);
  const auto queue = map.queue(8);
  ASSERT_EQ(queue.size(), 1u);
  std::uint64_t entry = 0;
  ASSERT_TRUE(queue.peek(queue.first(), entry));
  map.table().free_page(static_cast<std::uint32_t>(entry / most_pages),
                        static_cast<std::uint32_t>(entry % most_pages));
  manager.inspect(0, 1, found);
  EXPECT_EQ(found.violations[4], 1u) << "it is parked as well";
  queue.put(queue.draw_back(1), other * most_pages);
  found = {};
  manager.inspect(0, 1, found);
  EXPECT_EQ(found.violations[4], 2u) << "one is of another class";
}

template <class M>
void expect_room_to_be_counted() {
  const rubbish memory(1024 * 1024);
  const M manager(memory.all(), {}, {});
  inspection found;
  steps({1, 1}, [&] {
    manager.format(0, 1);
    manager.malloc(16);
    manager.inspect(0, 1, found);
    EXPECT_EQ(found.violations[2], 0u);
    manager.map().page_queue(0).room().signal(1);
    manager.inspect(0, 1, found);
  });
  EXPECT_EQ(found.violations[2], 1u);
}

TEST(ouroboros_page_inspection, room_that_no_position_has_left_is_wrong) {
  expect_room_to_be_counted<pages_in<queue_kind::static_array>>();
  expect_room_to_be_counted<pages_in<queue_kind::virtual_array>>();
  expect_room_to_be_counted<pages_in<queue_kind::virtual_list>>();
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
