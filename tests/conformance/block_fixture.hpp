// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/kernels.hpp"
#include "conformance/registration.hpp"
#include "conformance/scale.hpp"
#include "conformance/traits.hpp"
#include "device_array.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Blocks that lanes hold, by the rank of the lane that asked, and how large each is.
struct holding {
  std::vector<std::uint64_t> bytes;
  std::vector<void*> blocks;
};

inline holding both(holding one, const holding& other) {
  one.bytes.insert(one.bytes.end(), other.bytes.begin(), other.bytes.end());
  one.blocks.insert(one.blocks.end(), other.blocks.begin(), other.blocks.end());
  return one;
}

/// No two blocks share a byte, and each starts at a multiple of `alignment`.
inline void expect_disjoint(const holding& held, std::size_t alignment) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;  // first byte, one past the last
  for (std::size_t i = 0; i < held.blocks.size(); ++i) {
    if (held.blocks[i] == nullptr) continue;
    const auto start = reinterpret_cast<std::uint64_t>(held.blocks[i]);
    ASSERT_EQ(start % alignment, 0u) << "the block of request " << i << " of " << held.bytes[i]
                                     << " bytes is not aligned to " << alignment;
    spans.emplace_back(start, start + held.bytes[i]);
  }
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 1; i < spans.size(); ++i) {
    ASSERT_LE(spans[i - 1].second, spans[i].first)
        << "two blocks of " << spans[i - 1].second - spans[i - 1].first << " and "
        << spans[i].second - spans[i].first << " bytes overlap";
  }
}

/// 0, 1, ..., count-1 in an order that takes every block to another lane, warp and block.
inline std::vector<std::uint64_t> shuffled(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  random_sequence random(seed);
  for (std::uint64_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  }
  return order;
}

/// What the tests of a manager of blocks share. Everything random comes from `seed`, which a
/// failure prints.
template <class M>
class block_fixture : public ::testing::Test {
 public:
  using heap_type = heap<M>;
  using handle_type = handle<M>;
  using traits = manager_traits<M>;

  static constexpr capabilities about = M::about;
  static constexpr std::uint64_t seed = 20260117;
  static constexpr bool any_size = any_size_manager<M>;

  /// A heap that serves requests of up to `largest` bytes, the size of its pages where it has any.
  static std::shared_ptr<heap_type> make_heap(std::size_t largest, std::size_t heap_bytes = 0) {
    const auto made = [&] {
      const std::size_t bytes = heap_bytes != 0 ? heap_bytes : usual_heap_bytes();
      return std::make_shared<heap_type>(machine(), bytes, options_for<M>(largest));
    };
    if constexpr (M::about.uses_region) {
      return made();
    } else {
      // The device's own heap is made once in the life of a process; tests give all blocks back.
      static const std::shared_ptr<heap_type> only = made();
      return only;
    }
  }

  static std::size_t usual_heap_bytes() {
    return std::max(scale::current().heap_bytes, traits::least_heap_bytes);
  }

  /// Blocks that tests fill heaps with, roughly.
  static std::uint64_t fill_blocks() {
    return std::min(scale::current().fill_blocks, traits::most_fill_blocks);
  }

  /// The size of the blocks that tests fill heaps with.
  static std::uint64_t fill_bytes() {
    if (traits::refill_bytes != 0) return traits::refill_bytes;
    return served<M>(round_up<std::size_t>(usual_heap_bytes() / fill_blocks(), 16));
  }

  /// A heap for about `blocks` blocks of that size.
  static std::shared_ptr<heap_type> make_fill_heap(std::uint64_t blocks = fill_blocks()) {
    return make_heap(fill_bytes(),
                     std::max<std::size_t>(traits::least_heap_bytes, blocks * fill_bytes()));
  }

  /// `count` requests of `bytes`, or fewer if those were more than a quarter of the heap.
  static std::vector<std::uint64_t> requests(std::uint64_t count, std::uint64_t bytes) {
    const std::uint64_t most = usual_heap_bytes() / 4 / std::max<std::uint64_t>(bytes, 64);
    return std::vector<std::uint64_t>(std::min(count, most), bytes);
  }

