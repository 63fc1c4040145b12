// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Lanes of a warp that call at one place, with two heaps of one type: each gets what is its
/// heap's.

#include "conformance/block_fixture.hpp"
#include "conformance/objects_tests.hpp"
#include "conformance/warp_heaps_tests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The heap of a lane: neighbours have different ones, and so have the first lanes of warps.
WARPHEAP_HD constexpr std::size_t heap_number(std::uint64_t thread) {
  return static_cast<std::size_t>((thread + thread / simt::warp_size) % 2);
}

/// Two heaps that kernels use as if they were one. Lanes take from the heap that is theirs, and
/// give a block to the one whose region it lies in.
template <class Handle>
struct heap_of_lane {
  Handle heaps[2];
  const std::byte* second;  ///< the region of the second heap
  std::size_t bytes;        ///< of each region

  WARPHEAP_DEVICE void* malloc(std::size_t wanted) const {
    return heaps[heap_number(simt::thread_rank())].malloc(wanted);
  }
  WARPHEAP_DEVICE void free(void* block) const {
    heaps[static_cast<std::size_t>(static_cast<std::byte*>(block) - second) < bytes ? 1 : 0].free(
        block);
  }
};

/// Two heaps in regions that the test knows.
template <class M>
class heap_pair {
 public:
  heap_pair(std::size_t bytes, std::size_t largest)
      : bytes_(bytes),
        memory_{device_memory(machine(), bytes), device_memory(machine(), bytes)},
        heaps_{heap<M>(machine(), region{memory_[0].get(), bytes}, options_for<M>(largest)),
               heap<M>(machine(), region{memory_[1].get(), bytes}, options_for<M>(largest))} {}

  heap_of_lane<handle<M>> ref() const {
    return {{heaps_[0].ref(), heaps_[1].ref()}, memory_[1].get(), bytes_};
  }
  const heap<M>& operator[](std::size_t which) const { return heaps_[which]; }

  /// Of the blocks that a heap serves, those in `held`.
  std::uint64_t count_in(std::size_t which, const holding& held) const {
    std::uint64_t count = 0;
    for (const void* block : held.blocks) count += has(which, block);
    return count;
  }
  bool has(std::size_t which, const void* block) const {
    const auto start = reinterpret_cast<std::uintptr_t>(memory_[which].get());
    return reinterpret_cast<std::uintptr_t>(block) - start < bytes_;
  }

 private:
  std::size_t bytes_;
  device_memory memory_[2];
  heap<M> heaps_[2];
};

/// Any lane frees, so the heaps of neighbours alternate at random.
template <class M>
void give_to_both(const heap_pair<M>& heaps, const holding& held, std::uint64_t seed) {
  const device_array<std::uint64_t> bytes(held.bytes);
  const device_array<void*> blocks(held.blocks);
  const device_array<std::uint64_t> whose(shuffled(held.blocks.size(), seed));
  const device_array<tally> found(1);
  machine().launch(covering(whose.size()),
                   check_and_free<heap_of_lane<handle<M>>>{heaps.ref(), bytes.get(), blocks.get(),
                                                           whose.get(), whose.size(), found.get()});
  EXPECT_EQ(found.read()[0].corrupted, 0u) << "blocks lost their contents";
}

CONFORMANCE_TEST(conformance, lanes_of_a_warp_may_use_different_heaps) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "a region of its own for each heap");
  for (const std::size_t wanted : {64u, 4096u, 1u << 17}) {
    const auto most = static_cast<std::uint32_t>(served<TypeParam>(wanted));
    SCOPED_TRACE("blocks of up to " + std::to_string(most) + " bytes");
    const heap_pair<TypeParam> heaps(this->usual_heap_bytes(), most);
    const auto sizes = this->mixed_requests(scale::current().threads, most);
    const device_array<std::uint64_t> bytes(sizes);
    const device_array<void*> blocks(sizes.size());
    machine().launch(covering(sizes.size()),
                     allocate<heap_of_lane<handle<TypeParam>>>{heaps.ref(), bytes.get(),
                                                               blocks.get(), sizes.size()});
    const holding held{sizes, blocks.read()};
    expect_disjoint(held, TypeParam::about.alignment);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_TRUE(heaps.has(heap_number(i), held.blocks[i]))
          << "request " << i << " got a block of another "
          << "heap, or none: " << held.blocks[i];
    }
    for (const std::size_t which : {0, 1}) {
      this->expect_valid(heaps[which]);
      this->expect_in_use(heaps[which], heaps.count_in(which, held));
    }
    give_to_both(heaps, held, this->seed);
    for (const std::size_t which : {0, 1}) this->expect_empty(heaps[which]);
  }
}

