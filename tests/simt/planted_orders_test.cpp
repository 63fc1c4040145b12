// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A structure that is right in every interleaving, and wrong if two lanes may each miss what the
// other one has stored: weak memory must find that, and nothing once the order is there.
#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using enum simt::order;

/// How lanes look at a word after they have stored to another one.
enum class look {
  load,             ///< the mistake: both may read the value of before
  one_sided_fence,  ///< no better: the other lane's load can still be early
  fence,            ///< a full fence between store and load, on both sides
  read_modify,      ///< one of them looks by a read-modify-write, as `bitmap_tree::shown` does
};

/// The two lowest levels of a bitmap tree: elements in a word, and above it a bit that says whether
/// there are any. Searches trust the bit, so it must be set once an insertion has returned.
template <look How>
class word_below_a_bit {
 public:
  void reset() {
    elements_ = 1;
    shown_ = 1;
  }
  void insert(std::uint32_t element) {
    word().fetch_or(element, acq_rel);
    if (How == look::fence) simt::fence(seq_cst);
    const bool is_shown =
        How == look::read_modify ? bit().fetch_or(0, acq_rel) != 0 : bit().load(acquire) != 0;
    if (!is_shown) bit().fetch_or(1, acq_rel);
  }
  void remove(std::uint32_t element) {
    if (word().fetch_and(~element, acq_rel) != element) return;
    bit().fetch_and(0, acq_rel);
    if (How == look::fence || How == look::one_sided_fence) simt::fence(seq_cst);
    if (word().load(acquire) != 0) bit().fetch_or(1, acq_rel);
  }
  /// After all lanes have ended.
  bool hides_elements() const { return elements_ != 0 && shown_ == 0; }

 private:
  simt::atomic_ref<std::uint32_t> word() { return simt::atomic_ref(elements_); }
  simt::atomic_ref<std::uint32_t> bit() { return simt::atomic_ref(shown_); }

  alignas(8) std::uint32_t elements_ = 1;
  alignas(8) std::uint32_t shown_ = 1;
};

/// One lane takes the last element and another one inserts one. The first seed after which that is
/// hidden; 0 if there is none.
template <look How>
std::uint64_t first_hidden(simt::strategy how, simt::memory_model memory) {
  constexpr std::uint64_t schedules = sanitized ? 2'000 : 20'000;
  simt::explorer explorer({2, 1}, 2000);
  word_below_a_bit<How> tree;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    tree.reset();
    const auto outcome = explorer.run({how, seed, memory}, [&tree] {
      if (simt::block_rank() == 0) {
        tree.remove(1);
      } else {
        tree.insert(2);
      }
    });
    EXPECT_EQ(outcome.stuck, "");
    if (tree.hides_elements()) return seed;
  }
  return 0;
}

template <look How>
void expect(simt::memory_model memory, bool found) {
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    EXPECT_EQ(first_hidden<How>(how, memory) != 0, found) << static_cast<int>(how);
  }
}

constexpr auto sequential = simt::memory_model::sequential;
constexpr auto weak = simt::memory_model::weak;

TEST(planted_order, store_and_load_without_a_full_fence_are_found_in_weak_memory_alone) {
  expect<look::load>(sequential, false);
  expect<look::load>(weak, true);
}
TEST(planted_order, a_full_fence_on_one_side_is_not_enough) {
  expect<look::one_sided_fence>(weak, true);
}
TEST(planted_order, full_fences_on_both_sides_are_clean) {
  expect<look::fence>(sequential, false);
  expect<look::fence>(weak, false);
}
TEST(planted_order, a_look_by_a_read_modify_write_is_clean) {
  expect<look::read_modify>(sequential, false);
  expect<look::read_modify>(weak, false);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
