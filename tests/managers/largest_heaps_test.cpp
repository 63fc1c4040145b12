// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses and searches in heaps beyond 64 GiB, and in the largest ones that a manager lays out.
// Writing their tables in full would take memory and time. So only a few units of a heap are free
// here, as if all others had been handed out, and only their words are written.
// One of them is in the very middle: where the number of units is a power of two, an index that
// loses its upper bits there is the first unit's.
#include "warpheap/core/units.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/kma/kma.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include "untouched_memory.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using numbers = std::set<std::uint64_t>;

/// The heap has only these units free, of which it hands out `at_once` at one time: blocks lead to
/// them and back, whether a unit is one block or many.
template <class M>
void expect_units(const M& manager, const region& memory, std::size_t unit, std::uint64_t count,
                  const numbers& free_units, std::size_t at_once) {
  const std::byte* first = nullptr;
  numbers seen;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t bytes : {unit, std::size_t{16}}) {
      const std::size_t fit = at_once * (unit / bytes);
      std::vector<std::byte*> blocks;
      in_a_lane([&] {
        while (blocks.size() <= fit) {
          auto* const block = static_cast<std::byte*>(manager.malloc(bytes));
          if (block == nullptr) break;
          EXPECT_EQ(manager.usable_size(block), bytes);
          blocks.push_back(block);
        }
      });
      ASSERT_EQ(blocks.size(), fit) << bytes;
      std::sort(blocks.begin(), blocks.end());
      if (first == nullptr) first = blocks.front();
      for (std::size_t i = 0; i < fit; ++i) {
        const auto offset = static_cast<std::uint64_t>(blocks[i] - first);
        seen.insert(offset / unit);
        ASSERT_EQ(offset % bytes, 0u);
        if (i != 0) {
          ASSERT_GE(blocks[i], blocks[i - 1] + bytes);
        }
      }
      in_a_lane([&] {
        for (std::byte* block : blocks) manager.free(block);
      });
    }
  }
  EXPECT_EQ(seen, free_units);
  EXPECT_GE(first, memory.base);
  EXPECT_LE(first + count * unit, memory.base + memory.bytes);
}

/// A heap's size, and how many units it must have: 0, as many as fit.
struct heap_size {
  std::size_t bytes;
  std::uint64_t most = 0;
};

TEST(dynasoar_of_large_heaps, the_last_blocks_hold_slots) {
  using manager_type = dynasoar<>;
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{3_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const manager_type manager(memory, small_machine(), {});
      const auto same = dynasoar_blocks<manager_type::shape>::lay_out(
          memory, "the same", [](region_cursor&, std::uint32_t) {});
      const auto& table = same.state();
      if (of.most != 0) {
        ASSERT_EQ(table.count(), of.most);
      }
      const numbers free_units{0, 1, table.count() / 2, table.count() - 1u};
      in_a_lane([&] {
        format_fronts(manager, 1);
        clear_fronts(table.free_blocks(), 1);
        for (const std::uint64_t i : free_units) {
          table.free_blocks().insert(static_cast<std::uint32_t>(i));
        }
      });
      expect_units(manager, memory, manager.largest_block(), table.count(), free_units, 4);
    });
  }
}

TEST(kma_of_large_heaps, the_last_superblocks_hold_blocks) {
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{9_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const kma<> manager(memory, small_machine(1), {});  // one multiprocessor, one queue
      const std::uint32_t count = manager.superblocks();
      if (of.most != 0) {
        ASSERT_EQ(count, of.most);
      }
      const std::uint32_t middle = count / 2;
      in_a_lane([&] {
        format_fronts(manager, 4096);
        // A queue of one node, at the same place.
        region_cursor front(memory, "the same");
        front.take<std::uint64_t>(1, 128);  // moves
        kma_empty_queues(front, 1, 1).format(0, 1);
        region_cursor all(memory, "the same");
        const kma_superblocks<kma_config{}> same(all, count, 1);
        for (const std::uint32_t i : {middle, count - 1, 1u}) same.empty_ones().enqueue(i);
      });
      // The queue keeps one of them.
      expect_units(manager, memory, 4096, count, {0, 1, middle, count - 1u}, 3);
    });
  }
}

