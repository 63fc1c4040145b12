// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A concurrent ordered set of small integers: the 64-ary bitmap tree that H. McCoy and P. Pandey
/// use in place of a van Emde Boas tree ("Gallatin: A General-Purpose GPU Memory Manager", PPoPP
/// 2024, DOI 10.1145/3627535.3638499, section 3).
///
/// Element e is bit e % 64 of leaf word e / 64. Only the leaf words define what is in the set. A
/// bit of an inner word says that the word below it is not zero. It is a hint: searches follow it,
/// and a lane that changes a word between zero and nonzero brings the path above it up to date.
///
/// Layout, in 64-bit words; the levels of a complete tree, except that the leaf level ends early:
///     [ changes ][ root ][ level 1: 64 ][ level 2: 4096 ] ... [ leaves: ceil(universe / 64) ]
/// Invariants, while no lane changes the set: an inner bit is set exactly if the word below it is
/// not zero; no bit stands for an element outside 0..universe-1; no change is in progress.
///
/// How hints become correct: a lane that has changed a word between zero and nonzero changes the
/// word's bit one level up, looks at the word again, and repeats this until the bit agrees with
/// what it saw. So the last change of a bit is followed by a look that agrees with it; and if that
/// look misses a change of the word, then the lane that made that change has yet to change the bit.
///
/// How a search can be trusted: bits change only while `changes`, which is a `sync::moves` word,
/// announces it. A lane that has put an element into a word, or taken the last one out of it,
/// announces this until all levels are correct. A lane that inserts into a nonzero word checks
/// whether the bit above is set; if not, it sets the bit itself, ahead of the lane that is about
/// to. So when an insertion returns, the bits are correct, or their correction is announced. A
/// search that finds nothing is valid if no change was in progress before it and `changes` is the
/// same after it; otherwise it starts again. So "nothing" means: at one moment, there was no
/// element whose insertion had returned.
///
/// Progress: lock-free. A search starts again only if a word became zero or nonzero meanwhile.
/// Memory orders: words are loaded with acquire and changed with acq_rel. So a lane that claims an
/// element sees what its inserter had written; the later of two changes of a bit sees the word as
/// the earlier one left it; and a lane that sees a change sees its (relaxed) announcement.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A handle: copies refer to the same words. Any number of lanes may call all members at once,
/// except `format` and `check`.
class bitmap_tree {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;  ///< no element

  /// Elements of one leaf word: 64 * word + i for every set bit i. No bits: no elements.
  struct word_elements {
    std::uint32_t word = 0;
    std::uint64_t bits = 0;

    WARPHEAP_HD constexpr int count() const { return popcount(bits); }
    /// The element with exactly `k` lower ones. \pre `k < count()`
    WARPHEAP_HD constexpr std::uint32_t nth(int k) const {
      return word * 64 + static_cast<std::uint32_t>(kth_set_bit(bits, k));
    }
  };

  /// 64-bit words of storage that a tree over 0..universe-1 needs.
  WARPHEAP_HD static constexpr std::size_t words_for(std::uint32_t universe) {
    return std::size_t{1} + leaf_base_for(universe) + ceil_div<std::uint32_t>(universe, 64);
  }

  /// \param storage `words_for(universe)` words, to be formatted before use
  /// \param universe elements are 0..universe-1; from 1 to 2^31
  WARPHEAP_HD constexpr bitmap_tree(std::uint64_t* storage, std::uint32_t universe)
      : storage_(storage), universe_(universe), leaf_base_(leaf_base_for(universe)) {}

  /// A tree over the same universe whose words are elsewhere.
  WARPHEAP_HD constexpr bitmap_tree at(std::uint64_t* storage) const {
    bitmap_tree same(*this);
    same.storage_ = storage;
    return same;
  }

  WARPHEAP_HD constexpr std::uint32_t universe() const { return universe_; }
  WARPHEAP_HD constexpr std::uint32_t leaf_words() const {
    return ceil_div<std::uint32_t>(universe_, 64);
  }

  /// Makes this the set 0..elements-1. Every lane of a grid of `count` lanes calls it.
  /// \pre `elements <= universe()`
  WARPHEAP_DEVICE void format(std::uint32_t elements, std::uint64_t rank,
                              std::uint64_t count) const {
    const auto prefix = [elements](std::uint64_t first, std::uint64_t span) {
      const std::uint64_t left = first < elements ? ceil_div(elements - first, span) : 0;
      return low_bits<std::uint64_t>(left < 64 ? int(left) : 64);
    };
    format_words(prefix, rank, count);
  }
  /// Makes this any set: bit i of `bits(first, span)` says whether the set has an element among the
  /// `span` elements from first + i * span, which may lie beyond the universe.
  WARPHEAP_DEVICE void format_words(const auto& bits, std::uint64_t rank,
                                    std::uint64_t count) const {
    if (rank == 0) storage_[0] = 0;
    std::uint64_t span = 1;
    for (std::uint32_t base = leaf_base_;; base >>= 6, span *= 64) {
      const std::uint32_t words = base == leaf_base_ ? leaf_words() : base * 63 + 1;
      for (std::uint64_t i = rank; i < words; i += count) {
        storage_[1 + base + i] = bits(i * 64 * span, span);
      }
      if (base == 0) return;
    }
  }

