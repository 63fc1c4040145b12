// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The size classes of the manager `warpheap` in device memory: how the slots of each lie in a
/// chunk, which words of its chunks may have free ones, where each multiprocessor looks first, and
/// how far the class may grow at a time.
///
/// The words of all chunks are numbered, class by class: word w of chunk c is number c * words + w.
/// Number and class make a bit of the class's bitmap tree.

#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What changes of a class or of the heap are under way, and how many have ended:
/// {ended: 32 | in progress: 32}. A search that found nothing while none was under way, and none
/// ended, found nothing because nothing was there.
class warpheap_changes {
 public:
  WARPHEAP_DEVICE explicit warpheap_changes(std::uint64_t& word) : word_(word) {}

  WARPHEAP_DEVICE std::uint64_t look() const { return word_.load(simt::order::acquire); }
  WARPHEAP_HD static constexpr bool quiet(std::uint64_t seen) {
    return static_cast<std::uint32_t>(seen) == 0;
  }
  /// How many were in progress before this one.
  WARPHEAP_DEVICE std::uint32_t begin() const {
    return static_cast<std::uint32_t>(word_.fetch_add(1, simt::order::acq_rel));
  }
  WARPHEAP_DEVICE void end() const {
    word_.fetch_add((std::uint64_t{1} << 32) - 1, simt::order::acq_rel);
  }

 private:
  simt::atomic_ref<std::uint64_t> word_;
};

template <warpheap_config Config>
class warpheap_classes {
 public:
  using chunks = warpheap_chunks<Config>;

  /// One class, a cache line of its own.
  struct alignas(128) record {
    warpheap_slots slots;
    std::uint64_t tree;     ///< where the class's tree begins, in words
    std::uint64_t changes;
    std::uint32_t chunks;   ///< that belong to the class, for those who only guess
    std::uint32_t growers;  ///< lanes that are about to add some
  };

  warpheap_classes() = default;
  /// \param trees `tree_words` words
  /// \param hints `hints_for` words
  warpheap_classes(const warpheap_size_classes& sizes, record* records, std::uint64_t* trees,
                   std::uint32_t* hints, std::uint32_t universe, std::uint32_t shards)
      : sizes_(sizes),
        records_(records),
        trees_(trees),
        hints_(hints),
        universe_(universe),
        shards_(shards) {}

  WARPHEAP_HD const warpheap_size_classes& sizes() const { return sizes_; }

  /// How the slots of a class lie.
  WARPHEAP_HD static warpheap_slots slots_of(const warpheap_size_classes& sizes, std::uint32_t of) {
    const std::uint32_t bytes = sizes.slot_bytes(of);
    const std::uint32_t count = sizes.chunk_bytes() / bytes;
    const auto words = ceil_div<std::uint32_t>(count, chunks::word_slots);
    return {bytes, count, words, divisor(bytes), divisor(words)};
  }
  /// Words of the trees of all classes, each of which begins a cache line.
  static std::size_t tree_words(const warpheap_size_classes& sizes, std::uint32_t universe) {
    std::size_t words = 0;
    for (std::uint32_t of = 0; of < sizes.count(); ++of) {
      words += tree_words_of(slots_of(sizes, of), universe);
    }
    return words;
  }
  WARPHEAP_HD static std::size_t hints_for(const warpheap_size_classes& sizes, std::uint32_t shards) {
    return std::size_t{shards} * hint_stride(sizes);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    std::uint64_t tree = 0;
    for (std::uint32_t of = 0; of < sizes_.count(); ++of) {
      const warpheap_slots shape = slots_of(sizes_, of);
      if (of % count == rank) records_[of] = {shape, tree, 0, 0, 0};
      bitmap_tree(trees_ + tree, universe_ * shape.words).format(0, rank, count);
      tree += tree_words_of(shape, universe_);
    }
    for (std::uint64_t i = rank; i < hints_for(sizes_, shards_); i += count) hints_[i] = 0;
  }

  WARPHEAP_DEVICE warpheap_slots slots(std::uint32_t of) const { return records_[of].slots; }

  /// The words that may have free slots of a class: all that have some, while no change of the
  /// class is in progress, and perhaps others, also of other owners.
  WARPHEAP_DEVICE bitmap_tree open(std::uint32_t of) const {
    const record& r = records_[of];
    return bitmap_tree(trees_ + r.tree, universe_ * r.slots.words);
  }

  /// The leaf word of `open` in which the lanes of this multiprocessor look first: only a hint.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> hint(std::uint32_t of) const {
    return simt::atomic_ref(
        hints_[std::size_t{simt::sm_id() % shards_} * hint_stride(sizes_) + of]);
  }

  /// Chunks that come, and words that are being hidden or found again.
  WARPHEAP_DEVICE warpheap_changes changes(std::uint32_t of) const {
    return warpheap_changes(records_[of].changes);
  }

  /// How many chunks a class has; relaxed, a guess while others add some.
  WARPHEAP_DEVICE std::uint32_t size(std::uint32_t of) const {
    return count(of).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE void gained(std::uint32_t of, int chunks) const {
    count(of).fetch_add(static_cast<std::uint32_t>(chunks), simt::order::relaxed);
  }
  WARPHEAP_DEVICE void lost(std::uint32_t of) const {
    count(of).fetch_sub(1, simt::order::relaxed);
  }

  /// Whether one lane more may add chunks; if so, it calls `grew` when it is done. Those that may
  /// not leave no trace: a counter that they all went through would never be low.
  WARPHEAP_DEVICE bool may_grow(std::uint32_t of, std::uint32_t at_a_time) const {
    std::uint32_t now = growers(of).load(simt::order::relaxed);
    while (now < at_a_time) {
      if (growers(of).compare_exchange(now, now + 1, simt::order::relaxed)) return true;
    }
    return false;
  }
  WARPHEAP_DEVICE void grew(std::uint32_t of) const {
    growers(of).fetch_sub(1, simt::order::relaxed);
  }

 private:
  WARPHEAP_HD static std::size_t tree_words_of(const warpheap_slots& shape, std::uint32_t universe) {
    return round_up<std::size_t>(bitmap_tree::words_for(universe * shape.words), 16);
  }
  /// Hints of one multiprocessor lie together, those of different ones in different cache lines.
  WARPHEAP_HD static std::uint32_t hint_stride(const warpheap_size_classes& sizes) {
    return round_up<std::uint32_t>(sizes.count(), 32);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> count(std::uint32_t of) const {
    return simt::atomic_ref(records_[of].chunks);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> growers(std::uint32_t of) const {
    return simt::atomic_ref(records_[of].growers);
  }

  warpheap_size_classes sizes_{8};
  record* records_ = nullptr;
  std::uint64_t* trees_ = nullptr;
  std::uint32_t* hints_ = nullptr;
  std::uint32_t universe_ = 1;
  std::uint32_t shards_ = 1;
};

WARPHEAP_END_NAMESPACE
