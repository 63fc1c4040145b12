// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/heap/arena.hpp"

#include "arena_kernels.hpp"
#include "device_array.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <string>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

namespace {

using ::testing::HasSubstr;

template <class Functor, class... Arguments>
outcome run(const simt::grid& shape, const Arguments&... arguments) {
  const device_array<outcome> all(1);
  machine().launch(shape, Functor{arguments..., all.get()});
  return all.read()[0];
}

template <class M>
outcome fill(const arena<M>& from, std::uint32_t lanes, std::uint32_t least, std::uint32_t most) {
  const auto got =
      run<fill_and_look<typename arena<M>::ref_type>>(covering(lanes), from.ref(), least, most);
  EXPECT_EQ(got.wrong, 0u);
  EXPECT_EQ(got.served + got.refused, std::uint64_t{lanes} * 8);
  return got;
}

template <class M>
void expect_nothing_left(const heap<M>& subject, const arena<M>& scratch) {
  EXPECT_EQ(scratch.stats().held_bytes(), 0u);
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
  EXPECT_EQ(subject.stats().bytes_in_use, 0u);
  EXPECT_TRUE(subject.validate().ok()) << subject.validate().describe();
}

/// The statistics of the pieces are consistent.
void expect_sound(const arena_stats& found, const outcome& got) {
  EXPECT_EQ(found.handed_out_bytes, got.bytes);
  EXPECT_EQ(found.held_bytes(), found.handed_out_bytes + found.remains_bytes + found.unused_bytes +
                                    32 * found.pieces + 16 * found.singles);
  EXPECT_GE(found.waste(), 0.0);
  EXPECT_LT(found.waste(), 1.0);
}

/// Enough memory, then too little, over one manager. \param most of a request's bytes
template <class M>
void serve_and_exhaust(std::uint32_t most, const typename M::options& settings = {}) {
  heap<M> subject(machine(), 2_MiB, settings);
  arena<M> scratch(subject);
  for (int round = 0; round < 2; ++round) {
    const outcome got = fill(scratch, 256, 1, most < 600 ? most : 600);
    EXPECT_EQ(got.refused, 0u) << M::about.name;
    expect_sound(scratch.stats(), got);
    scratch.release();
    expect_nothing_left(subject, scratch);
  }
  // 1024 times 8 requests of 600 bytes and more on average: not all are served.
  std::uint64_t served[2] = {};
  for (std::uint64_t& now : served) {
    subject.reset();
    const outcome got = fill(scratch, 1024, most / 2, most);
    EXPECT_GT(got.refused, 0u) << M::about.name;
    EXPECT_EQ(subject.stats().failures, got.refused) << M::about.name;
    const arena_stats found = scratch.stats();
    expect_sound(found, got);
    EXPECT_GT(got.bytes, subject.bytes() / 2) << M::about.name;
    EXPECT_LE(found.held_bytes(), subject.stats().bytes_in_use);
    now = got.served;
    scratch.release();
    expect_nothing_left(subject, scratch);
  }
  EXPECT_NEAR(static_cast<double>(served[0]), static_cast<double>(served[1]),
              static_cast<double>(served[0]) / 10);
}

TEST(arena, serves_and_gives_back_over_the_default_manager) {
  serve_and_exhaust<default_manager>(2000);
}
// Each of these takes nvcc minutes, and the arena's part is the same.
#if !WARPHEAP_CUDA_MODEL
TEST(arena, serves_and_gives_back_over_gallatin) { serve_and_exhaust<gallatin<>>(2000); }
TEST(arena, serves_and_gives_back_over_blocks_of_8_kib_at_most) {
  serve_and_exhaust<rw_malloc<>>(2000);
}
TEST(arena, serves_and_gives_back_over_pages) {
  serve_and_exhaust<rw_bm<>>(900, {.page_bytes = 1024});
}
TEST(arena, serves_and_gives_back_over_layers) {
  serve_and_exhaust<checked<counted<default_manager>>>(2000);
}
#endif

TEST(arena, takes_small_pieces_where_large_ones_do_not_fit) {
  const heap<rw_malloc<>> subject(machine(), 1_MiB);
  const arena scratch(subject, {.piece_bytes = 1024});
  const outcome got = fill(scratch, 1024, 100, 900);
  EXPECT_GT(got.refused, 0u);
  const arena_stats found = scratch.stats();
  expect_sound(found, got);
  EXPECT_LE(found.held_bytes(), subject.stats().bytes_in_use);
}

TEST(arena, keeps_its_pieces_when_it_is_rewound) {
  const heap<> subject(machine(), 32_MiB);
  arena scratch(subject);
  const outcome got = fill(scratch, 2048, 1, 1000);
  const arena_stats before = scratch.stats();
  const std::uint64_t taken = subject.stats().bytes_in_use;
  EXPECT_GT(before.pieces, 1u);
  EXPECT_EQ(before.singles, 0u);
  for (int round = 0; round < 3; ++round) {
    scratch.rewind();
    const arena_stats empty = scratch.stats();
    EXPECT_EQ(empty.handed_out_bytes, 0u);
    EXPECT_EQ(empty.unused_bytes + 32 * empty.pieces, empty.held_bytes());
    EXPECT_EQ(empty.waste(), 1.0);
    const outcome again = fill(scratch, 2048, 1, 1000);
    EXPECT_EQ(again.bytes, got.bytes);
    expect_sound(scratch.stats(), again);
  }
  // Which shard needs how much differs between launches, so that one may need another piece.
  EXPECT_LE(subject.stats().bytes_in_use, 3 * taken);
  scratch.release();
  expect_nothing_left(subject, scratch);
}

TEST(arena, says_what_it_has) {
  const heap<> subject(machine(), 16_MiB);
  arena scratch(subject, {.piece_bytes = 1024});
  EXPECT_EQ(scratch.stats().held_bytes(), 0u);
  EXPECT_EQ(scratch.stats().waste(), 0.0);
  using lane = take_some<arena<default_manager>::ref_type>;
  // 992 bytes of a piece: two blocks of 400, and what is left is too short.
  run<lane>({1, 1}, scratch.ref(), 2u, std::uint64_t{400});
  arena_stats found = scratch.stats();
  EXPECT_EQ(found.pieces, 1u);
  EXPECT_EQ(found.piece_bytes, 1024u);
  EXPECT_EQ(found.handed_out_bytes, 800u);
  EXPECT_EQ(found.unused_bytes, 192u);
  EXPECT_EQ(found.remains_bytes, 0u);
  EXPECT_DOUBLE_EQ(found.waste(), 224.0 / 1024);
  // The second piece is twice as large.
  run<lane>({1, 1}, scratch.ref(), 1u, std::uint64_t{400});
  found = scratch.stats();
  EXPECT_EQ(found.pieces, 2u);
  EXPECT_EQ(found.piece_bytes, 1024u + 2048u);
  EXPECT_EQ(found.remains_bytes, 192u);
  EXPECT_EQ(found.unused_bytes, 2016u - 400u);
  // A request larger than a piece gets a block of its own, which a rewind returns.
  run<lane>({1, 1}, scratch.ref(), 3u, std::uint64_t{993});
  found = scratch.stats();
  EXPECT_EQ(found.singles, 3u);
  EXPECT_EQ(found.single_bytes, 3 * (1008u + 16));
  EXPECT_EQ(subject.stats().blocks_in_use, 5u);
  scratch.rewind();
  EXPECT_EQ(scratch.stats().singles, 0u);
  EXPECT_EQ(subject.stats().blocks_in_use, 2u);
  run<lane>({1, 1}, scratch.ref(), 1u, std::uint64_t{400});
  EXPECT_EQ(scratch.stats().handed_out_bytes, 400u) << "nothing of the second piece, which is kept";
  const std::uint64_t largest = scratch.largest_block();
  EXPECT_EQ(run<lane>({1, 1}, scratch.ref(), 1u, largest + 1).refused, 1u);
  EXPECT_EQ(subject.stats().impossible, 1u);
  EXPECT_EQ(subject.stats().failures, 0u);
  scratch.release();
  EXPECT_EQ(run<lane>({1, 1}, scratch.ref(), 1u, largest).served, 1u);
}

TEST(arena, has_a_description_of_its_own) {
  EXPECT_STRNE(arena_blocks<rw_malloc<>>::about.description, rw_malloc<>::about.description);
}

TEST(arena, offers_what_a_handle_does) {
  const heap<> subject(machine(), 16_MiB);
  arena scratch(subject);
  using lanes = use_the_handle<arena<default_manager>::ref_type>;
  EXPECT_EQ(run<lanes>({2, 64}, scratch.ref()).wrong, 0u);
  scratch.release();
  expect_nothing_left(subject, scratch);
}

TEST(arena, holds_containers) {
  const heap<> subject(machine(), 16_MiB);
  arena scratch(subject);
  using lanes = fill_containers<arena<default_manager>::ref_type>;
  const outcome got = run<lanes>({4, 64}, scratch.ref());
  EXPECT_EQ(got.wrong, 0u);
  EXPECT_EQ(got.served, 256u * 100);
  scratch.release();
  expect_nothing_left(subject, scratch);
}

TEST(arena, is_given_back_in_a_kernel) {
  const heap<> subject(machine(), 4_MiB);
  const arena scratch(subject, {.piece_bytes = 4096});
  using lanes = release_in_the_kernel<arena<default_manager>::ref_type>;
  for (const bool keeps : {false, true}) {
    const outcome got = run<lanes>({1, 128}, scratch.ref(), keeps);
    EXPECT_EQ(got.wrong, 0u);
    EXPECT_EQ(got.refused, 0u);
    EXPECT_EQ(scratch.stats().handed_out_bytes, 0u);
    EXPECT_EQ(subject.stats().blocks_in_use == 0, !keeps);
  }
  EXPECT_TRUE(subject.validate().ok());
}

TEST(arena, shares_the_heap_with_others) {
  const heap<> subject(machine(), 16_MiB);
  arena one(subject);
  const arena two(subject, machine().queue());
  using lanes = share_the_heap<heap_ref, arena<default_manager>::ref_type>;
  EXPECT_EQ(run<lanes>({4, 128}, subject.ref(), one.ref()).wrong, 0u);
  const outcome got = run<lanes>({4, 128}, subject.ref(), two.ref());
  EXPECT_EQ(got.wrong, 0u);
  EXPECT_EQ(got.refused, 0u);
  one.release();
  EXPECT_EQ(two.stats().handed_out_bytes, 256u * 20 * 48);
  EXPECT_EQ(subject.stats().blocks_in_use, two.stats().pieces);
}

TEST(arena, gives_back_when_it_ends) {
  const heap<> subject(machine(), 16_MiB);
  {
    arena first(subject);
    fill(first, 256, 1, 100);
    const arena second(std::move(first));
    EXPECT_GT(subject.stats().blocks_in_use, 0u);
    EXPECT_GT(second.stats().handed_out_bytes, 0u);
    EXPECT_THROW(first.release(), invalid_argument);  // NOLINT(bugprone-use-after-move)
    EXPECT_THROW(first.ref(), invalid_argument);
    EXPECT_THROW(static_cast<void>(first.stats()), invalid_argument);
  }
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
}

TEST(arena, names_what_pieces_can_be) {
  const heap<rw_malloc<>> subject(machine(), 1_MiB);
  const auto refusal = [&](std::size_t bytes) -> std::string {
    try {
      const arena<rw_malloc<>> scratch(subject, {.piece_bytes = bytes});
    } catch (const invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(8208), HasSubstr("pieces of 8208 bytes"));
  EXPECT_THAT(refusal(8208), HasSubstr("from 64 to 8192"));
  EXPECT_THAT(refusal(48), HasSubstr("pieces of 48 bytes"));
  EXPECT_THAT(refusal(100), HasSubstr("multiples of 16"));
  EXPECT_EQ(refusal(8192), "");
  EXPECT_EQ(refusal(64), "");
  EXPECT_EQ(refusal(0), "");
}

#if !WARPHEAP_CUDA_MODEL
TEST(arena, inspection_sees_growth_without_an_end_and_pieces_of_more_than_they_have) {
  using layer = arena_blocks<rw_malloc<>>;
  const rubbish memory(1_MiB);
  const layer all(memory.all(), machine_of(1), {});  // one shard
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    EXPECT_NE(all.malloc(64), nullptr);
  });
  const auto broken = [&] {
    inspection found;
    machine().launch({1, 1}, [&] { all.inspect(0, 1, found); });
    return found.violations[31];
  };
  EXPECT_EQ(broken(), 0u);
  // Shards come behind the copy of the supply.
  constexpr std::size_t before =
      round_up<std::size_t>(sizeof(arena_parts::arena_supply<rw_malloc<>>), 128);
  auto& shard = *reinterpret_cast<arena_parts::shard*>(memory.all().base + before);
  ASSERT_NE(shard.first, nullptr);
  shard.growths += 1;
  EXPECT_EQ(broken(), 1u);
  shard.growths -= 1;
  shard.first->used += 1u << 20;
  EXPECT_EQ(broken(), 1u);
  shard.first->used -= 1u << 20;
  EXPECT_EQ(broken(), 0u);
}

