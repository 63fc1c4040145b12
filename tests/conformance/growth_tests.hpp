// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Heaps that begin with a part of their region. `manager_traits` says by which options:
///
///     static M::options beginning(std::size_t bytes);
template <class M>
class growth_fixture : public block_fixture<M> {
 public:
  static constexpr std::size_t heap_bytes = std::size_t{3} << 20;

  static std::shared_ptr<heap<M>> make_part(std::size_t bytes, std::size_t all = heap_bytes) {
    return std::make_shared<heap<M>>(machine(), all, manager_traits<M>::beginning(bytes));
  }
  /// What a heap grows by.
  static std::size_t step() {
    static const std::size_t bytes = heap<M>(machine(), heap_bytes).ref().manager().growth_step();
    return bytes;
  }
  /// About a third of the region.
  static std::size_t part() { return round_down<std::size_t>(heap_bytes / 3, step()); }
};

/// The suite of managers to which memory is added while lanes use it.
struct growth {
  template <class M>
  static constexpr bool models = growing_manager<M>;
  template <class M>
  using fixture = growth_fixture<M>;
};

/// The first warp grows by single steps, and takes blocks as the others do: each lane, until it has
/// as many as it wants.
template <class M>
struct take_while_it_grows {
  handle<M> heap;
  std::size_t bytes;
  std::uint32_t each;
  std::uint32_t growths;
  std::byte** blocks;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < simt::warp_size) {
      for (std::uint32_t i = 0; i < growths; ++i) {
        const auto came = heap.grow(simt::warp(), heap.manager().growth_step());
        if (came != growth_outcome::grown) {
          simt::atomic_ref(*refused).fetch_add(1, simt::order::relaxed);
        }
      }
    }
    for (std::uint32_t i = 0; i < each; ++i) {
      // Ends: there will be enough for all, and the first warp does not wait before that.
      std::byte* block = static_cast<std::byte*>(heap.malloc(bytes));
      while (block == nullptr) {
        simt::backoff(1000);
        block = static_cast<std::byte*>(heap.malloc(bytes));
      }
      blocks[rank * each + i] = block;
    }
  }
};

CONFORMANCE_TEST(growth, the_host_counts_what_is_memory) {
  const std::size_t part = this->part();
  const auto heap = this->make_part(part);
  const std::size_t whole = heap->ref().largest_block();
  ASSERT_GT(whole, 2 * part);
  EXPECT_EQ(heap->largest_block(), part);
  EXPECT_EQ(heap->stats().largest_block, part);
  EXPECT_EQ(heap->stats().heap_bytes, this->heap_bytes - (whole - part));
  EXPECT_EQ(test::take_one(*heap, part + this->step()), nullptr);
  EXPECT_GE(heap->stats().failures, 1u) << "it may be served one day";
  EXPECT_EQ(test::take_one(*heap, whole + 1), nullptr);
  EXPECT_EQ(heap->stats().impossible, 1u);
  heap->grow(part);
  EXPECT_EQ(heap->stats().largest_block, 2 * part);
  EXPECT_EQ(heap->stats().heap_bytes, this->heap_bytes - (whole - 2 * part));
}

CONFORMANCE_TEST(growth, an_empty_heap_serves_all_that_it_has_until_its_region_is_used) {
  std::size_t there = this->part();
  const auto heap = this->make_part(there);
  const std::size_t whole = heap->ref().largest_block();
  for (std::size_t steps = 1; there < whole; steps = steps * 3 + 1) {
    const std::size_t more = std::min(steps * this->step(), whole - there);
    heap->grow(more);
    there += more;
    EXPECT_EQ(heap->largest_block(), there);
    std::byte* const all = test::take_one(*heap, there);
    EXPECT_NE(all, nullptr) << there;
    EXPECT_EQ(test::take_one(*heap, 16), nullptr);
    test::give(*heap, {all});
    this->expect_empty(*heap);
  }
  EXPECT_THROW(heap->grow(this->step()), invalid_argument);
}

CONFORMANCE_TEST(growth, what_cannot_be_added_is_refused_and_changes_nothing) {
  const std::size_t step = this->step();
  const auto heap = this->make_part(this->part());
  const std::size_t left = heap->ref().largest_block() - this->part();
  for (const std::size_t wrong :
       {std::size_t{0}, step + 16, left + step, round_down<std::size_t>(std::size_t{1} << 60, step),
        round_down<std::size_t>(SIZE_MAX, step)}) {
    EXPECT_THROW(heap->grow(wrong), invalid_argument) << wrong;
  }
  EXPECT_EQ(heap->largest_block(), this->part());
  heap->grow(left);
  EXPECT_EQ(heap->largest_block(), this->part() + left);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(growth, blocks_in_use_keep_their_contents_and_what_is_added_lies_apart) {
  const auto heap = this->make_part(this->part());
  const std::size_t bytes = this->step() / 2;
  const holding held = this->take_all(*heap, bytes);
  const std::size_t before = held.blocks.size();
  heap->grow(this->part());
  this->expect_in_use(*heap, before);
  const holding more = this->take_all(*heap, bytes);
  EXPECT_GE(more.blocks.size(), before / 2);
  this->expect_in_use(*heap, before + more.blocks.size());
  expect_disjoint(both(held, more), TypeParam::about.alignment);
  this->give(*heap, held);
  this->give(*heap, more);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(growth, what_was_added_outlives_a_reset) {
  const auto heap = this->make_part(this->part());
  const std::size_t bytes = this->step() / 2;
  this->take_all(*heap, bytes);
  heap->grow(3 * this->step());
  this->take_all(*heap, bytes);
  heap->reset();
  this->expect_empty(*heap);
  EXPECT_EQ(heap->largest_block(), this->part() + 3 * this->step());
  std::byte* const all = test::take_one(*heap, heap->largest_block());
  EXPECT_NE(all, nullptr);
  test::give(*heap, {all});
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(growth, lanes_that_wait_for_memory_get_what_a_warp_of_their_kernel_adds) {
  constexpr std::uint32_t lanes = race_checked ? 128 : 1024;
  constexpr std::uint32_t each = 4;
  for (const std::size_t bytes : {16u, 256u, 1024u}) {
    // Memory of other sizes may take some of what is added, so there is some to spare.
    const std::size_t first = this->step();
    const auto growths = static_cast<std::uint32_t>(lanes * each * bytes / first + 64);
    const auto heap = this->make_part(first, 3 * (growths + 1) * first);
    const device_array<std::byte*> blocks(lanes * each);
    const device_array<std::uint32_t> refused(1);
    machine().launch(covering(lanes),
                     take_while_it_grows<TypeParam>{heap->ref(), bytes, each, growths, blocks.get(),
                                                    refused.get()});
    EXPECT_EQ(refused.read()[0], 0u);
    const auto all = blocks.read();
    holding held{std::vector<std::uint64_t>(all.size(), bytes), {all.begin(), all.end()}};
    expect_disjoint(held, TypeParam::about.alignment);
    this->expect_in_use(*heap, all.size());
    EXPECT_EQ(heap->largest_block(), (growths + 1) * first);
    test::give(*heap, all);
    EXPECT_NE(test::take_one(*heap, heap->largest_block()), nullptr);
    this->expect_valid(*heap);
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
