// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A group's search for runs, for whole warps and for parts of one, against a plain search.
#include "warpheap/sync/group_runs.hpp"
#include "warpheap/core/random.hpp"

#include "device_array.hpp"
#include "machine.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

constexpr std::uint32_t no_run = group_run_search::none;

struct found_run {
  std::uint32_t first;
  std::uint32_t fits;
};

/// The lanes of a warp in groups of equal `lane % groups`, each with a search of its own.
struct search_lanes {
  const std::uint64_t* words;
  std::uint32_t count;
  std::uint32_t from;
  int groups;
  const std::uint32_t* lengths;
  found_run* found;

  WARPHEAP_DEVICE void operator()() const {
    const simt::group alike = simt::warp().match(simt::lane_id() % groups);
    group_run_search search(alike, lengths[simt::lane_id()]);
    search.run(count, from, [this](std::uint32_t word) { return words[word]; });
    found[simt::lane_id()] = {search.first(), search.fits() ? 1u : 0u};
  }
};

/// Each lane removes two bits of a word, and inserts them again at another time.
struct change_word {
  bitmap_tree tree;
  int groups;
  bool inserts;
  std::uint32_t* removed;

  WARPHEAP_DEVICE void operator()() const {
    const simt::group alike = simt::warp().match(simt::lane_id() % groups);
    const std::uint64_t bits = std::uint64_t{3} << 2 * simt::lane_id();
    if (inserts) {
      group_word::insert(alike, tree, 1, bits);
    } else {
      removed[simt::lane_id()] = group_word::remove(alike, tree, 1, bits) ? 1u : 0u;
    }
  }
};

/// One lane makes a set of bits of a word, or looks at the word.
struct set_word {
  bitmap_tree tree;
  std::uint64_t bits;
  WARPHEAP_DEVICE void operator()() const {
    tree.format(0, 0, 1);
    tree.insert_bits(1, bits);
  }
};
struct read_word {
  bitmap_tree tree;
  std::uint64_t* to;
  WARPHEAP_DEVICE void operator()() const { *to = tree.load_word(1); }
};

namespace {

constexpr int lanes = simt::warp_size;

/// The elements of a set that tests draw.
class some_words {
 public:
  /// Of 64 elements, runs of about `span` alternate with gaps of about `gap`.
  some_words(random_sequence& random, std::uint32_t words, std::uint32_t span, std::uint32_t gap)
      : is_in_(words * 64) {
    for (std::uint32_t at = 0; at < is_in_.size();) {
      const std::uint32_t end = at + random.below(2 * span + 1);
      for (; at < end && at < is_in_.size(); ++at) is_in_[at] = true;
      at += 1 + random.below(2 * gap);
    }
  }
  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> all(is_in_.size() / 64);
    for (std::uint32_t i = 0; i < is_in_.size(); ++i) {
      if (is_in_[i]) all[i / 64] |= std::uint64_t{1} << i % 64;
    }
    return all;
  }
  std::uint32_t longest() const {
    std::uint32_t most = 0;
    std::uint32_t now = 0;
    for (const bool in : is_in_) most = std::max(most, now = in ? now + 1 : 0);
    return most;
  }
  bool contains(std::uint32_t first, std::uint32_t length) const {
    if (first > is_in_.size() || length > is_in_.size() - first) return false;
    const auto begin = is_in_.begin() + first;
    return std::all_of(begin, begin + length, [](bool in) { return in; });
  }

 private:
  std::vector<bool> is_in_;
};

class group_runs_of : public ::testing::TestWithParam<int> {
 protected:
  /// What the lanes find that want runs of these lengths.
  std::vector<found_run> find(const some_words& in, std::uint32_t from,
                              const std::vector<std::uint32_t>& lengths) const {
    const std::vector<std::uint64_t> words = in.words();
    const device_array<std::uint64_t> there(words);
    const device_array<std::uint32_t> wanted(lengths);
    const device_array<found_run> found(lanes);
    machine().launch(simt::grid{1, lanes},
                     search_lanes{there.get(), static_cast<std::uint32_t>(words.size()), from,
                                  GetParam(), wanted.get(), found.get()});
    return found.read();
  }
};

