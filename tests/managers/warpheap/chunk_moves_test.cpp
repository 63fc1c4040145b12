// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chunk whose slots are all free is where lanes of other classes find it, unless one has it.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/chunk_moves.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A full heap of one size, of which one chunk has been freed.
class last_empty_chunk : public ::testing::Test {
 protected:
  using moves = warpheap_chunk_moves<small_chunks>;

  explicit last_empty_chunk(std::size_t bytes = 16_KiB) : memory_(bytes) {
    machine().launch({1, 1}, [this] {
      subject_.format(0, 1);
      std::vector<std::byte*> blocks;
      while (auto* const block = static_cast<std::byte*>(subject_.malloc(16))) {
        blocks.push_back(block);
      }
      std::sort(blocks.begin(), blocks.end());
      first_ = blocks[0];
      for (std::size_t i = 0; i < slots; ++i) subject_.free(blocks[i]);
      EXPECT_EQ(small::chunks::words_in_use(parts().chunks().look(0)), 0u);
      EXPECT_TRUE(is_noted(0));
      EXPECT_FALSE(parts().pool().examine_any());
    });
    before_ = memory_.contents();
  }
  void restore() const { std::copy(before_.begin(), before_.end(), memory_.all().base); }
  const small::supply& parts() const { return subject_.parts(); }
  /// Whether a word of chunk 0 is among those that lanes draw.
  bool is_listed(std::uint32_t word) const {
    for (std::uint64_t noise = 0; noise < 100; ++noise) {
      if (parts().listed().draw(0, mix64(noise)) == word) return true;
    }
    return false;
  }
  bool is_noted(std::uint32_t chunk) const {
    return (parts().empties().peek_word(0) >> chunk & 1) != 0;
  }

  static constexpr std::size_t slots = 256 / 16;
  static constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 6000;
  const rubbish memory_;
  const small subject_{memory_.all(), machine().properties(), {}};
  const std::uint32_t of_ = subject_.parts().classes().sizes().class_of(16);
  std::byte* first_ = nullptr;  ///< block of chunk 0
  std::vector<std::byte> before_;
};

// Until the class has used it, another one may take it.
TEST_F(last_empty_chunk, is_noted_again_if_its_own_class_gets_it) {
  machine().launch({1, 1}, [this] {
    auto how = moves::source::for_team;
    EXPECT_EQ(moves::add(parts(), of_, simt::lane_mask::of(simt::lane_id()), {}, &how), 0u);
    EXPECT_EQ(how, moves::source::own);
    EXPECT_TRUE(is_noted(0));
  });
}

// Lanes that took others out of the class at the same time may have spoiled it.
TEST_F(last_empty_chunk, gets_a_hint_again_if_its_own_class_finds_it_without) {
  machine().launch({1, 1}, [this] {
    const std::uint32_t population = parts().classes().of(of_).turns.population;
    parts().classes().remove(of_, 0);
    auto how = moves::source::for_team;
    EXPECT_EQ(moves::add(parts(), of_, simt::lane_mask::of(simt::lane_id()), {}, &how), 0u);
    EXPECT_EQ(parts().classes().of(of_).turns.population, population);
    EXPECT_EQ(parts().classes().named(of_, population - 1, 0).chunk, 0u);
  });
}

TEST_F(last_empty_chunk, has_left_its_class_once_another_one_has_it) {
  machine().launch({1, 1}, [this] {
    const std::uint32_t& population = parts().classes().of(of_).turns.population;
    const std::uint32_t before = population;
    EXPECT_EQ(moves::take(parts(), 1), 0u);
    EXPECT_EQ(population, before - 1);
    EXPECT_FALSE(parts().classes().open(of_).contains(0));
  });
}

