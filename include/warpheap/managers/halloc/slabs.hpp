// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file The slabs of Halloc: their words, the sets that hold them by class, and how a slab moves
/// from one set to another (managers/halloc/halloc.hpp explains them).
///
/// A slab that is neither a head nor full belongs to one set, its `home`, which follows from its
/// word. An atomic that changes the home sees both homes in the word, so exactly one lane knows of
/// the change, and afterwards puts the slab into its new set. Only lanes that look for a slab take
/// it out of a set, before they look at its word. So a slab is missing from its home only while a
/// lane is about to put it there. It may be in other sets as well, which is harmless, because the
/// word decides.
///
/// Memory orders: words are changed with acq_rel. What lanes did with a slab before they took
/// chunks off its word comes before what lanes do that count their chunks later, whatever the
/// slab's size is then.

#include "warpheap/core/config.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/shortages.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

template <halloc_config Config>
class slabs {
 public:
  using shape_type = geometry<Config>;
  static constexpr std::uint32_t none = bitmap_tree::none;

  // Sets: of free slabs, of sparse ones by kind, of roomy and of busy ones by size.
  static constexpr std::uint32_t free_set = 0;
  static constexpr std::uint32_t sparse_sets = 1;
  static constexpr std::uint32_t roomy_sets = sparse_sets + shape_type::kinds;
  static constexpr std::uint32_t busy_sets = roomy_sets + shape_type::sizes;
  static constexpr std::uint32_t sets = busy_sets + shape_type::sizes;
  static constexpr std::uint32_t nowhere = sets;

  slabs() = default;
  slabs(const shape_type& shape, region_cursor& cursor) : shape_(shape) {
    words_ = cursor.take<std::uint64_t>(shape.slabs(), 128);
    out_ = cursor.take<shortages::of_kind>(shape_type::kinds);
    set_stride_ = static_cast<std::uint32_t>(
        round_up<std::size_t>(bitmap_tree::words_for(shape.slabs()), 16));
    set_words_ = cursor.take<std::uint64_t>(std::size_t{set_stride_} * sets, 128);
    bits_ = cursor.take<std::uint32_t>(std::size_t{shape.slabs()} * bit_words(), 128);
    lengths_ = cursor.take<std::uint32_t>(std::size_t{shape.slabs()} * length_words(), 128);
  }

