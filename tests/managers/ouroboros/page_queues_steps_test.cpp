// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a malloc and a free cost in a heap whose queues are full: counted in switch points of the
// seam, so that no clock is needed.
#include "small.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class full_queues : public tiny_heap<M> {
 protected:
  using tiny_heap<M>::manager_;

  full_queues() {
    // Smaller blocks come first, and their pages take all the room.
    give(take(16, 2000));
    give(take(32, 1000));
  }

  std::vector<void*> take(std::size_t size, int count) {
    std::vector<void*> blocks;
    this->run_alone([&] {
      for (int i = 0; i < count; ++i) blocks.push_back(manager_.malloc(size));
    });
    return blocks;
  }
  std::vector<void*> take_all(std::size_t size) {
    std::vector<void*> blocks;
    this->run_alone([&] {
      while (void* block = manager_.malloc(size)) blocks.push_back(block);
    });
    return blocks;
  }
  void give(const std::vector<void*>& blocks) {
    this->run_alone([&] {
      for (void* block : blocks) manager_.free(block);
    });
  }

  /// Steps in which lanes of `blocks` blocks of four take 64 bytes and free them again, one lane
  /// each, all at once; the most of a few schedules.
  struct cost {
    std::uint64_t of_malloc = 0;
    std::uint64_t of_free = 0;
  };
  cost all_at_once(std::uint32_t blocks) { return all_at_once(simt::grid{blocks, 4}); }
  cost all_at_once(const simt::grid& shape) {
    cost most;
    simt::explorer together(shape, 1'000'000);
    const std::uint32_t lanes = shape.blocks * shape.threads_per_block;
    std::vector<void*> held(this->most_lanes);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const simt::schedule order{simt::strategy::uniform, seed};
      const auto taking =
          together.run(order, [&] { held[simt::thread_rank()] = manager_.malloc(64); });
      EXPECT_EQ(taking.stuck, "");
      for (std::uint32_t i = 0; i < lanes; ++i) EXPECT_NE(held[i], nullptr);
      const auto giving = together.run(order, [&] { manager_.free(held[simt::thread_rank()]); });
      EXPECT_EQ(giving.stuck, "");
      most.of_malloc = std::max(most.of_malloc, taking.steps);
      most.of_free = std::max(most.of_free, giving.steps);
    }
    return most;
  }
};

using page_queues = ::testing::Types<tiny<item_kind::pages, queue_kind::static_array>,
                                     tiny<item_kind::pages, queue_kind::virtual_array>,
                                     tiny<item_kind::pages, queue_kind::virtual_list>>;
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

template <class M>
class parked_pages : public full_queues<M> {};
// With a static queue, which has room of its own for each size, most pages are not parked.
using shared_room = ::testing::Types<tiny<item_kind::pages, queue_kind::virtual_array>,
                                     tiny<item_kind::pages, queue_kind::virtual_list>>;
TYPED_TEST_SUITE(parked_pages, shared_room);

// Chunks with parked pages are few, and all behind those of other sizes. Lanes that begin to search
// anywhere among all chunks would meet in the first word that has some, and all but the one that
// wins would go on to the next one together. Here 4 of the 64 chunks of a word are parked, so 64
// lanes show what thousands would do with whole words.
TYPED_TEST(parked_pages, lanes_spread_over_them) {
  const std::vector<void*> all = this->take_all(64);
  std::vector<void*> some;
  for (std::size_t i = all.size() - 64 * 16; i < all.size(); i += 16) some.push_back(all[i]);
  this->give(some);
  const auto few = this->all_at_once(simt::grid{4, 1});
  const auto many = this->all_at_once(simt::grid{64, 1});
  EXPECT_LE(many.of_malloc, 64 / 4 * few.of_malloc * 7 / 6);
  this->RecordProperty("malloc_of_4", static_cast<int>(few.of_malloc));
  this->RecordProperty("malloc_of_64", static_cast<int>(many.of_malloc));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
