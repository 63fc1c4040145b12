// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses: heaps far larger than the machine's memory, of which next to nothing is touched.
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"
#include "warpheap/managers/bump/bump.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/kma/kma.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include "ouroboros/variants.hpp"
#include "untouched_memory.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
void expect_invariants(const M& manager) {
  inspection found;
  manager.inspect(0, 1, found);
  for (int i = 0; i < inspection::most_invariants; ++i) {
    EXPECT_EQ(found.violations[i], 0u) << "I" << i + 1 << " at " << found.places[i];
  }
}

/// Blocks from all over a heap are apart, within it, and can be freed and allocated again.
template <class M>
void expect_sound_addresses(const M& manager, const region& memory, std::size_t bytes, int count) {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::byte*> blocks;
    in_a_lane([&] {
      for (int i = 0; i < count; ++i) {
        blocks.push_back(static_cast<std::byte*>(manager.malloc(bytes)));
      }
    });
    std::sort(blocks.begin(), blocks.end());
    ASSERT_NE(blocks.front(), nullptr);
    EXPECT_GE(blocks.front(), memory.base);
    EXPECT_LE(blocks.back() + bytes, memory.base + memory.bytes);
    // Walks go everywhere but in CRW, so some of the blocks lie beyond any 32-bit offset.
    if (std::string_view(M::about.name) != "crw") {
      EXPECT_GT(static_cast<std::size_t>(blocks.back() - memory.base), memory.bytes / 2);
    }
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      ASSERT_GE(static_cast<std::size_t>(blocks[i] - blocks[i - 1]), bytes);
    }
    in_a_lane([&] {
      for (std::byte* block : blocks) manager.free(block);
    });
  }
}

template <class M>
class pages_of_large_heaps : public ::testing::Test {};
using page_managers = ::testing::Types<rw<>, rw_bm<>, corw<>, crw<>>;
TYPED_TEST_SUITE(pages_of_large_heaps, page_managers);

TYPED_TEST(pages_of_large_heaps, blocks_are_apart_and_within) {
  for (const std::size_t gib : {5, 41, 64}) {
    in_region_of(gib << 30, [&](const region& memory) {
      // Zero is what formatting writes, but for the bits beyond the last page.
      const TypeParam manager(memory, small_machine(), {.page_bytes = 16});
      expect_sound_addresses(manager, memory, 16, 2000);
    });
  }
}

TEST(runs_of_large_heaps, blocks_are_apart_and_within) {
  for (const std::size_t gib : {5, 70, 1000}) {
    in_region_of(gib << 30, [&](const region& memory) {
      const rw_malloc<> manager(memory, small_machine(), {});
      expect_sound_addresses(manager, memory, 1000, 1000);
    });
  }
}

TEST(segments_of_large_heaps, the_last_segments_hold_runs_blocks_and_units) {
  for (const std::size_t gib : {5, 70, 139}) {
    in_region_of(gib << 30, [&](const region& memory) {
      const gallatin<> manager(memory, small_machine(), {});
      manager.format(0, 1);
      const std::size_t segment = manager.shape().segment_bytes();
      const std::size_t count = manager.shape().segments();
      std::byte* const end = manager.segments() + count * segment;
      in_a_lane([&] {
        // Runs come from the back; what is first leaves only the last segments to the others.
        auto* const run = static_cast<std::byte*>(manager.malloc(3 * segment));
        EXPECT_EQ(run + 3 * segment, end);
        manager.free(run);
        std::vector<void*> first;
        for (std::size_t i = 0; i + 2 < count; ++i) first.push_back(manager.malloc(segment));
        auto* const unit = static_cast<std::byte*>(manager.malloc(48));
        auto* const block = static_cast<std::byte*>(manager.malloc(segment / 4));
        EXPECT_GE(unit, end - 2 * segment);
        EXPECT_GE(block, end - 2 * segment);
        EXPECT_LE(block + segment / 4, end);
        EXPECT_EQ(manager.malloc(segment), nullptr);
        manager.free(unit);
        manager.free(block);
        for (void* each : first) manager.free(each);
        auto* const everything = static_cast<std::byte*>(manager.malloc(count * segment));
        EXPECT_EQ(everything, manager.segments());
        manager.free(everything);
      });
      expect_invariants(manager);
    });
  }
}

/// A manager of blocks of any size, and how large a heap of it is tried.
template <class M, std::size_t... Gib>
struct tried {
  using manager = M;
  static constexpr std::size_t gib[]{Gib...};
};