/// \param is_full whether the other slabs are counted as full, so that searches of all slabs work
template <halloc_config Config>
void expect_slabs(std::size_t heap_bytes, bool is_full, std::uint64_t most = 0) {
  in_region_of(heap_bytes, [&](const region& memory) {
    const halloc<Config> manager(memory, small_machine(), {});
    const auto shape = manager.shape();
    if (most != 0) {
      ASSERT_EQ(shape.slabs(), most);
    }
    region_cursor cursor(memory, "the same");
    const halloc_parts::places<Config> same(shape, cursor);
    const auto& slabs = same.table();
    const std::uint32_t middle = shape.slabs() / 2;
    const std::uint32_t last = shape.slabs() - 1;
    in_a_lane([&] {
      format_fronts(manager, 1);
      clear_fronts(slabs.set(slabs.free_set), 1);
      same.head_slabs().format(0, 1);
      for (std::uint32_t kind = 0; kind < shape.kinds; ++kind) {
        slabs.known().searches(kind).format();
      }
      slabs.set(slabs.free_set).insert(0);
      for (const std::uint32_t i : {middle, last}) EXPECT_TRUE(slabs.release(i));
      for (std::uint32_t i = 1; is_full && i < last; ++i) {
        if (i != middle) slabs.add(i, shape.chunks(0));
      }
    });
    const auto slab_of = [&](const std::byte* block) {
      return static_cast<std::uint64_t>(block - manager.first_slab()) >> shape.slab_shift();
    };
    const numbers free_slabs{0, middle, last};
    std::vector<std::byte*> blocks;
    numbers seen;
    const auto take = [&](std::size_t bytes) {
      auto* const block = static_cast<std::byte*>(manager.malloc(bytes));
      if (block == nullptr) return false;
      EXPECT_EQ(manager.usable_size(block), bytes);
      seen.insert(slab_of(block));
      blocks.push_back(block);
      return true;
    };
    const auto expect_empty = [&](std::uint64_t slab) {
      EXPECT_EQ(slabs.look(static_cast<std::uint32_t>(slab)).used(), 0u) << slab;
    };
    for (int round = 0; round < 2; ++round) {
      in_a_lane([&] {
        // A head is replaced before it is full, so each of the slabs is one.
        while (seen.size() < 3 && take(3072)) {
        }
      });
      EXPECT_EQ(seen, free_slabs);
      // Two of them were used as far as heads are: no other slab has the same bits.
      EXPECT_GE(blocks.size(), std::size_t{2} * (shape.blocks(15) * 4 / 5));
      std::sort(blocks.begin(), blocks.end());
      EXPECT_GE(blocks.front(), manager.first_slab());
      EXPECT_LE(blocks.back() + 3072, memory.base + memory.bytes);
      for (std::size_t i = 1; i < blocks.size(); ++i) ASSERT_GE(blocks[i], blocks[i - 1] + 3072);
      in_a_lane([&] {
        if (is_full && round == 0) {
          // Chunks of another kind: after a search of all slabs there are none, and then the last
          // slab, which is empty again, has them.
          EXPECT_FALSE(take(2048));
          for (; !blocks.empty() && slab_of(blocks.back()) == last; blocks.pop_back()) {
            manager.free(blocks.back());
          }
          expect_empty(last);
          EXPECT_TRUE(take(2048));
          EXPECT_EQ(slab_of(blocks.back()), last);
        }
        for (std::byte* block : blocks) manager.free(block);
        for (const std::uint64_t i : free_slabs) expect_empty(i);
      });
      blocks.clear();
      seen.clear();
    }
  });
}

