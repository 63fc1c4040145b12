// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Addresses and searches in heaps far larger than the machine's memory, of which next to nothing
/// is touched: beyond any 32-bit offset, beyond 64 GiB, and in the largest ones that a manager lays
/// out.
///
/// Writing the tables of those in full would take memory and time. So only a few units of such a
/// heap are free, as if all others had been handed out, and only their words are written. One of
/// them is in the very middle: where the number of units is a power of two, an index that loses its
/// upper bits there is the first unit's.

#include "untouched_memory.hpp"

#include "warpheap/heap/inspection.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <class M>
void expect_invariants(const M& manager) {
  inspection found;
  manager.inspect(0, 1, found);
  for (int i = 0; i < inspection::most_invariants; ++i) {
    EXPECT_EQ(found.violations[i], 0u) << "I" << i + 1 << " at " << found.places[i];
  }
}

using byte_blocks = std::vector<std::byte*>;

template <class M>
std::byte* take(const M& manager, std::size_t bytes) {
  return static_cast<std::byte*>(manager.malloc(bytes));
}

template <class M>
void give(const M& manager, const byte_blocks& blocks) {
  for (std::byte* block : blocks) manager.free(block);
}

/// These blocks, of `bytes` each, are apart from each other, and between the two addresses.
inline void expect_apart(byte_blocks blocks, std::size_t bytes, const std::byte* first,
                         const std::byte* end) {
  std::sort(blocks.begin(), blocks.end());
  EXPECT_GE(blocks.front(), first) << bytes;
  EXPECT_LE(blocks.back() + bytes, end) << bytes;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_GE(blocks[i], blocks[i - 1] + bytes) << bytes;
  }
}

/// Blocks from all over a heap are apart, within it, and can be freed and allocated again.
/// \param is_spread whether some of them lie in its upper half, beyond any 32-bit offset
template <class M>
void expect_sound_addresses(const M& manager, const region& memory, std::size_t bytes, int count,
                            bool is_spread = true) {
  for (int round = 0; round < 2; ++round) {
    byte_blocks blocks;
    in_a_lane([&] {
      for (int i = 0; i < count; ++i) blocks.push_back(take(manager, bytes));
    });
    ASSERT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
    expect_apart(blocks, bytes, memory.base, memory.base + memory.bytes);
    if (is_spread) {
      EXPECT_GT(*std::max_element(blocks.begin(), blocks.end()), memory.base + memory.bytes / 2);
    }
    in_a_lane([&] { give(manager, blocks); });
  }
}

/// Large blocks leave the far end to small ones. The tables of these heaps have a bit or two for 16
/// bytes, all of which formatting writes.
template <class M>
void expect_small_blocks_at_the_far_end(std::initializer_list<std::size_t> heaps_gib) {
  for (const std::size_t gib : heaps_gib) {
    in_region_of(gib << 30, [&](const region& memory) {
      const M manager(memory, small_machine(), {});
      manager.format(0, 1);
      // Seven eighths of the heap; then small blocks where there is room left.
      const std::size_t eighth = manager.largest_block() / 8 - 4096;
      std::vector<std::pair<std::byte*, std::size_t>> blocks;
      in_a_lane([&] {
        for (const std::size_t bytes : {eighth, std::size_t{1000}, std::size_t{16}}) {
          for (int i = 0; i < (bytes == eighth ? 7 : 100); ++i) {
            std::byte* const block = take(manager, bytes);
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
        std::byte* const all = take(manager, manager.largest_block());
        EXPECT_NE(all, nullptr) << gib;
        if (all != nullptr) {
          EXPECT_LE(all + manager.largest_block(), memory.base + memory.bytes);
          manager.free(all);
        }
      });
    });
  }
}

/// Blocks of the largest size, of 1 MiB at most, fill heaps from one end to the other; freed, they
/// leave the room at the far end to small ones. Formatting writes all tables.
template <class M>
void expect_the_largest_to_fill(std::initializer_list<std::size_t> heaps_gib) {
  for (const std::size_t gib : heaps_gib) {
    in_region_of(gib << 30, [&](const region& all) {
      // Of one multiprocessor, as queues for several would keep a block each, anywhere in the heap.
      const M manager(all, small_machine(1), {});
      manager.format(0, 1);
      const std::size_t bytes = std::min<std::size_t>(manager.largest_block(), 1 << 20);
      byte_blocks blocks;
      in_a_lane([&] {
        while (std::byte* const block = take(manager, bytes)) blocks.push_back(block);
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
          const std::byte* const block = take(manager, 16);
          ASSERT_GE(block, blocks[kept] - (1 << 20)) << gib;
          ASSERT_LE(block + 16, all.base + all.bytes) << gib;
        }
      });
    });
  }
}

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
      byte_blocks blocks;
      in_a_lane([&] {
        while (blocks.size() <= fit) {
          std::byte* const block = take(manager, bytes);
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
      in_a_lane([&] { give(manager, blocks); });
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

}  // namespace test
WARPHEAP_END_NAMESPACE
