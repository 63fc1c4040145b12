// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_array.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <bit>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <class Word>
class atomics : public ::testing::Test {};
using word_types = ::testing::Types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(atomics, word_types);

/// One lane, every operation: what each returned, and what was then in the word.
template <class Word>
struct every_operation {
  Word* memory;
  Word* out;
  WARPHEAP_DEVICE void operator()() const {
    const simt::atomic_ref<Word> at(*memory);
    int next = 0;
    const auto note = [&](Word returned) {
      out[next++] = returned;
      out[next++] = at.load(simt::order::relaxed);
    };
    note(at.load(simt::order::acquire));
    at.store(Word{41}, simt::order::release);
    note(0);
    note(at.exchange(Word{12}, simt::order::acq_rel));
    note(at.fetch_add(Word{5}, simt::order::relaxed));
    note(at.fetch_sub(Word{1}, simt::order::seq_cst));
    note(at.fetch_or(Word{3}, simt::order::acq_rel));
    note(at.fetch_and(Word{18}, simt::order::release));
    note(at.fetch_max(Word{7}, simt::order::relaxed));
    note(at.fetch_max(Word{70}, simt::order::relaxed));
    Word expected = 71;
    note(at.compare_exchange(expected, Word{1}, simt::order::acq_rel) ? 1 : 0);
    note(expected);
    note(at.compare_exchange(expected, Word{1}, simt::order::acq_rel) ? 1 : 0);
    simt::fence(simt::order::seq_cst);
  }
};

TYPED_TEST(atomics, operations_return_the_old_value) {
  const device_array<TypeParam> memory(1, 40);
  const device_array<TypeParam> out(24);
  machine().launch({1, 1}, every_operation<TypeParam>{memory.get(), out.get()});
  const std::vector<TypeParam> expected{40, 40, 0,  41, 41, 12, 12, 17, 17, 16, 16, 19,
                                        19, 18, 18, 18, 18, 70, 0,  70, 70, 70, 1,  1};
  EXPECT_EQ(out.read(), expected);
}

/// All lanes on the same words.
template <class Word>
struct contend {
  Word* words;
  Word* tickets;
  WARPHEAP_DEVICE void operator()() const {
    const auto rank = static_cast<Word>(simt::thread_rank());
    tickets[simt::thread_rank()] = simt::atomic_ref(words[0]).fetch_add(1, simt::order::relaxed);
    simt::atomic_ref(words[1]).fetch_max(rank, simt::order::relaxed);
    simt::atomic_ref(words[2]).fetch_or(Word{1} << simt::thread_rank() % 31, simt::order::relaxed);
    simt::atomic_ref(words[3]).fetch_and(static_cast<Word>(~(Word{1} << simt::thread_rank() % 31)),
                                         simt::order::relaxed);
    simt::atomic_ref(words[4]).fetch_sub(2, simt::order::relaxed);
    const simt::atomic_ref<Word> swapped(words[5]);
    Word seen = swapped.load(simt::order::relaxed);
    while (!swapped.compare_exchange(seen, static_cast<Word>(seen + 3), simt::order::relaxed)) {
    }
  }
};

TYPED_TEST(atomics, lose_nothing_when_all_lanes_contend) {
  constexpr int blocks = sanitized ? 8 : 64;
  constexpr int lanes = blocks * static_cast<int>(block_threads);
  const device_array<TypeParam> words(std::vector<TypeParam>{0, 0, 0, -1 & 0x7fffffff, 0, 0});
  const device_array<TypeParam> tickets(lanes);
  machine().launch({blocks, block_threads}, contend<TypeParam>{words.get(), tickets.get()});
  const auto end = words.read();
  EXPECT_EQ(end[0], TypeParam{lanes});
  EXPECT_EQ(end[1], TypeParam{lanes - 1});
  EXPECT_EQ(end[2], TypeParam{0x7fffffff});
  EXPECT_EQ(end[3], TypeParam{0});
  EXPECT_EQ(end[4], static_cast<TypeParam>(-2 * lanes));
  EXPECT_EQ(end[5], TypeParam{3 * lanes});
  auto drawn = tickets.read();
  std::sort(drawn.begin(), drawn.end());
  for (int i = 0; i < lanes; ++i) ASSERT_EQ(drawn[i], TypeParam(i)) << "a ticket drawn twice";
}

/// Even blocks publish plain data, odd ones wait for it: by an order, or by fences.
struct pass_message {
  std::uint64_t* data;
  std::uint32_t* flags;
  std::uint64_t* received;
  bool with_fences;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint32_t pair = simt::block_rank() / 2;
    const simt::atomic_ref<std::uint32_t> flag(flags[pair]);
    if (simt::block_rank() % 2 == 0) {
      for (int i = 0; i < 4; ++i) data[pair * 4 + i] = pair * 10 + i + 1;
      if (with_fences) {
        simt::fence(simt::order::release);
        flag.store(1, simt::order::relaxed);
      } else {
        flag.store(1, simt::order::release);
      }
    } else {
      // Blocks start in the order of their ranks, so the sender runs or has run.
      if (with_fences) {
        while (flag.load(simt::order::relaxed) == 0) simt::backoff(20);
        simt::fence(simt::order::acquire);
      } else {
        while (flag.load(simt::order::acquire) == 0) simt::backoff(20);
      }
      for (int i = 0; i < 4; ++i) received[pair * 4 + i] = data[pair * 4 + i];
    }
  }
};

TEST(memory, what_was_written_before_a_release_is_seen_after_an_acquire) {
  for (const bool with_fences : {false, true}) {
    constexpr std::uint32_t pairs = 200;
    const device_array<std::uint64_t> data(pairs * 4);
    const device_array<std::uint64_t> received(pairs * 4);
    const device_array<std::uint32_t> flags(pairs);
    machine().launch({2 * pairs, 1},
                     pass_message{data.get(), flags.get(), received.get(), with_fences});
    const auto got = received.read();
    for (std::uint32_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i / 4 * 10 + i % 4 + 1);
  }
}

struct store_double {
  double* word;
  WARPHEAP_DEVICE void operator()() const {
    const simt::atomic_ref<double> at(*word);
    at.store(at.load(simt::order::relaxed) / 4, simt::order::relaxed);
  }
};

TEST(memory, words_need_not_be_integers) {
  const device_array<double> word(1, 3.0);
  machine().launch({1, 1}, store_double{word.get()});
  EXPECT_EQ(word.read()[0], 0.75);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