  /// True if the element was not in the set. O(log64 universe).
  WARPHEAP_DEVICE bool insert(std::uint32_t element) const {
    return (insert_bits(element / 64, bit_of(element)) & bit_of(element)) == 0;
  }

  /// True if the element was in the set, so that this call removed it.
  WARPHEAP_DEVICE bool remove(std::uint32_t element) const {
    return remove_bits(element / 64, bit_of(element)) != 0;
  }
  WARPHEAP_DEVICE bool contains(std::uint32_t element) const {
    return (load_word(element / 64) & bit_of(element)) != 0;
  }

  /// A random element, selected by `noise` and only as reliable as the hints: none proves nothing.
  /// One load per level. Each level draws uniformly, so an element is more likely to be drawn if
  /// its word has few.
  WARPHEAP_DEVICE std::uint32_t draw(std::uint64_t noise) const {
    std::uint32_t index = 0;
    for (std::uint32_t base = 0;; base = base * 64 + 1) {
      const std::uint64_t bits = word_at(base + index).load(simt::order::relaxed);
      if (bits == 0) return none;
      const auto k =
          scale_to(static_cast<std::uint32_t>(noise), static_cast<std::uint32_t>(popcount(bits)));
      noise = noise >> 16 | noise << 48;
      index = index * 64 + static_cast<std::uint32_t>(kth_set_bit(bits, static_cast<int>(k)));
      if (base == leaf_base_) return index;
    }
  }

  /// Inserts the elements of one leaf word together. Returns the word's previous value.
  WARPHEAP_DEVICE std::uint64_t insert_bits(std::uint32_t word, std::uint64_t bits) const {
    const std::uint64_t before = leaf(word).fetch_or(bits, simt::order::acq_rel);
    if (before == 0 || !shown(word)) {
      announce();
      settle(word, true);
      conclude();
    }
    return before;
  }

  /// Removes the elements of one leaf word, as far as they are in the set. Returns those.
  WARPHEAP_DEVICE std::uint64_t remove_bits(std::uint32_t word, std::uint64_t bits) const {
    const std::uint64_t before = leaf(word).fetch_and(~bits, simt::order::acq_rel);
    if ((before & bits) != 0 && (before & ~bits) == 0) emptied(word);
    return before & bits;
  }

  /// Removes the elements of one leaf word if all are in the set. Returns whether they were.
  WARPHEAP_DEVICE bool remove_all_bits(std::uint32_t word, std::uint64_t bits) const {
    std::uint64_t seen = load_word(word);
    do {
      if ((seen & bits) != bits) return false;
    } while (!leaf(word).compare_exchange(seen, seen & ~bits, simt::order::acq_rel));
    if ((seen & ~bits) == 0) emptied(word);
    return true;
  }

  WARPHEAP_DEVICE std::uint64_t load_word(std::uint32_t word) const {
    return leaf(word).load(simt::order::acquire);
  }

  /// Like `load_word`, but never an old value; unless relaxed, later changes see what came before.
  WARPHEAP_DEVICE std::uint64_t examine_word(std::uint32_t word,
                                             simt::order o = simt::order::acq_rel) const {
    return leaf(word).fetch_or(0, o);
  }

  /// Like `load_word`, as a hint of where to look. 0 for a word beyond the last one.
  WARPHEAP_DEVICE std::uint64_t peek_word(std::uint32_t word) const {
    return word < leaf_words() ? leaf(word).load(simt::order::relaxed) : 0;
  }

  /// The smallest element >= `from`, or none. If not `Trusted`, the answer comes at once and is
  /// only as reliable as the hints.
  template <bool Trusted = true>
  WARPHEAP_DEVICE std::uint32_t successor(std::uint32_t from) const {
    if (from >= universe_) return none;
    const std::uint64_t mask = ~low_bits<std::uint64_t>(static_cast<int>(from % 64));
    return only(find<Trusted>(leaf_base_, from / 64, mask));
  }

  /// Whether the set has any element.
  WARPHEAP_DEVICE bool any() const { return find(0, 0, ~std::uint64_t{0}).bits != 0; }
  /// Like `any`, as a hint of whether to look: does not order anything.
  WARPHEAP_DEVICE bool peek_any() const { return word_at(0).load(simt::order::relaxed) != 0; }
  /// Only as reliable as the hints.
  WARPHEAP_DEVICE bool seems_empty() const { return word_at(0).load(simt::order::acquire) == 0; }