/// An arena of this many shards, by default over a manager whose largest blocks have 8 KiB.
template <class M = rw_malloc<>>
class arena_of_shards {
 public:
  using layer = arena_blocks<M>;

  explicit arena_of_shards(std::uint32_t shards, std::size_t bytes = 256_KiB,
                           std::size_t piece_bytes = 1024)
      : memory_(bytes), layer_(memory_.all(), machine_of(shards), {.piece_bytes = piece_bytes}) {
    machine().launch({1, 1}, [&] { layer_.format(0, 1); });
  }

  /// Blocks that a lane of the multiprocessor of a block gets: up to `most`.
  std::uint32_t take(std::uint32_t block, std::uint32_t most, std::size_t bytes) const {
    std::uint32_t got = 0;
    machine().launch({block + 1, 1}, [&, to = &got] {
      if (simt::block_rank() != block) return;
      while (*to < most && layer_.malloc(bytes) != nullptr) ++*to;
    });
    return got;
  }
  /// Whether there can be a block of this alignment, of which `less` bytes less than the largest
  /// block are asked for. If so, there is.
  bool has_aligned(std::size_t alignment, std::size_t less) const {
    bool can = false;
    machine().launch({1, 1}, [&, to = &can] {
      const std::size_t bytes = layer_.largest_block() - less;
      *to = layer_.can_align(alignment, bytes);
      if (*to) {
        EXPECT_NE(layer_.aligned_malloc(alignment, bytes), nullptr);
      }
    });
    return can;
  }
  void rewind() const {
    machine().launch({1, 1}, [&] { layer_.rewind(0, 1); });
  }
  arena_stats stats() const {
    arena_stats found;
    machine().launch({1, 1}, [&, to = &found] { layer_.measure(0, 1, *to); });
    return found;
  }
  bool is_sound() const {
    inspection found;
    machine().launch({1, 1}, [&, to = &found] { layer_.inspect(0, 1, *to); });
    return found.violations[31] == 0;
  }