// A lane has claimed a slot of the last word, and has yet to say so. What is closed before it was
// marked, with slots on offer.
TEST_F(last_empty_chunk, that_cannot_be_closed_lists_its_words_again) {
  machine().launch({1, 1}, [this] {
    const warpheap_slots shape = parts().classes().slots(of_);
    const std::uint32_t owner = chunk_owner::first_class + of_;
    ASSERT_TRUE(small::chunks::is_marked(parts().chunks().word(0, 0)));
    ASSERT_FALSE(is_listed(0));
    const small::chunks::target last{0, shape.words - 1, owner, shape};
    const std::uint64_t seen = parts().chunks().word(0, last.number);
    using claims = small::chunks::claims;
    ASSERT_NE(parts().chunks().claim(last, seen, {.which = claims::offered}).bits, 0u);
    EXPECT_FALSE(moves::close_apart(parts(), 0, simt::lane_mask::of(simt::lane_id())));
    for (std::uint32_t i = 0; i < last.number; ++i) {
      EXPECT_EQ(parts().chunks().word(0, i), small::chunks::empty_word(owner)) << i;
    }
    EXPECT_TRUE(is_listed(0));
    EXPECT_TRUE(parts().classes().open(of_).contains(0));
  });
}

// Chunks that are noted ahead of their use stay noted when they fill up.
TEST_F(last_empty_chunk, is_found_behind_any_number_of_others_that_are_in_use) {
  machine().launch({1, 1}, [this] {
    const std::uint32_t last = parts().universe() - 1;
    ASSERT_GE(last, 20u);
    ASSERT_EQ(moves::take(parts(), 1), 0u);
    for (std::size_t i = 0; i < slots; ++i) subject_.free(first_ + last * 256 + i * 16);
    for (std::uint32_t chunk = 1; chunk < last; ++chunk) parts().empties().insert(chunk);
    EXPECT_EQ(moves::take(parts(), 1), last);
  });
}

/// The same behind entries of all other chunks, which are in use.
class last_of_many_entries : public last_empty_chunk {
 protected:
  last_of_many_entries() : last_empty_chunk(64_KiB) { note_all(); }

  void note_all() const {
    machine().launch({1, 1}, [this] {
      for (std::uint32_t chunk = 1; chunk < parts().universe(); ++chunk) {
        parts().empties().insert(chunk);
      }
    });
  }
  std::uint32_t entries() const {
    std::uint32_t count = 0;
    for (std::uint32_t word = 0; word < parts().empties().leaf_words(); ++word) {
      count += static_cast<std::uint32_t>(popcount(parts().empties().peek_word(word)));
    }
    return count;
  }
};

/// Behind entries in its own word.
class last_of_a_word : public last_empty_chunk {
 protected:
  last_of_a_word() : last_empty_chunk(256_KiB) {}
};

// A class takes chunks lowest first, so in each word those that it uses come before those that
// others have left: a look into another word found one that was in use, too.
TEST_F(last_of_a_word, is_found_although_the_same_word_begins_with_others) {
  machine().launch({1, 1}, [this] {
    const std::uint32_t words = parts().empties().leaf_words();
    ASSERT_GT(words, 2u);
    ASSERT_EQ(moves::take(parts(), 1), 0u);
    for (std::uint32_t word = 0; word + 1 < words; ++word) {
      const std::uint32_t last = word * 64 + 63;
      for (std::uint32_t i = 0; i < 63; ++i) parts().empties().insert(word * 64 + i);
      for (std::size_t i = 0; i < slots; ++i) subject_.free(first_ + last * 256 + i * 16);
    }
    for (std::uint32_t word = 0; word + 1 < words; ++word) {
      const std::uint32_t chunk = moves::take(parts(), 1);
      EXPECT_TRUE(chunk != moves::none && chunk % 64 == 63) << chunk;
    }
  });
}