template <class Tried>
class blocks_of_large_heaps : public ::testing::Test {};
// Reg-Eff's heaps have less than 32 GiB, and XMalloc's less than 256. Their tables have a bit or
// two for 16 bytes, all of which formatting writes.
using managers_of_blocks = ::testing::Types<
    tried<scatter_alloc<>, 5, 70, 139>, tried<reg_eff<reg_eff_config{.presplit_bytes = 0}>, 5, 31>,
    tried<
        reg_eff<reg_eff_config{
            .offsets = memory_offsets::per_multiprocessor, .header_words = 1, .presplit_bytes = 0}>,
        5, 31>,
    tried<xmalloc<>, 5, 70, 255>>;
TYPED_TEST_SUITE(blocks_of_large_heaps, managers_of_blocks);

TYPED_TEST(blocks_of_large_heaps, large_blocks_leave_the_far_end_to_small_ones) {
  for (const std::size_t gib : TypeParam::gib) {
    in_region_of(gib << 30, [&](const region& memory) {
      const typename TypeParam::manager manager(memory, small_machine(), {});
      manager.format(0, 1);
      // Seven eighths of the heap; then small blocks where there is room left.
      const std::size_t eighth = manager.largest_block() / 8 - 4096;
      std::vector<std::pair<std::byte*, std::size_t>> blocks;
      in_a_lane([&] {
        for (const std::size_t bytes : {eighth, std::size_t{1000}, std::size_t{16}}) {
          for (int i = 0; i < (bytes == eighth ? 7 : 100); ++i) {
            auto* const block = static_cast<std::byte*>(manager.malloc(bytes));
            if (block == nullptr) break;
            blocks.emplace_back(block, bytes);
          }
        }
      });
      std::sort(blocks.begin(), blocks.end());
      ASSERT_EQ(blocks.size(), 207u) << gib;
      EXPECT_GE(blocks.front().first, memory.base);
      EXPECT_LE(blocks.back().first + blocks.back().second, memory.base + memory.bytes);
      for (std::size_t i = 1; i < blocks.size(); ++i) {
        ASSERT_GE(blocks[i].first, blocks[i - 1].first + blocks[i - 1].second) << gib;
      }
      in_a_lane([&] {
        for (const auto& [block, bytes] : blocks) manager.free(block);
        // All of it is one block again, whose last bytes are the heap's.
        auto* const all = static_cast<std::byte*>(manager.malloc(manager.largest_block()));
        EXPECT_NE(all, nullptr) << gib;
        if (all != nullptr) {
          EXPECT_LE(all + manager.largest_block(), memory.base + memory.bytes);
          manager.free(all);
        }
      });
    });
  }
}

// Blocks that are found by hashing or drawing, all over the heap.
TEST(slots_of_large_heaps, blocks_are_apart_and_within) {
  in_region_of(std::size_t{9} << 30, [&](const region& memory) {
    const dynasoar<> manager(memory, small_machine(), {});
    manager.format(0, 1);
    expect_sound_addresses(manager, memory, 1000, 1000);
  });
}

// Larger heaps than these would take memory and time, for their tables are written in full:
// largest_heaps_test.cpp has them.
template <class Tried>
class small_blocks_of_large_heaps : public ::testing::Test {};
using managers_of_small_blocks =
    ::testing::Types<tried<halloc<>, 5>, tried<kma<>, 5>, tried<bulk_allocator<>, 5, 70, 139>,
                     tried<warpheap_manager<>, 5, 70>>;
TYPED_TEST_SUITE(small_blocks_of_large_heaps, managers_of_small_blocks);

TYPED_TEST(small_blocks_of_large_heaps, the_largest_fill_them_to_the_end) {
  for (const std::size_t gib : TypeParam::gib) {
    in_region_of(gib << 30, [&](const region& all) {
      // Of one multiprocessor, as queues for several would keep a block each, anywhere in the heap.
      const typename TypeParam::manager manager(all, small_machine(1), {});
      manager.format(0, 1);
      const std::size_t bytes = std::min<std::size_t>(manager.largest_block(), 1 << 20);
      std::vector<std::byte*> blocks;
      in_a_lane([&] {
        while (auto* const block = static_cast<std::byte*>(manager.malloc(bytes))) {
          blocks.push_back(block);
        }
      });
      std::sort(blocks.begin(), blocks.end());
      ASSERT_GT(blocks.size() * bytes, all.bytes / 8 * 7) << gib;
      EXPECT_GE(blocks.front(), all.base);
      EXPECT_GT(blocks.back(), all.base + all.bytes / 64 * 63) << gib;
      EXPECT_LE(blocks.back() + bytes, all.base + all.bytes);
      for (std::size_t i = 1; i < blocks.size(); ++i) {
        ASSERT_GE(static_cast<std::size_t>(blocks[i] - blocks[i - 1]), bytes) << gib;
      }
      // Room at the far end alone, for blocks of another size.
      const std::size_t kept = blocks.size() - 2048;
      in_a_lane([&] {
        for (std::size_t i = kept; i < blocks.size(); ++i) manager.free(blocks[i]);
        for (int i = 0; i < 100; ++i) {
          const auto* const block = static_cast<std::byte*>(manager.malloc(16));
          ASSERT_GE(block, blocks[kept] - (1 << 20)) << gib;
          ASSERT_LE(block + 16, all.base + all.bytes) << gib;
        }
      });
    });
  }
}

