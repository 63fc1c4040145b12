// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calloc, realloc and usable_size of blocks whose sizes need more than 32 bits. On the CPU, a GiB
// is a MiB: the same steps, for which any machine has the memory.
#include "conformance/kernels.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "take_and_give.hpp"

#include "warpheap/simt/device_memory.hpp"
#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::size_t gib = WARPHEAP_CUDA_MODEL ? 1_GiB : 1_MiB;
constexpr std::uint8_t before = 0xa5;  ///< each byte of the region, before it is a heap's
/// A launch that takes longer is a hang to a user.
constexpr double most_ms = 10'000;

/// What the words of a block are.
struct contents {
  bool zero;
  std::uint64_t tag;
  WARPHEAP_DEVICE std::uint64_t word(std::uint64_t i) const {
    return zero ? 0 : pattern_word(tag, i);
  }
};

struct write_words {
  std::uint64_t* words;
  std::uint64_t count;
  contents with;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = simt::thread_rank(); i < count; i += simt::grid_size()) {
      words[i] = with.word(i);
    }
  }
};

struct count_wrong_words {
  const std::uint64_t* words;
  std::uint64_t count;
  contents with;
  std::uint64_t* wrong;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t found = 0;
    for (std::uint64_t i = simt::thread_rank(); i < count; i += simt::grid_size()) {
      found += words[i] != with.word(i);
    }
    if (found != 0) simt::atomic_ref(*wrong).fetch_add(found, simt::order::relaxed);
  }
};

struct call_calloc {
  heap_ref from;
  std::size_t count;
  std::size_t bytes;
  std::byte** block;
  WARPHEAP_DEVICE void operator()() const {
    *block = static_cast<std::byte*>(from.calloc(count, bytes));
  }
};

struct call_realloc {
  heap_ref from;
  std::byte* old;
  std::size_t bytes;
  std::byte** block;
  WARPHEAP_DEVICE void operator()() const {
    *block = static_cast<std::byte*>(from.realloc(old, bytes));
  }
};

struct call_usable_size {
  heap_ref of;
  std::byte* block;
  std::size_t* bytes;
  WARPHEAP_DEVICE void operator()() const { *bytes = of.usable_size(block); }
};

/// All lanes of a warp share one block.
struct call_malloc_shared {
  heap_ref from;
  std::size_t bytes;
  std::byte** blocks;
  WARPHEAP_DEVICE void operator()() const {
    blocks[simt::thread_rank()] = static_cast<std::byte*>(from.malloc_shared(simt::warp(), bytes));
  }
};

/// A heap of 12 GiB in memory of which each byte was something else than zero.
class blocks_beyond_4_gib : public ::testing::Test {
 protected:
  blocks_beyond_4_gib()
      : memory_(filled()), subject_(machine(), region{memory_.get(), heap_bytes}) {}

  static void write(std::byte* block, std::size_t bytes, const contents& with) {
    machine().launch(wide, write_words{reinterpret_cast<std::uint64_t*>(block), bytes / 8, with});
  }
  static std::uint64_t wrong_words(const std::byte* block, std::size_t bytes,
                                   const contents& with) {
    const device_array<std::uint64_t> wrong(1);
    machine().launch(wide, count_wrong_words{reinterpret_cast<const std::uint64_t*>(block),
                                             bytes / 8, with, wrong.get()});
    return wrong.read().front();
  }

  /// What a lane alone gets by a call; says how long it took.
  template <class Call>
  std::byte* one_lane(const char* what, Call call) {
    const device_array<std::byte*> block(1);
    call.block = block.get();
    ms_ = machine().start({1, 1}, call).ms();
    std::printf("  %s by one lane: %.1f ms\n", what, ms_);
    std::fflush(stdout);
    return block.read().front();
  }
  std::byte* calloc(const char* what, std::size_t count, std::size_t bytes) {
    return one_lane(what, call_calloc{subject_.ref(), count, bytes, nullptr});
  }
  std::byte* realloc(const char* what, std::byte* block, std::size_t bytes) {
    return one_lane(what, call_realloc{subject_.ref(), block, bytes, nullptr});
  }
  std::size_t usable_size(std::byte* block) const {
    const device_array<std::size_t> bytes(1);
    machine().launch({1, 1}, call_usable_size{subject_.ref(), block, bytes.get()});
    return bytes.read().front();
  }

  /// Large blocks are whole chunks, by which a heap grows as well.
  void expect_usable(std::byte* block, std::size_t bytes) const {
    const std::size_t chunk = subject_.ref().manager().growth_step();
    EXPECT_EQ(usable_size(block), round_up(bytes, chunk));
    EXPECT_LE(chunk, gib / 64) << "whole chunks say little then";
  }
  /// The last call did not look like a hang.
  void expect_in_time() const { EXPECT_LT(ms_, most_ms) << "in ms, by one lane"; }

  static constexpr std::size_t heap_bytes = 12 * gib;
  static inline const simt::grid wide{WARPHEAP_CUDA_MODEL ? 2048u : 4u, block_threads};
  double ms_ = 0;

 private:
  static device_memory filled() {
    device_memory memory(machine(), heap_bytes);
    machine().fill(memory.get(), before, heap_bytes);
    machine().synchronize();
    return memory;
  }
  device_memory memory_;

 protected:
  heap<default_manager> subject_;
};