CONFORMANCE_TEST(conformance, lanes_of_a_warp_may_fill_different_heaps) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "a region of its own for each heap");
  using both = heap_of_lane<handle<TypeParam>>;
  const std::uint64_t bytes = this->fill_bytes();
  const std::size_t each = std::max<std::size_t>(manager_traits<TypeParam>::least_heap_bytes,
                                                 this->fill_blocks() / 2 * bytes);
  const heap_pair<TypeParam> heaps(each, bytes);
  const std::uint64_t room = 2 * each / bytes + 1;
  const device_array<void*> blocks(room);
  const device_array<tally> found(1);
  machine().launch(covering(std::min<std::uint64_t>(scale::current().threads, room)),
                   fill_up<both>{heaps.ref(), bytes, blocks.get(), room, found.get()});
  const std::uint64_t count = found.read()[0].blocks;
  ASSERT_LT(count, room) << "more blocks of " << bytes << " bytes than fit";
  holding held{std::vector<std::uint64_t>(count, bytes), blocks.read()};
  held.blocks.resize(count);
  expect_disjoint(held, TypeParam::about.alignment);
  for (const std::size_t which : {0, 1}) {
    this->expect_valid(heaps[which]);
    this->expect_in_use(heaps[which], heaps.count_in(which, held));
    EXPECT_NE(heaps.count_in(which, held), 0u) << "nothing of heap " << which;
  }
  give_to_both(heaps, held, this->seed);
  for (const std::size_t which : {0, 1}) this->expect_empty(heaps[which]);
}

CONFORMANCE_TEST(conformance, lanes_of_a_warp_may_churn_in_different_heaps) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "a region of its own for each heap");
  const auto most = static_cast<std::uint32_t>(served<TypeParam>(1024));
  const heap_pair<TypeParam> heaps(this->usual_heap_bytes(), most);
  const device_array<tally> found(1);
  machine().launch(
      covering(scale::current().threads / 4),
      churn<heap_of_lane<handle<TypeParam>>>{
          heaps.ref(), {1, most}, scale::current().churn_rounds, this->seed, found.get()});
  EXPECT_EQ(found.read()[0].corrupted, 0u) << "seed " << this->seed;
  for (const std::size_t which : {0, 1}) this->expect_empty(heaps[which]);
}

/// Each lane has a warp heap of the heap that is its own, and checks what it has taken.
template <class M>
struct begin_in_two_heaps {
  handle<M> heaps[2];
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const handle<M>& mine = heaps[heap_number(simt::thread_rank())];
    const auto own = mine.begin();
    constexpr int count = 4;
    void* blocks[count] = {};
    const std::uint64_t tag = simt::thread_rank() * count;
    for (int i = 0; i < count; ++i) {
      blocks[i] = mine.malloc(own, bytes_of(i));
      if (blocks[i] == nullptr) {
        tally::add(found->nulls);
      } else {
        stamp(blocks[i], bytes_of(i), tag + static_cast<std::uint64_t>(i));
      }
    }
    for (int i = 0; i < count; ++i) {
      if (blocks[i] != nullptr &&
          !is_stamped(blocks[i], bytes_of(i), tag + static_cast<std::uint64_t>(i))) {
        tally::add(found->corrupted);
      }
    }
    mine.end(own);
  }
  WARPHEAP_DEVICE static std::size_t bytes_of(int i) {
    return 16 + 8 * static_cast<std::size_t>((simt::lane_id() + i) % 5);
  }
};

CONFORMANCE_TEST(warp_heaps, lanes_of_a_warp_may_begin_in_different_heaps) {
  const auto one = this->make_heap();
  const auto other = this->make_heap();
  const device_array<tally> found(1);
  machine().launch(covering(this->threads),
                   begin_in_two_heaps<TypeParam>{{one->ref(), other->ref()}, found.get()});
  EXPECT_EQ(found.read()[0].nulls, 0u);
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  this->expect_empty(*one);
  this->expect_empty(*other);
}

/// Each lane makes and destroys objects in the heap that is its own.
template <class M>
struct make_in_two_heaps {
  handle<M> heaps[2];
  std::uint32_t rounds;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const handle<M>& mine = heaps[heap_number(simt::thread_rank())];
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint64_t number = simt::thread_rank() * rounds + round;
      const auto made = mine.template make<small_object>(number);
      if (!made) {
        tally::add(found->nulls);
        continue;
      }
      const auto value = mine.template load<small_object>(made);
      if (!value.is_whole() || value.number() != number) tally::add(found->corrupted);
      if (number % 3 == 0) {
        tally::add(found->blocks);  // it stays
      } else {
        mine.template destroy<small_object>(made);
      }
    }
  }
};

CONFORMANCE_TEST(objects, lanes_of_a_warp_may_make_them_in_different_heaps) {
  const auto one = this->make_heap();
  const auto other = this->make_heap();
  const device_array<tally> found(1);
  machine().launch(covering(this->threads),
                   make_in_two_heaps<TypeParam>{{one->ref(), other->ref()}, 3, found.get()});
  const tally seen = found.read()[0];
  EXPECT_EQ(seen.nulls, 0u);
  EXPECT_EQ(seen.corrupted, 0u);
  this->expect_in_use(*one, seen.blocks / 2);
  this->expect_in_use(*other, seen.blocks / 2);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