template <class M>
class chunks_of_large_heaps : public ::testing::Test {};
TYPED_TEST_SUITE(chunks_of_large_heaps, all_variants, manager_names);

TYPED_TEST(chunks_of_large_heaps, the_last_chunks_hold_pages_and_runs) {
  using map_type = std::remove_cvref_t<decltype(std::declval<TypeParam>().map())>;
  using ouroboros_parts::chunk_supply;
  constexpr std::size_t most = map_type::pages ? 1024 : 511;  // of numbered chunks
  for (const std::size_t gib : {std::size_t{5}, std::size_t{70}, most}) {
    in_region_of(gib << 30, [&](const region& all) {
      const TypeParam manager(all, small_machine(), {});
      // Formatting writes zero, which is there, but for what comes first everywhere.
      for (std::uint64_t rank = 0; rank < 4096; ++rank) {
        manager.format(rank, std::uint64_t{1} << 40);
      }
      // As if all chunks but the last had been dealt out.
      constexpr std::uint32_t last = 64;
      const auto& map = manager.map();
      auto* const supply = reinterpret_cast<chunk_supply::words*>(
          all.base + map_type::sizes::classes * sizeof(ouroboros_parts::class_words));
      ASSERT_EQ(supply->left, map.supply().left().initial(map.chunk_count() - map.for_queues()));
      supply->fresh = map.chunk_count() - last;
      supply->left = map.supply().left().initial(last - 8);
      // Less than two chunks are left over: no question to the manager, which may be wrong.
      const std::byte* const end = all.base + all.bytes;
      const std::byte* const first = end - (last + 2) * map_type::sizes::chunk_bytes;
      for (int round = 0; round < 3; ++round) {
        std::vector<std::pair<std::byte*, std::size_t>> blocks;
        in_a_lane([&] {
          for (const std::size_t bytes : {16, 100, 8192, 32768}) {
            const int count = bytes < 1000 ? 100 : 3;
            for (int i = 0; i < count; ++i) {
              blocks.emplace_back(static_cast<std::byte*>(manager.malloc(bytes)), bytes);
            }
          }
        });
        std::sort(blocks.begin(), blocks.end());
        EXPECT_GE(blocks.front().first, first) << gib;
        EXPECT_LE(blocks.back().first + blocks.back().second, end) << gib;
        for (std::size_t i = 1; i < blocks.size(); ++i) {
          ASSERT_GE(blocks[i].first, blocks[i - 1].first + blocks[i - 1].second) << gib;
        }
        in_a_lane([&] {
          for (const auto& [block, bytes] : blocks) manager.free(block);
        });
      }
    });
  }
}

// A heap whose counters alone are there. Each refused request adds nearly its size to the counter,
// so that a few million of them would take it around 64 bits.
template <class M>
class counters_of_bump : public ::testing::Test {};
using bump_managers =
    ::testing::Types<bump<bump_config{bump_counters::one}>, bump<bump_config{bump_counters::warp}>,
                     bump<bump_config{bump_counters::sharded}>>;
TYPED_TEST_SUITE(counters_of_bump, bump_managers);

TYPED_TEST(counters_of_bump, requests_that_are_refused_never_wrap_them) {
  struct alignas(4096) counters {
    std::byte bytes[4096];
  };
  static counters memory;
  constexpr std::size_t heap_bytes = std::size_t{1} << 48;
  const TypeParam manager(region{memory.bytes, heap_bytes}, small_machine(), {});
  manager.format(0, 1);
  const std::size_t share = manager.largest_block();
  ASSERT_GE(share * small_machine().multiprocessors, heap_bytes - 4096 - 4 * 16 - 64);
  int served = 0;
  in_a_lane([&] {
    constexpr int requests = sanitized ? 100'000 : 5'000'000;
    for (int i = 0; i < requests; ++i) {
      const auto* const block = static_cast<std::byte*>(manager.malloc(share - 16));
      if (block == nullptr) continue;
      ++served;
      EXPECT_GE(block, memory.bytes);
    }
  });
  // One for each counter, and never again.
  EXPECT_EQ(served, static_cast<int>(heap_bytes / share));
  expect_invariants(manager);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
