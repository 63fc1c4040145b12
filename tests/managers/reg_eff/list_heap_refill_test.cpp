// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why an emptied heap holds fewer blocks than a new one, and that nothing of it is lost.
#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::size_t bytes = 112;
constexpr std::size_t granule = 16;
constexpr std::size_t need = 8 * granule;  // with either header

template <class M>
constexpr std::size_t header_bytes = 0;
template <reg_eff_config Config>
constexpr std::size_t header_bytes<reg_eff<Config>> = Config.header_bytes();

template <class M>
class refilled : public testing::Test {
 protected:
  /// Blocks of all sizes come and go, at as many places as there are lanes.
  void use() {
    one_worker_.launch({2, 32}, [ref = heap_.ref()] {
      random_sequence random(simt::thread_rank() + 1);
      std::array<void*, 8> held{};
      for (int step = 0; step < 200; ++step) {
        void*& block = held[random.below(held.size())];
        if (block != nullptr) ref.free(block);
        block = ref.malloc(16 + random.below(1500));
      }
      for (void* const block : held) {
        if (block != nullptr) ref.free(block);
      }
    });
  }

  /// Blocks until there are no more: of `lanes` lanes, and then of a lone one. By address.
  std::vector<std::byte*> fill(unsigned lanes) {
    std::vector<std::vector<std::byte*>> taken(lanes + 1);
    const auto take = [&](std::vector<std::byte*>& mine) {
      while (void* const block = heap_.ref().malloc(bytes)) {
        mine.push_back(static_cast<std::byte*>(block));
      }
    };
    one_worker_.launch({1, lanes}, [&] { take(taken[simt::thread_rank()]); });
    one_worker_.launch({1, 1}, [&] { take(taken[lanes]); });
    std::vector<std::byte*> all;
    for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  void empty(const std::vector<std::byte*>& blocks) {
    one_worker_.launch({1, 1}, [&] {
      for (std::byte* const block : blocks) heap_.ref().free(block);
    });
  }
  std::size_t chunk_bytes(std::byte* block) {
    std::size_t usable = 0;
    one_worker_.launch({1, 1}, [&] { usable = heap_.ref().usable_size(block); });
    return usable + header_bytes<M>;
  }

  /// So that each run is the same.
  const device one_worker_ = device::cpu({.workers = 1});
  const warpheap::heap<M> heap_{one_worker_, 64_KiB};
};

using variants =
    testing::Types<reg_eff<>, reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor,
                                                     .header_words = 1}>>;
TYPED_TEST_SUITE(refilled, variants);

TYPED_TEST(refilled, what_is_missing_is_inside_blocks_or_in_gaps_that_are_too_short) {
  const auto fresh = this->fill(1);
  this->empty(fresh);
  this->use();
  const auto now = this->fill(16);

  // A chunk is split if it has room for two: so the rest of less than one stays in the block.
  // Chunks merge as far as one request needs: so a gap between two blocks has no room for one.
  std::size_t inside = 0;
  std::size_t between = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::size_t chunk = this->chunk_bytes(now[i]);
    EXPECT_LT(chunk, 2 * need);
    inside += chunk - need;
    if (i + 1 == now.size()) break;
    const auto gap = static_cast<std::size_t>(now[i + 1] - now[i]) - chunk;
    EXPECT_LT(gap, need);
    between += gap;
  }
  // All is accounted for: the same bytes from the first to the last one, but for the two ends.
  const auto span = static_cast<std::size_t>(now.back() - now.front());
  EXPECT_EQ(now.size() * need + inside + between, span + this->chunk_bytes(now.back()));
  const std::size_t missing = (fresh.size() - now.size()) * need;
  EXPECT_GT(missing, 0u) << "this load leaves no pieces, so the test shows nothing";
  EXPECT_LE(missing, inside + between + 2 * need);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