TEST_F(blocks_beyond_4_gib, calloc_clears_all_of_a_block_and_nothing_else) {
  constexpr std::size_t count = 3;
  constexpr std::size_t each = gib + gib / 2 - 1;
  constexpr std::size_t bytes = count * each;  // no multiple of any alignment
  // Blocks before and behind it: all that there is, but for one place in their middle. They lie
  // side by side, because a lane alone takes one after the other.
  std::byte* const first = take_one(subject_, 2 * gib);
  std::byte* const place = take_one(subject_, bytes);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(place, nullptr);
  block_list others = take_all(subject_, gib / 4, 1);
  others.push_back(first);
  const auto bytes_of = [&](std::size_t i) { return others[i] == first ? 2 * gib : gib / 4; };
  for (std::size_t i = 0; i < others.size(); ++i) write(others[i], bytes_of(i), {false, i});
  give(subject_, {place});
  EXPECT_EQ(wrong_words(place, bytes, {true, 0}), bytes / 8) << "words that are zero already";
  std::byte* const block = calloc("calloc of 4.5 GiB", count, each);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block, place) << "there is no other room";
  expect_in_time();
  expect_usable(block, bytes);
  EXPECT_EQ(std::count(others.begin(), others.end(), block + usable_size(block)), 1)
      << "no other block lies behind it";
  EXPECT_EQ(wrong_words(block, bytes, {true, 0}), 0u);
  std::array<std::byte, 16> end{};
  machine().copy_to_host(end.data(), block + bytes - end.size(), end.size());
  EXPECT_EQ(std::count(end.begin(), end.end(), std::byte{0}), 16) << "the last bytes are not zero";
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(wrong_words(others[i], bytes_of(i), {false, i}), 0u) << "in another block";
  }
  expect_valid(subject_);
}

TEST_F(blocks_beyond_4_gib, calloc_of_more_bytes_than_there_are_numbers_returns_null) {
  constexpr std::size_t half = std::size_t{1} << 32;
  // Modulo 2^64, the products are 0, 4 GiB, 2 and 1.
  const std::pair<std::size_t, std::size_t> too_many[]{
      {half, half}, {half + 1, half}, {SIZE_MAX / 2 + 2, 2}, {SIZE_MAX, SIZE_MAX}};
  for (const auto& [count, bytes] : too_many) {
    EXPECT_EQ(calloc("calloc of too much", count, bytes), nullptr) << count << " * " << bytes;
  }
  EXPECT_EQ(calloc("calloc of more than the heap", 13, gib), nullptr);
  EXPECT_EQ(subject_.stats().impossible, std::size(too_many) + 1);
  EXPECT_EQ(calloc("calloc of none", 0, half), nullptr);
  EXPECT_EQ(calloc("calloc of nothing", half, 0), nullptr);
  const heap_stats found = subject_.stats();
  EXPECT_EQ(found.impossible, std::size(too_many) + 1);
  EXPECT_EQ(found.failures, 0u);
  EXPECT_EQ(found.blocks_in_use, 0u);
}

TEST_F(blocks_beyond_4_gib, realloc_keeps_what_is_in_a_block) {
  constexpr std::size_t small = 4 * gib + gib / 4 - 100;
  constexpr std::size_t large = 4 * gib + 3 * (gib / 4);
  const contents stamped{false, 17};
  // A small one first: a lane copies alone.
  constexpr std::size_t part = small / 512 / 8 * 8;
  std::byte* const probe = take_one(subject_, part);
  ASSERT_NE(probe, nullptr);
  write(probe, part, stamped);
  std::byte* const moved = realloc("realloc from 8.5 to 17 MiB", probe, 2 * part);
  EXPECT_EQ(wrong_words(moved, part, stamped), 0u);
  ASSERT_LT(ms_ * 512, 300'000) << "4.25 GiB would take too long for a test";
  give(subject_, {moved});

  std::byte* const block = take_one(subject_, small);
  ASSERT_NE(block, nullptr);
  expect_usable(block, small);
  const std::size_t usable = usable_size(block);
  write(block, usable, stamped);
  EXPECT_EQ(realloc("realloc to less", block, gib), block);
  EXPECT_EQ(realloc("realloc to all of it", block, usable), block);
  EXPECT_EQ(realloc("realloc to more than is free", block, 9 * gib), nullptr);
  EXPECT_EQ(subject_.stats().failures, 1u);
  EXPECT_EQ(wrong_words(block, usable, stamped), 0u) << "a block that cannot grow has changed";
  expect_usable(block, small);

  std::byte* const larger = realloc("realloc from 4.25 to 4.75 GiB", block, large);
  expect_in_time();
  ASSERT_NE(larger, nullptr);
  expect_usable(larger, large);
  EXPECT_EQ(wrong_words(larger, usable, stamped), 0u);
  EXPECT_EQ(subject_.stats().blocks_in_use, 1u) << "the old block was not freed";
  write(larger, large, {false, 18});
  give(subject_, {larger});
  EXPECT_EQ(subject_.stats().bytes_in_use, 0u);
  expect_valid(subject_);
}

TEST_F(blocks_beyond_4_gib, a_warp_shares_one) {
  constexpr std::size_t bytes = 4 * gib + gib / 2;
  const device_array<std::byte*> blocks(simt::warp_size);
  machine().launch({1, simt::warp_size}, call_malloc_shared{subject_.ref(), bytes, blocks.get()});
  const block_list got = blocks.read();
  ASSERT_NE(got.front(), nullptr);
  EXPECT_EQ(std::count(got.begin(), got.end(), got.front()), simt::warp_size);
  expect_usable(got.front(), bytes);
  EXPECT_EQ(subject_.stats().blocks_in_use, 1u);
  write(got.front(), bytes, {false, 1});
  EXPECT_EQ(wrong_words(got.front(), bytes, {false, 1}), 0u);
  give(subject_, {got.front()});
  EXPECT_NE(take_one(subject_, subject_.largest_block()), nullptr) << "it is not whole again";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