// In a heap of 32 GiB, one lane went through 65,000 of them, which took 175 ms, while other words
// of its class had room (docs/decisions/0057).
TEST_F(last_of_many_entries, a_look_clears_no_more_words_than_it_may) {
  machine().launch({1, 1}, [this] {
    ASSERT_GT(parts().empties().leaf_words(), 2u);
    parts().empties().remove(0);
    const std::uint32_t before = entries();
    EXPECT_EQ(moves::take(parts(), 0), moves::none);
    EXPECT_EQ(entries(), before - 1);
    EXPECT_EQ(moves::take(parts(), 1), moves::none);
    EXPECT_LT(entries(), before - 20);
    EXPECT_GE(entries(), before - 1 - 65);
    EXPECT_EQ(moves::take(parts(), 4), moves::none);
    EXPECT_EQ(entries(), 0u);
  });
}

// Lanes share the entries of a word. Those that meet here may be at different looks, and each
// counts as cleared what its own may clear.
TEST_F(last_of_many_entries, is_not_lost_when_its_word_is_cleared) {
  static constexpr std::uint32_t behind = 63;
  restore();  // without the entries
  machine().launch({1, 1}, [this] {
    ASSERT_EQ(moves::take(parts(), 1), 0u);
    for (std::size_t i = 0; i < slots; ++i) subject_.free(first_ + behind * 256 + i * 16);
  });
  before_ = memory_.contents();
  for (const int most : {0, 31}) {
    restore();
    note_all();
    machine().launch({1, 32}, [this, most] {
      const simt::group team = simt::coalesced(&subject_);
      EXPECT_EQ(team.size(), 32);
      auto how = moves::source::own;
      const std::uint32_t other = parts().classes().sizes().class_of(64);
      const std::uint32_t words = team.rank() == most ? 1000 : team.rank() % 3;
      EXPECT_EQ(moves::add(parts(), other, team.mask(), {.words = words}, &how), behind) << most;
      EXPECT_EQ(how, moves::source::for_team);
    });
  }
}

// What is empty stays noted, and in a word that is cleared nothing else.
TEST_F(last_of_many_entries, words_are_cleared_one_after_the_other) {
  ASSERT_GT(parts().universe(), 128u);
  for (const std::uint32_t lanes : {1u, 5u, 32u}) {
    restore();
    note_all();
    machine().launch({1, lanes}, [this] {
      const simt::group team = simt::coalesced(&subject_);
      if (team.is_leader()) {
        for (std::size_t i = 0; i < slots; ++i) subject_.free(first_ + 128 * 256 + i * 16);
      }
      team.sync();
      moves::clear_words(parts(), 1, 2, team.mask());
    });
    EXPECT_EQ(parts().empties().peek_word(1), 0u) << lanes;
    EXPECT_EQ(parts().empties().peek_word(2), 1u) << lanes;
    EXPECT_EQ(parts().empties().peek_word(0), ~std::uint64_t{0}) << lanes;
  }
}

// A part of a warp makes few looks in a heap that seems dry. Here a block of its class comes and
// goes, and the chunk is there all the time, behind others in each word.
class empty_chunk_of_a_dry_heap : public last_empty_chunk {
 protected:
  empty_chunk_of_a_dry_heap() : last_empty_chunk(256_KiB) {}
};

TEST_F(empty_chunk_of_a_dry_heap, is_found_by_a_part_of_a_warp_beside_frees) {
  std::byte* block = nullptr;  // of chunk 0, which is full of such
  machine().launch({1, 1}, [&] {
    while (void* const next = subject_.malloc(64)) block = static_cast<std::byte*>(next);
    for (std::size_t i = 0; i < slots; ++i) subject_.free(first_ + 256 + i * 16);
    for (std::uint32_t chunk = 2; chunk < parts().universe(); chunk += 16) {
      parts().empties().insert(chunk);
    }
    parts().whole().set_dry(true);
  });
  before_ = memory_.contents();
  void* got = nullptr;
  simt::explorer two({2, 2}, 60'000);
  const auto lane = [&] {
    if (simt::thread_rank() % 2 != 0) return;
    if (simt::block_rank() == 0) {
      got = subject_.malloc(64);
    } else {
      subject_.free(block);
      subject_.malloc(64);
    }
  };
  expect_in_schedules(
      two, schedules, [&] { restore(); }, lane, [&] { return got == nullptr; });
}

TEST_F(last_of_many_entries, a_request_of_any_size_finds_it_in_the_end) {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{256}}) {
    restore();
    note_all();
    machine().launch({1, 1}, [&] { EXPECT_NE(subject_.malloc(bytes), nullptr) << bytes; });
  }
}