TEST(halloc_of_large_heaps, the_last_slabs_hold_blocks) {
  expect_slabs<halloc_config{}>(70_GiB, true);
}
TEST(halloc_of_large_heaps, so_do_those_of_a_heap_of_half_of_all_addresses) {
  expect_slabs<halloc_config{}>(64_TiB, false);
}
TEST(halloc_of_large_heaps, so_do_those_of_a_heap_with_as_many_as_there_can_be) {
  constexpr halloc_config small{.largest_slab = 64_KiB, .smallest_slab = 64_KiB};
  expect_slabs<small>(9_TiB, false, 1u << 27);
}

TEST(fdg_malloc_of_large_heaps, the_last_superblocks_and_headers_are_warp_heaps) {
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{17_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const fdg_malloc<> manager(memory, small_machine(), {});
      const std::uint32_t count = manager.superblocks();
      if (of.most != 0) {
        ASSERT_EQ(count, of.most);
      }
      region_cursor cursor(memory, "the same");
      const fdg_superblocks superblocks(cursor, count);
      const fdg_headers headers(cursor, count);
      const std::uint32_t middle = count / 2;
      const std::size_t unit = manager.superblock_bytes();
      // Runs come from the back, single ones from the front. More than 64 GiB in one run.
      constexpr std::uint32_t long_run = (1u << 23) + 1;
      in_a_lane([&] {
        format_fronts(manager, 1);
        clear_fronts(superblocks.free_ones(), 1);
        clear_fronts(headers.free_ones(), 1);
        for (const std::uint32_t i : {0u, middle, count - 1}) headers.free_ones().insert(i);
        for (const std::uint32_t i : {0u, middle}) superblocks.free_ones().insert(i);
        insert_run(superblocks.free_ones(), count - 3, 3);
        const std::byte* first = nullptr;
        for (int round = 0; round < 3; ++round) {
          const auto alone = simt::coalesced(nullptr);
          const std::array opened{manager.begin(alone), manager.begin(alone), manager.begin(alone)};
          EXPECT_EQ(opened[0].number, 1u);
          EXPECT_EQ(opened[1].number, middle + 1);
          EXPECT_EQ(opened[2].number, count);
          EXPECT_FALSE(manager.begin(alone));
          const auto take = [&](std::size_t of_these, std::size_t bytes) {
            return static_cast<std::byte*>(manager.malloc(opened[of_these], bytes));
          };
          std::byte* const run = take(2, 3 * unit);
          std::byte* const low = take(0, unit);
          std::byte* const between = take(1, unit / 2);
          if (first == nullptr) first = low;
          EXPECT_EQ(low, first);
          EXPECT_EQ(between, first + middle * unit);
          EXPECT_EQ(take(1, unit / 2), between + unit / 2);
          EXPECT_EQ(run, first + (count - 3) * unit);
          EXPECT_EQ(take(1, unit), nullptr);
          for (const auto& heap : opened) manager.end(heap);
        }
        EXPECT_GE(first, memory.base);
        EXPECT_LE(first + count * unit, memory.base + memory.bytes);
        insert_run(superblocks.free_ones(), count - long_run, long_run);
        const auto heap = manager.begin(simt::coalesced(nullptr));
        EXPECT_EQ(manager.malloc(heap, long_run * unit), first + (count - long_run) * unit);
        if (of.most == 0) {  // a search of all words, which the largest heap has too many of
          EXPECT_EQ(manager.malloc(heap, 2 * unit), nullptr);
        }
        manager.end(heap);
        const auto again = manager.begin(simt::coalesced(nullptr));
        EXPECT_EQ(manager.malloc(again, 2 * unit), first + (count - 2) * unit);
        manager.end(again);
      });
    });
  }
}