TEST_P(group_runs_of, lanes_are_where_a_plain_search_finds_them) {
  const auto groups = static_cast<std::uint32_t>(GetParam());
  random_sequence random(groups);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t words = 1 + random.below(round % 2 == 0 ? 300 : 9);
    const std::uint32_t most = 1 + random.below(round % 3 == 0 ? 700 : 30);
    const some_words set(random, words, most, 1 + random.below(most));
    const std::uint32_t from = round % 4 == 0 ? 0 : random.below(words);
    std::vector<std::uint32_t> lengths(lanes);
    const std::uint32_t none_in = 1 + random.below(4);
    for (std::uint32_t& length : lengths) {
      length = random.below(none_in) == 1 ? no_run : 1 + random.below(2 * most);
    }
    const std::vector<found_run> found = find(set, from, lengths);
    const std::uint32_t longest = set.longest();
    for (std::uint32_t group = 0; group < groups; ++group) {
      bool is_possible = false;
      bool is_served = false;
      bool says_that_one_fits = false;
      std::vector<bool> taken(words * 64);
      for (std::uint32_t lane = group; lane < lanes; lane += groups) {
        const std::uint32_t length = lengths[lane];
        EXPECT_TRUE(length > longest || found[lane].fits != 0) << "round " << round;
        says_that_one_fits = says_that_one_fits || (found[lane].fits != 0 && length != no_run);
        is_possible = is_possible || length <= longest;
        const std::uint32_t first = found[lane].first;
        if (first == no_run) continue;
        is_served = true;
        ASSERT_TRUE(set.contains(first, length)) << "round " << round << ", " << first;
        for (std::uint32_t i = first; i < first + length; ++i) {
          ASSERT_FALSE(taken[i]) << "round " << round << ": two lanes have " << i;
          taken[i] = true;
        }
      }
      EXPECT_EQ(is_served, is_possible) << "round " << round;
      EXPECT_EQ(says_that_one_fits, is_possible) << "round " << round;
    }
  }
}

TEST_P(group_runs_of, all_that_there_is_room_for_are_served) {
  const int groups = GetParam();
  random_sequence random(1);
  const some_words all(random, 256, 1u << 20, 1);
  ASSERT_EQ(all.longest(), 256u * 64);
  const auto members = static_cast<std::uint32_t>((lanes + groups - 1) / groups);
  const std::vector<std::uint32_t> lengths(lanes, 256 * 64 / members);
  for (const found_run& one : find(all, 0, lengths)) EXPECT_NE(one.first, no_run);
}

TEST_P(group_runs_of, lanes_get_all_of_their_bits_of_a_word_or_none) {
  constexpr std::uint32_t universe = 3 * 64;
  const device_array<std::uint64_t> words(bitmap_tree::words_for(universe));
  const bitmap_tree tree(words.get(), universe);
  const device_array<std::uint32_t> removed(lanes);
  const device_array<std::uint64_t> seen(1);
  const auto now = [&] {
    machine().launch({1, 1}, read_word{tree, seen.get()});
    return seen.read().front();
  };
  random_sequence random(1);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t there = random.next() | random.next();
    machine().launch({1, 1}, set_word{tree, there});
    machine().launch({1, lanes}, change_word{tree, GetParam(), false, removed.get()});
    const std::vector<std::uint32_t> got = removed.read();
    std::uint64_t left = there;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::uint64_t bits = std::uint64_t{3} << 2 * lane;
      ASSERT_EQ(got[static_cast<std::size_t>(lane)] != 0, (there & bits) == bits) << lane;
      if ((there & bits) == bits) left &= ~bits;
    }
    ASSERT_EQ(now(), left);
    machine().launch({1, lanes}, change_word{tree, GetParam(), true, removed.get()});
    ASSERT_EQ(now(), ~std::uint64_t{0});
  }
}

INSTANTIATE_TEST_SUITE_P(groups, group_runs_of, ::testing::Values(1, 2, 3, 7, 32));

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