// So does a large block, for which pairs of such entries look like a run.
TEST_F(last_of_many_entries, a_run_behind_them_is_found_by_one_request) {
  restore();
  machine().launch({1, 1}, [&] {
    ASSERT_NE(subject_.malloc(256), nullptr);  // chunk 0
    const std::uint32_t run = parts().universe() - 2;
    for (std::size_t i = 0; i < 2 * slots; ++i) subject_.free(first_ + run * 256 + i * 16);
  });
  note_all();
  machine().launch({1, 1}, [&] {
    EXPECT_NE(subject_.malloc(512), nullptr);
    EXPECT_EQ(subject_.malloc(512), nullptr);
  });
}

// A lane takes chunks that are in use out of the set. Of one, another lane frees the last block,
// and sees that it is still noted.
TEST_F(last_empty_chunk, is_noted_again_if_it_was_in_use_at_the_first_look) {
  std::byte* const last = first_ + 256;  // of chunk 1
  machine().launch({1, 1}, [&] {
    while (subject_.malloc(16) != nullptr) {
    }
    for (std::size_t i = 1; i < slots; ++i) subject_.free(last + i * 16);
    for (const std::uint32_t chunk : {0u, 1u}) parts().empties().insert(chunk);
  });
  before_ = memory_.contents();
  bool is_taken = false;
  simt::explorer two({2, 1}, 20'000);
  const auto begin = [&] {
    restore();
    is_taken = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) return subject_.free(last);
    if (moves::take(parts(), 1) != moves::none) is_taken = true;
  };
  expect_in_schedules(two, schedules, begin, lane, [&] { return !is_taken && !is_noted(1); });
}

// A lane frees two chunks and asks for one as a large block, while another lane, whose class needs
// one chunk, takes notes of chunks in use away: it may have seen both in use, and holds both until
// it looks again.
TEST_F(last_empty_chunk, is_not_missed_by_a_large_block_while_another_lane_has_two_in_hand) {
  std::byte* const second = first_ + 256;
  machine().launch({1, 1}, [&] {
    while (subject_.malloc(16) != nullptr) {
    }
    for (const std::uint32_t chunk : {1u, 2u}) {
      for (std::size_t i = 1; i < slots; ++i) subject_.free(first_ + chunk * 256 + i * 16);
    }
    for (const std::uint32_t chunk : {0u, 1u, 2u}) parts().empties().insert(chunk);
    parts().whole().chunks.released();
  });
  before_ = memory_.contents();
  bool is_refused = false;
  simt::explorer two({2, 1}, 20'000);
  const auto begin = [&] {
    restore();
    is_refused = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() != 0) {
      subject_.malloc(64);
      return;
    }
    subject_.free(second);
    subject_.free(second + 256);
    is_refused = subject_.malloc(256) == nullptr;
  };
  expect_in_schedules(two, schedules, begin, lane, [&] { return is_refused; });
}

// Two lanes want the chunk while a third uses a slot. One may take the chunk out of the set while
// the other one has begun to close it, and leave it to that one, which then gives up.
TEST_F(last_empty_chunk, is_noted_again_by_the_lane_that_gives_up_last) {
  bool is_taken = false;
  simt::explorer three({3, 1}, 20'000);
  const auto begin = [&] {
    restore();
    is_taken = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      void* const block = subject_.malloc(16);
      if (block != nullptr) subject_.free(block);
      return;
    }
    if (moves::take(parts(), 1) != moves::none) is_taken = true;
  };
  expect_in_schedules(three, schedules, begin, lane, [&] { return !is_taken && !is_noted(0); });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