  /// Like `any`; and lanes that insert into the empty set later see what the caller did before.
  /// Does not wait: also true if a change was in progress that may hide elements (see `find`).
  WARPHEAP_DEVICE bool examine_any() const {
    const std::uint64_t before = changes().load(simt::order::relaxed);
    if (word_at(0).fetch_or(0, simt::order::acq_rel) != 0) return true;
    return leaf_base_ != 0 && (sync::moves::in_progress(before) != 0 ||
                               changes().load(simt::order::relaxed) != before);
  }

  /// Removes one of the smallest elements, first from leaf word `word` on, then from the front.
  /// Returns it, or none.
  template <bool Trusted = true>
  WARPHEAP_DEVICE std::uint32_t claim_first(std::uint32_t word = 0) const {
    return only(claim_some<Trusted>(1, word));
  }

  /// Like `claim_first`, from a place that `hash` selects, so that different hashes seldom meet.
  WARPHEAP_DEVICE std::uint32_t claim_hashed(std::uint32_t hash) const {
    return claim_first(scale_to(hash, leaf_words()));
  }

  /// Removes up to `want` elements that share a leaf word, by one atomic if no other lane
  /// interferes. Returns none only if the set is empty; if not `Trusted`, also if hints are wrong,
  /// as they are while thousands of lanes change the set.
  /// \param want at least 1
  /// \param first_word the leaf word to begin with
  template <bool Trusted = true>
  WARPHEAP_DEVICE word_elements claim_some(int want, std::uint32_t first_word) const {
    int window = 1;
    for (;;) {
      word_elements seen;
      if (first_word != 0) {
        seen = search(leaf_base_, first_word, load_word(first_word));
        first_word = 0;  // the next search covers everything
      }
      if (seen.bits == 0) seen = find<Trusted>(0, 0, ~std::uint64_t{0});
      if (seen.bits == 0) return {};
      while (seen.bits != 0) {
        const std::uint64_t wanted = choose(seen.bits, want, window);
        const std::uint64_t before = leaf(seen.word).fetch_and(~wanted, simt::order::acq_rel);
        const std::uint64_t got = before & wanted;
        if (got != 0) {
          if ((before & ~wanted) == 0) emptied(seen.word);
          return {seen.word, got};
        }
        // Another lane was faster. Choose among more elements, so that not all lanes meet again.
        seen.bits = before;
        window = window < 64 ? window * 4 : 64;
      }
    }
  }

  /// Calls `wrong(word)` for every word that violates an invariant. Every lane of a grid of `count`
  /// lanes calls it, while no lane changes the set.
  template <class Wrong>
  WARPHEAP_DEVICE void check(std::uint64_t rank, std::uint64_t count, const Wrong& wrong) const {
    if (rank == 0 && sync::moves::in_progress(storage_[0]) != 0) wrong(0);
    std::uint32_t bits = universe_;
    for (std::uint32_t base = leaf_base_;; base >>= 6) {
      const std::uint32_t words = ceil_div<std::uint32_t>(bits, 64);
      for (std::uint64_t i = rank; i < words; i += count) {
        const std::uint64_t left = bits - i * 64;
        const std::uint64_t word = storage_[1 + base + i];
        if ((word & ~low_bits<std::uint64_t>(left < 64 ? int(left) : 64)) != 0) wrong(i);
        if (base == 0) continue;
        const std::uint64_t parent = storage_[1 + (base >> 6) + i / 64];
        if ((word != 0) != ((parent >> (i % 64) & 1) != 0)) wrong(i);
      }
      if (base == 0) return;
      bits = words;
    }
  }

 private:
  using word_ref = simt::atomic_ref<std::uint64_t>;
  /// The number of words before the leaf level, without `changes`: 0, 1, 1 + 64, 1 + 64 + 64^2, ...
  /// The level above begins at `base >> 6`, the one below at `base * 64 + 1`.
  WARPHEAP_HD static constexpr std::uint32_t leaf_base_for(std::uint32_t universe) {
    std::uint32_t base = 0;
    for (std::uint32_t rest = (universe - 1) >> 6; rest != 0; rest >>= 6) base = base * 64 + 1;
    return base;
  }

  WARPHEAP_HD static constexpr std::uint64_t bit_of(std::uint32_t element) {
    return std::uint64_t{1} << (element % 64);
  }
  WARPHEAP_HD static constexpr std::uint32_t only(const word_elements& claimed) {
    return claimed.bits == 0 ? none : claimed.word * 64 + lowest_bit(claimed.bits);
  }