 private:
  rubbish memory_;
  layer layer_;
};

TEST(arena, pieces_grow_until_one_is_as_large_as_the_largest_block) {
  const arena_of_shards<> scratch(1);
  // Pieces of 1, 2, 4 and 8 KiB hold 1, 2, 4 and 8 of these.
  EXPECT_EQ(scratch.take(0, 15, 900), 15u);
  EXPECT_EQ(scratch.stats().pieces, 4u);
  EXPECT_EQ(scratch.stats().piece_bytes, 15u * 1024);
}

// The order of a piece is kept in the bits of its address that are 0.
TEST(arena, pieces_grow_to_the_order_for_which_there_is_room_in_a_word) {
  if (sanitized) GTEST_SKIP() << "one lane asks 131,055 times";
  const arena_of_shards<default_manager> scratch(1, 40_MiB, 64);
  // Sixteen pieces, each twice as large as the one before, hold one less than these.
  constexpr std::uint32_t blocks = (1u << 17) - 17;
  EXPECT_EQ(scratch.take(0, blocks, 32), blocks);
  EXPECT_EQ(scratch.stats().pieces, 17u);
  EXPECT_EQ(scratch.stats().piece_bytes, 64u * (65535 + 32768)) << "the last two are equal";
  EXPECT_TRUE(scratch.is_sound());
}

TEST(arena, an_aligned_block_may_be_as_large_as_what_is_skipped_leaves) {
  const arena_of_shards<> scratch(1);
  for (const std::size_t alignment : {32, 256, 1024}) {
    EXPECT_TRUE(scratch.has_aligned(alignment, alignment - 16)) << alignment;
    EXPECT_FALSE(scratch.has_aligned(alignment, alignment - 17)) << alignment;
  }
}

TEST(arena, a_piece_that_another_shard_has_kept_is_used_where_memory_ends) {
  const arena_of_shards<> scratch(2);
  ASSERT_GT(scratch.take(1, ~0u, 992), 100u);
  scratch.rewind();
  const std::uint64_t pieces = scratch.stats().pieces;
  EXPECT_EQ(scratch.take(0, 1, 992), 1u);
  EXPECT_EQ(scratch.stats().pieces, pieces);
  EXPECT_TRUE(scratch.is_sound()) << "the other shard's turn is over";
}
#endif

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