  WARPHEAP_HD shape_type shape() const { return shape_; }
  WARPHEAP_DEVICE shortages known() const { return shortages(out_); }
  WARPHEAP_DEVICE bitmap_tree set(std::uint32_t number) const {
    return bitmap_tree(set_words_ + std::size_t{number} * set_stride_, shape_.slabs());
  }
  /// The numbers of 32-bit words of a slab's bits and of its lengths.
  WARPHEAP_HD std::uint32_t bit_words() const {
    return shape_.slab_bytes() / (shape_type::smallest_chunk * chunk_map::word_chunks);
  }
  WARPHEAP_HD std::uint32_t length_words() const {
    return shape_.slab_bytes() / (shape_type::smallest_chunk * chunk_map::length_chunks);
  }
  WARPHEAP_DEVICE chunk_map map(std::uint32_t slab) const {
    return chunk_map(bits_ + std::size_t{slab} * bit_words(),
                     lengths_ + std::size_t{slab} * length_words(), known());
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < shape_.slabs(); i += count) {
      words_[i] = slab_word::free().bits();
    }
    for (std::uint64_t i = rank; i < shape_type::kinds; i += count) {
      out_[i].all.format();
    }
    for (std::uint32_t i = 0; i < sets; ++i) {
      set(i).format(i == free_set ? shape_.slabs() : 0, rank, count);
    }
    const std::uint64_t bit_count = std::uint64_t{shape_.slabs()} * bit_words();
    for (std::uint64_t i = rank; i < bit_count; i += count) bits_[i] = 0;
    const std::uint64_t length_count = std::uint64_t{shape_.slabs()} * length_words();
    for (std::uint64_t i = rank; i < length_count; i += count) lengths_[i] = 0;
  }

  /// Only a hint: relaxed.
  WARPHEAP_DEVICE slab_word look(std::uint32_t slab) const {
    return slab_word(word(slab).load(simt::order::relaxed));
  }
  /// Reads the word as `shortages` requires.
  WARPHEAP_DEVICE slab_word examine(std::uint32_t slab) const {
    return slab_word(word(slab).fetch_or(0, simt::order::acq_rel));
  }
  /// Whether blocks of `size` may lie in such a slab: it has chunks of their kind.
  WARPHEAP_DEVICE static bool suits(slab_word now, std::uint32_t size) {
    return now.bound() && shape_type::kind_of(now.size()) == shape_type::kind_of(size);
  }

  /// The set to which a slab belongs.
  WARPHEAP_HD std::uint32_t home(slab_word now) const {
    if (now.head()) return nowhere;
    if (!now.bound()) return free_set;
    switch (shape_.fill_of(now.size(), now.used())) {
      case fill::empty:
        return free_set;
      case fill::sparse:
        return sparse_sets + shape_type::kind_of(now.size());
      case fill::roomy:
        return roomy_sets + now.size();
      case fill::busy:
        return busy_sets + now.size();
      case fill::full:
        break;
    }
    return nowhere;
  }

  /// Counts chunks that lanes have claimed. Returns the previous word.
  WARPHEAP_DEVICE slab_word add(std::uint32_t slab, std::uint32_t chunks) const {
    const slab_word before(word(slab).fetch_add(chunks, simt::order::acq_rel));
    moved(slab, before, slab_word(before.bits() + chunks));
    return before;
  }

  /// Counts chunks that lanes have given back.
  WARPHEAP_DEVICE void subtract(std::uint32_t slab, std::uint32_t chunks) const {
    const slab_word before(word(slab).fetch_sub(chunks, simt::order::acq_rel));
    const slab_word after(before.bits() - chunks);
    moved(slab, before, after);
    if (!after.bound() || (after.head() && after.used() == 0)) {
      known().end_all();  // such a slab is available for blocks of any size
    } else {
      known().end(shape_type::kind_of(after.size()));
    }
  }

  /// Makes a slab free if it is empty and not a head. Returns whether it did.
  WARPHEAP_DEVICE bool release(std::uint32_t slab) const {
    std::uint64_t seen = word(slab).load(simt::order::relaxed);
    // Lock-free: an exchange fails only if another lane has changed the word. If that lane has
    // counted chunks, then it, or a lane that takes these off again, takes care of the slab.
    for (;;) {
      const slab_word now(seen);
      if (!now.bound() || now.head() || now.used() != 0) return false;
      if (word(slab).compare_exchange(seen, slab_word::free().bits(), simt::order::acq_rel)) break;
    }
    set(free_set).insert(slab);
    known().end_all();
    return true;
  }

  /// Gives a free slab to `size`, with `span` of its chunks counted as in use from the start, so
  /// that no lane takes it for empty. Returns whether it did.
  WARPHEAP_DEVICE bool open(std::uint32_t slab, std::uint32_t size) const {
    std::uint64_t seen = word(slab).load(simt::order::relaxed);
    // Lock-free: an exchange fails only if another lane has changed the word.
    for (;;) {
      const slab_word now(seen);
      if (now.bound()) return false;
      const slab_word opened(now.used() + shape_type::span(size), size, false);
      if (word(slab).compare_exchange(seen, opened.bits(), simt::order::acq_rel)) {
        moved(slab, now, opened);
        return true;
      }
    }
  }

  /// Whether there seems to be a slab that can become the head of `size`.
  WARPHEAP_DEVICE bool has_head_for(std::uint32_t size) const {
    return !(set(roomy_sets + size).seems_empty() &&
             set(sparse_sets + shape_type::kind_of(size)).seems_empty() &&
             set(free_set).seems_empty() && set(busy_sets + size).seems_empty());
  }

  /// Marks a slab as the head of `size` and returns it, or `none`: one with room, else a sparse one
  /// with the same kind of chunks, else a free one, else a busy one. Only as reliable as the sets'
  /// hints: a lane that has locked a size does not wait for these, and the search of all slabs
  /// misses none.
  WARPHEAP_DEVICE std::uint32_t find_head_for(std::uint32_t size) const {
    std::uint32_t slab = adopt_from(roomy_sets + size, size, fill::roomy);
    if (slab == none) {
      slab = adopt_from(sparse_sets + shape_type::kind_of(size), size, fill::roomy);
    }
    if (slab == none) slab = adopt_from(free_set, size, fill::roomy);
    if (slab == none) slab = adopt_from(busy_sets + size, size, fill::busy);
    return slab;
  }

  /// The slab is no longer a head.
  WARPHEAP_DEVICE void retire(std::uint32_t slab) const {
    const slab_word before(word(slab).fetch_and(~slab_word::head_bit, simt::order::acq_rel));
    moved(slab, before, slab_word(before.bits() & ~slab_word::head_bit));
  }

 private:
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> word(std::uint32_t slab) const {
    return simt::atomic_ref(words_[slab]);
  }

  /// The caller has changed the word of a slab.
  WARPHEAP_DEVICE void moved(std::uint32_t slab, slab_word before, slab_word after) const {
    const std::uint32_t to = home(after);
    if (to == nowhere || to == home(before)) return;
    if (to == free_set) {
      release(slab);
    } else {
      set(to).insert(slab);
    }
  }

  /// Takes slabs out of a set until one can be the head of `size`. Ends: each look takes out an
  /// element that another lane has put there.
  WARPHEAP_DEVICE std::uint32_t adopt_from(std::uint32_t from, std::uint32_t size,
                                           fill fullest) const {
    for (;;) {
      const std::uint32_t slab = set(from).template claim_first<false>();
      if (slab == none || adopt(slab, size, fullest)) return slab;
    }
  }

  WARPHEAP_DEVICE bool adopt(std::uint32_t slab, std::uint32_t size, fill fullest) const {
    std::uint64_t seen = word(slab).load(simt::order::relaxed);
    // Lock-free: an exchange fails only if another lane has changed the word.
    while (can_be_head(slab_word(seen), size, fullest)) {
      const slab_word adopted(slab_word(seen).used(), size, true);
      if (word(slab).compare_exchange(seen, adopted.bits(), simt::order::acq_rel)) return true;
    }
    return false;
  }

  WARPHEAP_DEVICE bool can_be_head(slab_word now, std::uint32_t size, fill fullest) const {
    if (now.head()) return false;
    if (!now.bound()) return true;
    if (!suits(now, size)) return false;
    const fill level = shape_.fill_of(now.size(), now.used());
    return level <= fill::sparse || (now.size() == size && level <= fullest);
  }

  shape_type shape_;
  std::uint64_t* words_ = nullptr;
  shortages::of_kind* out_ = nullptr;
  std::uint64_t* set_words_ = nullptr;
  std::uint32_t* bits_ = nullptr;
  std::uint32_t* lengths_ = nullptr;
  std::uint32_t set_stride_ = 0;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