  WARPHEAP_DEVICE word_ref changes() const { return word_ref(storage_[0]); }
  WARPHEAP_DEVICE word_ref word_at(std::uint32_t position) const {
    return word_ref(storage_[1 + std::size_t{position}]);
  }
  WARPHEAP_DEVICE word_ref leaf(std::uint32_t word) const { return word_at(leaf_base_ + word); }

  WARPHEAP_DEVICE void announce() const { sync::moves::announce(changes()); }
  WARPHEAP_DEVICE void conclude() const { sync::moves::conclude(changes()); }

  /// Whether the bit above leaf word `index`, which the caller has changed, is set. Not a load: a
  /// lane that clears the bit afterwards must see the change when it looks at the word again.
  WARPHEAP_DEVICE bool shown(std::uint32_t index) const {
    if (leaf_base_ == 0) return true;
    return (word_at((leaf_base_ >> 6) + index / 64).fetch_or(0, simt::order::acq_rel) &
            bit_of(index)) != 0;
  }

  /// The caller has removed the last element of leaf word `index`.
  WARPHEAP_DEVICE void emptied(std::uint32_t index) const {
    announce();
    settle(index, false);
    conclude();
  }

  /// Called after leaf word `index` became zero or nonzero: brings the bits above it up to date, as
  /// far up as this makes words zero or nonzero.
  WARPHEAP_DEVICE void settle(std::uint32_t index, bool occupied) const {
    for (std::uint32_t base = leaf_base_; base != 0; base >>= 6) {
      const word_ref child = word_at(base + index);
      const word_ref parent = word_at((base >> 6) + index / 64);
      const std::uint64_t bit = bit_of(index);
      bool parent_changed = false;
      bool parent_occupied = false;
      for (;;) {
        const std::uint64_t before = occupied ? parent.fetch_or(bit, simt::order::acq_rel)
                                              : parent.fetch_and(~bit, simt::order::acq_rel);
        if (before == (occupied ? 0 : bit)) {
          parent_changed = true;
          parent_occupied = occupied;
        }
        if ((child.load(simt::order::acquire) != 0) == occupied) break;
        occupied = !occupied;
      }
      if (!parent_changed) return;
      occupied = parent_occupied;
      index /= 64;
    }
  }

  /// The nearest leaf word with elements, starting at word `index` of the level at `base`, of which
  /// `bits` are still to be looked at. Only as reliable as the hints.
  WARPHEAP_DEVICE word_elements search(std::uint32_t base, std::uint32_t index,
                                       std::uint64_t bits) const {
    for (;;) {
      if (bits != 0) {
        if (base == leaf_base_) return {index, bits};
        index = index * 64 + static_cast<std::uint32_t>(lowest_bit(bits));
        base = base * 64 + 1;
        bits = word_at(base + index).load(simt::order::acquire);
      } else {
        if (base == 0) return {};
        const int place = static_cast<int>(index % 64);
        index /= 64;
        base >>= 6;
        bits =
            word_at(base + index).load(simt::order::acquire) & ~low_bits<std::uint64_t>(place + 1);
      }
    }
  }

  /// Like `search`, starting with the bits `mask` of a word. If `Trusted`, "nothing" is certain.
  template <bool Trusted = true>
  WARPHEAP_DEVICE word_elements find(std::uint32_t base, std::uint32_t index,
                                     std::uint64_t mask) const {
    for (;;) {
      const std::uint64_t before = changes().load(simt::order::acquire);
      const word_elements found =
          search(base, index, word_at(base + index).load(simt::order::acquire) & mask);
      if (found.bits != 0 || !Trusted) return found;
      // Acquire loads keep the search before this one.
      if (sync::moves::in_progress(before) == 0 && changes().load(simt::order::acquire) == before) {
        return {};
      }
      simt::backoff(64);  // until lanes that never wait have brought the bits up to date
    }
  }

  /// `want` neighbouring bits of `bits`, from one of the lowest `window` places on; all, if fewer.
  WARPHEAP_DEVICE static std::uint64_t choose(std::uint64_t bits, int want, int window) {
    const int surplus = popcount(bits) - want;
    if (surplus <= 0) return bits;
    int skip = 0;
    if (window > 1) {
      const auto places = static_cast<std::uint32_t>(surplus < window ? surplus + 1 : window);
      skip = static_cast<int>(scale_to(static_cast<std::uint32_t>(simt::noise()), places));
    }
    const int low = kth_set_bit(bits, skip);
    return bits & bit_range<std::uint64_t>(low, kth_set_bit(bits, skip + want - 1) - low + 1);
  }

  std::uint64_t* storage_;
  std::uint32_t universe_;
  std::uint32_t leaf_base_;
};

WARPHEAP_END_NAMESPACE