// Words have numbers of 32 bits, and 48 slots of 16 bytes: that is 3 TiB. The tables of chunks are
// short, so all chunks are free here; runs leave few of them to slots.
TEST(warpheap_of_large_heaps, the_last_chunks_hold_runs_and_slots) {
  for (const std::size_t bytes : {70_GiB, 3_TiB}) {
    in_region_of(bytes, [&](const region& memory) {
      const warpheap_manager<> manager(memory, small_machine(), {});
      const std::size_t chunk = manager.growth_step();
      const std::size_t count = manager.largest_block() / chunk;
      ASSERT_LE(count * manager.parts().chunks().stride(), std::size_t{1} << 32);
      in_a_lane([&] { format_fronts(manager, 4096); });
      std::byte* first = nullptr;
      std::vector<void*> runs;
      const auto take = [&](std::size_t size) {
        auto* const block = static_cast<std::byte*>(manager.malloc(size));
        EXPECT_NE(block, nullptr);
        if (block != nullptr) {
          EXPECT_GE(manager.usable_size(block), size);
        }
        return block;
      };
      in_a_lane([&] {
        // No single chunk: it may be taken anywhere.
        first = take(count / 2 * chunk);
        runs.push_back(first);
        EXPECT_EQ(runs.emplace_back(take((count - count / 2 - 3) * chunk)),
                  first + count / 2 * chunk);
      });
      EXPECT_GE(first, memory.base);
      EXPECT_LE(first + count * chunk, memory.base + memory.bytes);
      const std::byte* const left = first + (count - 3) * chunk;
      for (const std::size_t size : {chunk / 2, chunk / 64, std::size_t{16}}) {
        const std::size_t fit = size == 16 ? 1000 : 3 * (chunk / size);
        std::vector<std::byte*> blocks;
        in_a_lane([&] {
          while (blocks.size() < fit) blocks.push_back(take(size));
          if (size == 16) return;
          EXPECT_EQ(manager.malloc(size), nullptr);
          // Each slot of a full class is offered to the next request by the number of its word.
          for (std::byte* block : blocks) {
            manager.free(block);
            EXPECT_EQ(manager.malloc(size), block);
          }
        });
        std::sort(blocks.begin(), blocks.end());
        EXPECT_GE(blocks.front(), left);
        EXPECT_LE(blocks.back() + size, first + count * chunk);
        for (std::size_t i = 1; i < blocks.size(); ++i) ASSERT_GE(blocks[i], blocks[i - 1] + size);
        in_a_lane([&] {
          for (std::byte* block : blocks) manager.free(block);
        });
      }
      in_a_lane([&] {
        for (void* run : runs) manager.free(run);
        EXPECT_EQ(take(count * chunk), first);
      });
    });
  }
}

template <class M>
class counters_of_reg_eff : public ::testing::Test {};
using reg_eff_counters =
    ::testing::Types<reg_eff<reg_eff_config{.keeps = book_keeping::counter}>,
                     reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>>;
TYPED_TEST_SUITE(counters_of_reg_eff, reg_eff_counters);

// They have no limit, and nobody touches their blocks: the counter alone is there.
TYPED_TEST(counters_of_reg_eff, lead_to_the_last_granule) {
  struct alignas(4096) counters {
    std::byte bytes[4096];
  };
  static counters memory;
  for (const std::size_t bytes : {70_GiB, 256_TiB}) {
    const TypeParam manager(region{memory.bytes, bytes}, small_machine(), {});
    const std::size_t all = manager.largest_block();
    EXPECT_EQ(all, bytes - 128);
    in_a_lane([&] {
      manager.format(0, 1);
      auto* const first = static_cast<std::byte*>(manager.malloc(all / 2));
      EXPECT_EQ(first, memory.bytes + 128);
      EXPECT_EQ(manager.malloc(16), first + all / 2);
      EXPECT_EQ(manager.malloc(all / 2 - 32), first + all / 2 + 16);
      EXPECT_EQ(manager.malloc(16), first + all - 16);
      if (TypeParam::about.reuse == memory_reuse::none) {
        EXPECT_EQ(manager.malloc(16), nullptr);
      } else {
        EXPECT_EQ(manager.malloc(all), first);
        EXPECT_EQ(manager.malloc(all - 16), first);
        EXPECT_EQ(manager.malloc(16), first + all - 16);
      }
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