  /// `count` requests of 1..`most` bytes at random, under the same limit.
  static std::vector<std::uint64_t> mixed_requests(std::uint64_t count, std::uint32_t most) {
    auto sizes = requests(count, most);
    random_sequence random(seed);
    for (auto& bytes : sizes) bytes = 1 + random.below(most);
    return sizes;
  }

  static holding take(const heap_type& from, const std::vector<std::uint64_t>& sizes) {
    const device_array<std::uint64_t> bytes(sizes);
    const device_array<void*> blocks(sizes.size());
    machine().launch(covering(sizes.size()),
                     allocate<handle_type>{from.ref(), bytes.get(), blocks.get(), sizes.size()});
    return {sizes, blocks.read()};
  }

  /// Every block is checked and freed by the lane that `whose` names; expects no corruption.
  static void give(const heap_type& to, const holding& held,
                   const std::vector<std::uint64_t>& whose) {
    const device_array<std::uint64_t> bytes(held.bytes);
    const device_array<void*> blocks(held.blocks);
    const device_array<std::uint64_t> order(whose);
    const device_array<tally> found(1);
    machine().launch(covering(whose.size()),
                     check_and_free<handle_type>{to.ref(), bytes.get(), blocks.get(), order.get(),
                                                 whose.size(), found.get()});
    EXPECT_EQ(found.read()[0].corrupted, 0u) << "blocks lost their contents";
  }

  static void give(const heap_type& to, const holding& held) {
    give(to, held, shuffled(held.blocks.size(), seed));
  }

  /// Takes blocks until all lanes, and in the end a single one, get null.
  static holding take_all(const heap_type& from, std::uint64_t bytes) {
    const std::uint64_t room = from.bytes() / bytes + 1;
    const device_array<void*> blocks(room);
    const device_array<tally> found(1);
    const fill_up<handle_type> fill{from.ref(), bytes, blocks.get(), room, found.get()};
    machine().launch(covering(std::min<std::uint64_t>(scale::current().threads, room)), fill);
    // No other lane is left: what the others left for each other is available.
    machine().launch({1, 1}, fill);
    const std::uint64_t count = found.read()[0].blocks;
    EXPECT_LE(count, room - 1) << "more blocks of " << bytes << " bytes than fit";
    holding held{std::vector<std::uint64_t>(std::min(count, room), bytes), blocks.read()};
    held.blocks.resize(held.bytes.size());
    return held;
  }

  static std::uint64_t nulls(const holding& held) {
    return static_cast<std::uint64_t>(std::count(held.blocks.begin(), held.blocks.end(), nullptr));
  }

  static void expect_valid(const heap_type& of) {
    const validation result = of.validate();
    EXPECT_TRUE(result.ok()) << result.describe();
  }

  /// `blocks` blocks are in use, if the manager counts them.
  static void expect_in_use(const heap_type& of, std::uint64_t blocks) {
    if constexpr (traits::counts_blocks) {
      EXPECT_EQ(of.stats().blocks_in_use, blocks);
    }
  }

  /// Everything was freed: the heap knows, and its invariants hold.
  static void expect_empty(const heap_type& of) {
    expect_valid(of);
    if constexpr (about.frees && traits::counts_blocks) {
      const heap_stats stats = of.stats();
      EXPECT_EQ(stats.blocks_in_use, 0u);
      EXPECT_EQ(stats.bytes_in_use, 0u);
    }
  }

  /// All of `held`, taken from a heap with much more room, was served and lies apart; the heap
  /// counts it, and is empty again once it was freed.
  static void expect_served_and_freed(const heap_type& heap, const holding& held) {
    EXPECT_EQ(nulls(held), 0u) << "three quarters of the heap are free";
    expect_disjoint(held, about.alignment);
    expect_valid(heap);
    expect_in_use(heap, held.blocks.size());
    give(heap, held);
    expect_empty(heap);
  }
};

/// The suite of blocks, of any size or of pages.
struct conformance {
  template <class M>
  static constexpr bool models = block_manager<M>;
  template <class M>
  using fixture = block_fixture<M>;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
