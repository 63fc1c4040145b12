// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A structure that is right in every interleaving, and wrong if two lanes may each miss what the
// other one has stored: weak memory must find that, and nothing once the order is there.
#include "planted.hpp"

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
  /// One lane takes the last element, and another one inserts one.
  void lane(std::uint64_t rank) { rank == 0 ? remove(1) : insert(2); }
  /// After all lanes have ended: no element is hidden.
  bool is_sound() const { return elements_ == 0 || shown_ != 0; }

 private:
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
  simt::atomic_ref<std::uint32_t> word() { return simt::atomic_ref(elements_); }
  simt::atomic_ref<std::uint32_t> bit() { return simt::atomic_ref(shown_); }

  alignas(8) std::uint32_t elements_ = 1;
  alignas(8) std::uint32_t shown_ = 1;
};

TEST(planted_order, store_and_load_without_a_full_fence_are_found_in_weak_memory_alone) {
  expect<word_below_a_bit<look::load>>(sequential, false);
  expect<word_below_a_bit<look::load>>(weak, true);
}
TEST(planted_order, a_full_fence_on_one_side_is_not_enough) {
  expect<word_below_a_bit<look::one_sided_fence>>(weak, true);
}
TEST(planted_order, full_fences_on_both_sides_are_clean) {
  expect<word_below_a_bit<look::fence>>(sequential, false);
  expect<word_below_a_bit<look::fence>>(weak, false);
}
TEST(planted_order, a_look_by_a_read_modify_write_is_clean) {
  expect<word_below_a_bit<look::read_modify>>(sequential, false);
  expect<word_below_a_bit<look::read_modify>>(weak, false);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
