// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many lanes at once, on either model.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/sync/bitmap_runs.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

// In device code, nvcc computes constants otherwise than lanes do.
static_assert(lowest_bit(0x28u) == 3 && lowest_bit(std::uint64_t{1} << 40) == 40);

struct format_tree {
  bitmap_tree tree;
  bool full;
  WARPHEAP_DEVICE void operator()() const {
    tree.format(full ? tree.universe() : 0, simt::thread_rank(), simt::grid_size());
  }
};

struct count_wrong_words {
  bitmap_tree tree;
  std::uint32_t* wrong;
  WARPHEAP_DEVICE void operator()() const {
    tree.check(simt::thread_rank(), simt::grid_size(), [this](std::uint64_t) {
      simt::atomic_ref(*wrong).fetch_add(1, simt::order::relaxed);
    });
  }
};

/// Each lane claims one element, in a way of its own.
struct claim_one {
  bitmap_tree tree;
  std::uint32_t* claimed;
  std::uint32_t* owners;
  WARPHEAP_DEVICE void operator()() const {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    std::uint32_t element = bitmap_tree::none;
    if (rank % 3 == 0) element = tree.claim_first();
    if (rank % 3 == 1) element = tree.claim_hashed(static_cast<std::uint32_t>(mix64(rank)));
    if (rank % 3 == 2) element = claim_run_from(tree, 1, 0);
    claimed[rank] = element;
    if (element != bitmap_tree::none) {
      simt::atomic_ref(owners[element]).fetch_add(1, simt::order::relaxed);
    }
  }
};

struct insert_claimed {
  bitmap_tree tree;
  const std::uint32_t* claimed;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint32_t element = claimed[simt::thread_rank()];
    if (element != bitmap_tree::none) tree.insert(element);
  }
};

/// Each lane claims and inserts over and over.
struct churn_elements {
  bitmap_tree tree;
  std::uint32_t* owners;
  std::uint32_t* wrong;
  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(simt::thread_rank());
    for (int round = 0; round < 16; ++round) {
      const std::uint32_t element =
          round % 2 == 0 ? tree.claim_first()
                         : tree.claim_hashed(static_cast<std::uint32_t>(random.next()));
      if (element == bitmap_tree::none) continue;
      const simt::atomic_ref owner(owners[element]);
      if (owner.fetch_add(1, simt::order::relaxed) != 0) note();
      owner.fetch_sub(1, simt::order::relaxed);
      tree.insert(element);
    }
  }
  WARPHEAP_DEVICE void note() const { simt::atomic_ref(*wrong).fetch_add(1, simt::order::relaxed); }
};

namespace {

class bitmap_tree_lanes : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t lanes = sanitized ? 1024 : 16'384;

  bitmap_tree_lanes()
      : words(bitmap_tree::words_for(universe())),
        tree(words.get(), universe()),
        owners(universe()) {}

  static std::uint32_t universe() { return GetParam(); }

  void format(bool full) { machine().launch(covering(1000), format_tree{tree, full}); }

  /// Elements in the set.
  std::uint64_t size() const {
    const auto bits = words.read();
    std::uint64_t count = 0;
    for (std::size_t i = bits.size() - tree.leaf_words(); i < bits.size(); ++i) {
      count += static_cast<std::uint64_t>(popcount(bits[i]));
    }
    return count;
  }

  std::uint32_t wrong_words() const {
    const device_array<std::uint32_t> wrong(1);
    machine().launch(covering(1000), count_wrong_words{tree, wrong.get()});
    return wrong.read()[0];
  }

  device_array<std::uint64_t> words;
  bitmap_tree tree;
  device_array<std::uint32_t> owners;
};

TEST_P(bitmap_tree_lanes, claim_every_element_once) {
  format(true);
  const device_array<std::uint32_t> claimed(lanes);
  machine().launch(covering(lanes), claim_one{tree, claimed.get(), owners.get()});
  std::uint64_t got = 0;
  for (const std::uint32_t element : claimed.read()) got += element != bitmap_tree::none;
  EXPECT_EQ(got, lanes < universe() ? lanes : universe());
  for (const std::uint32_t count : owners.read()) EXPECT_LE(count, 1u);
  EXPECT_EQ(wrong_words(), 0u);

  machine().launch(covering(lanes), insert_claimed{tree, claimed.get()});
  EXPECT_EQ(wrong_words(), 0u);
  EXPECT_EQ(size(), universe());
}

TEST_P(bitmap_tree_lanes, never_share_an_element) {
  format(true);
  const device_array<std::uint32_t> wrong(1);
  machine().launch(covering(lanes / 4), churn_elements{tree, owners.get(), wrong.get()});
  EXPECT_EQ(wrong.read()[0], 0u);
  EXPECT_EQ(wrong_words(), 0u);
  EXPECT_EQ(size(), universe());
}

INSTANTIATE_TEST_SUITE_P(universes, bitmap_tree_lanes,
                         ::testing::Values(1, 40, 64, 200, 5000, 20'000));

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
