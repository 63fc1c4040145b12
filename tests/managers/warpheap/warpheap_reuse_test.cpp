// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the owner of a block did is known to the next owner of its memory, in weak memory, too.
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap that is full of blocks of 60 bytes, but for one chunk.
class one_empty_chunk : public ::testing::Test {
 protected:
  one_empty_chunk() {
    std::vector<std::byte*> blocks;
    machine().launch({1, 1}, [&] {
      subject_.format(0, 1);
      while (void* const block = subject_.malloc(60)) {
        blocks.push_back(static_cast<std::byte*>(block));
      }
      std::sort(blocks.begin(), blocks.end());
      for (int i = 4; i < 8; ++i) subject_.free(blocks[static_cast<std::size_t>(i)]);
    });
    first_ = blocks[4];
    state_ = memory_.contents();
  }
  void restore() {
    std::copy(state_.begin(), state_.end(), memory_.all().base);
    written_.assign(chunk_bytes / 16, 0);
    newest_.assign(chunk_bytes / 16, 0);
    is_old_ = false;
  }
  /// Takes a block, if there is one; looks at what was written there last, and writes.
  void use(std::uint32_t bytes) {
    auto* const block = static_cast<std::byte*>(subject_.malloc(bytes));
    if (block == nullptr) return;
    const auto begin = static_cast<std::size_t>(block - first_) / 16;
    for (std::size_t i = begin; i < begin + (bytes + 15) / 16; ++i) {
      const simt::atomic_ref in(written_.at(i));
      if (in.load(simt::order::relaxed) != newest_[i]) is_old_ = true;
      in.store(++newest_[i], simt::order::relaxed);
    }
    subject_.free(block);
  }
  /// The same without a search.
  void use_word(std::uint32_t word) const {
    const std::uint32_t of = parts().classes().sizes().class_of(60);
    using claims = warpheap_slot_claims<small_chunks>;
    const std::uint64_t seen = parts().chunks().word(chunk, word);
    const std::uint64_t bits =
        claims(parts(), of).claim({chunk, word}, seen, {.which = claims::chunks::claims::offered});
    if (bits == 0) return;
    const auto bit = static_cast<std::uint32_t>(lowest_bit(bits));
    warpheap_slot_frees<small_chunks>(parts()).run_alone(of, chunk, word, bit);
  }
  /// Takes the chunk from its class, if it is empty, and gives it to the pool.
  void take_away() const {
    for (int waits = 8; waits != 0 && !parts().empties().contains(chunk); --waits) {
      simt::backoff(1);
    }
    const std::uint32_t hand = parts().whole().begin_move();
    const auto alone = simt::lane_mask::of(simt::lane_id());
    if (parts().empties().remove(chunk) &&
        warpheap_chunk_moves<small_chunks>::close_apart(parts(), chunk, alone)) {
      parts().pool().insert(chunk);
      parts().released();
    }
    parts().whole().end_move(hand);
  }
  const small::supply& parts() const { return subject_.parts(); }
  static simt::schedule schedule_of(std::uint64_t seed) {
    constexpr simt::strategy ways[]{simt::strategy::sticky, simt::strategy::uniform,
                                    simt::strategy::pct};
    return {ways[seed % 3], seed,
            race_checked ? simt::memory_model::sequential : simt::memory_model::weak};
  }
  bool is_valid() const {
    inspection found;
    subject_.inspect(0, 1, found);
    return std::all_of(std::begin(found.violations), std::end(found.violations),
                       [](auto times) { return times == 0; });
  }

  // Mistakes were met within 110.
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 200 : 800;
  static constexpr std::size_t chunk_bytes = 256;
  static constexpr std::uint32_t chunk = 1;  // of four blocks
  const rubbish memory_{16_KiB};
  const small subject_{memory_.all(), machine().properties(), {}};
  std::byte* first_ = nullptr;
  std::vector<std::byte> state_;
  std::vector<std::uint32_t> written_;
  std::vector<std::uint32_t> newest_;  ///< what `written_` would be if memory were not weak
  bool is_old_ = false;
};

// Others close the chunk, to take it from its class, with success or in vain. Lanes alone, and
// warps whose lanes take and free together.
TEST_F(one_empty_chunk, goes_from_lane_to_lane_with_what_they_wrote) {
  for (const simt::grid shape : {simt::grid{4, 1}, simt::grid{3, 2}}) {
    simt::explorer lanes(shape, 100'000);
    for (std::uint64_t seed = 1; seed <= schedules / 4; ++seed) {
      restore();
      const auto outcome = lanes.run(schedule_of(seed), [this] {
        const std::uint64_t rank = simt::block_rank();
        for (int round = rank < 2 ? 3 : 1; round != 0; --round) use(rank < 2 ? 60 : 128);
      });
      ASSERT_EQ(outcome.stuck, "") << seed;
      ASSERT_FALSE(is_old_) << seed;
      ASSERT_TRUE(is_valid()) << seed;
    }
  }
}

// It is among the empty ones, or in the pool, when no lane uses or closes it any more.
TEST_F(one_empty_chunk, is_not_lost_while_lanes_use_it_and_others_take_it_away) {
  simt::explorer lanes({3, 1}, 10'000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    restore();
    const auto outcome = lanes.run(schedule_of(seed), [&] {
      simt::thread_rank() == 0 ? use_word(seed / 3 % 2) : take_away();
    });
    ASSERT_EQ(outcome.stuck, "") << seed;
    ASSERT_TRUE(is_valid()) << seed;
    ASSERT_TRUE(parts().pool().contains(chunk) || parts().empties().contains(chunk)) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
