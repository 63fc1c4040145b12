// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far a class that keeps an order grows when lanes add chunks, or take them, at the same time.
#include "any_schedule.hpp"
#include "rubbish.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace literals;

// Of two lanes that announce the same chunks, one adds them. If those of the other one counted as
// coming from then on, the class would not grow by what it needs any more.
TEST(ordered_words, no_chunk_is_coming_once_all_requests_are_over) {
  const rubbish memory(32_KiB);
  const warpheap_manager<small_in_order> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  std::uint32_t slots = 0;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    slots = parts.classes().slots(of).count;
    while (parts.classes().of(of).turns.population <= parts.orders().first(slots)) {
      subject.malloc(16);
    }
  });
  const auto before = memory.contents();
  simt::explorer two({2, 1}, 100'000);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::copy(before.begin(), before.end(), memory.all().base);
    const auto outcome = two.run(any_schedule(seed), [&] {
      for (std::uint32_t i = 0; i < 2 * slots; ++i) subject.malloc(16);
    });
    ASSERT_EQ(outcome.stuck, "") << seed;
    ASSERT_EQ(parts.orders().coming(of), 0u) << seed;
  }
}

// A class has lost nearly all chunks, and a multiprocessor remembers that it has them. Its lanes
// look for slots there in vain. If their places went on as far as that, the class would take as
// many chunks again before it has a use for them.
TEST(ordered_words, a_place_does_not_go_on_to_chunks_that_the_class_has_lost) {
  const rubbish memory(64_KiB);
  const warpheap_manager<small_in_order> subject(memory.all(), machine().properties(), {});
  const auto& parts = subject.parts();
  const std::uint32_t of = parts.classes().sizes().class_of(16);
  std::uint32_t& population = parts.classes().of(of).turns.population;
  constexpr std::uint32_t kept = 8;
  machine().launch({1, 1}, [&] {
    subject.format(0, 1);
    block_list blocks;
    while (void* const block = subject.malloc(16)) blocks.push_back(static_cast<std::byte*>(block));
    std::byte* const first = *std::min_element(blocks.begin(), blocks.end());
    std::set<std::uint32_t> full;
    for (std::uint32_t i = 0; i < kept; ++i) full.insert(parts.classes().named(of, i, 0).chunk);
    for (std::byte* const block : blocks) {
      if (!full.contains(static_cast<std::uint32_t>((block - first) / 256))) subject.free(block);
    }
    parts.orders().format(0, 1);
  });
  const std::uint32_t slots = parts.classes().slots(of).count;
  const std::uint32_t places = parts.orders().places();
  ASSERT_GT(population, 10 * kept);
  ASSERT_GT(places, 2u);
  const std::vector<std::byte> before = memory.contents();
  simt::explorer two({2, 1}, 200'000);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::copy(before.begin(), before.end(), memory.all().base);
    std::uint32_t has_lost = 0;  // relaxed: it says that, and orders nothing
    const auto outcome = two.run({simt::strategy::uniform, seed, simt::memory_model::weak}, [&] {
      const simt::atomic_ref lost(has_lost);
      if (simt::block_rank() != 0) {
        for (std::uint32_t left = population - kept; left != 0; --left) {
          warpheap_chunk_moves<small_in_order>::take(parts, 1);
        }
        lost.store(1, simt::order::relaxed);
        return;
      }
      simt::load_hint(population);
      // Ends: the other lane waits for nothing, and pauses let it run.
      while (lost.load(simt::order::relaxed) == 0) simt::backoff(100);
      for (int i = 0; i < 20; ++i) warpheap_ordered_words<small_in_order>(parts, of).take(true);
    });
    ASSERT_EQ(outcome.stuck, "");
    machine().launch({1, 1}, [&] {
      for (std::uint32_t at = 0; at < places; ++at) {
        const auto next = parts.orders().hand_out(of, at, 0, slots, slots);
        // Its next chunk if it has used all that the class has, or the one after that.
        ASSERT_LE(next.chunk, population + 2 * places) << seed;
      }
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
