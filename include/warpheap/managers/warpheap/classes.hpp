// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The size classes of the manager `warpheap` in device memory: which words of the chunks of each
/// may have free slots, where each multiprocessor looks first, and how far the class may grow at a
/// time.
///
/// The words of all chunks are numbered, class by class: word w of chunk c is number c * words + w.
/// Number and class make a bit of the class's bitmap tree.
///
/// A million threads ask for slots of one class within microseconds, and a word of memory that all
/// of them touch, if only to read it, serves about one a nanosecond. So what each request needs is
/// computed from the class's number or lies on a desk, of which a class has one for each
/// multiprocessor.

#include "warpheap/core/align.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What changes of a class or of the heap are under way, and how many have ended, in one or several
/// words, {ended: 32 | in progress: 32} each. A search that found nothing while none was under way,
/// and none ended, found nothing because nothing was there.
class warpheap_changes {
 public:
  /// \param mine the word for the changes that the caller announces
  WARPHEAP_DEVICE warpheap_changes(std::uint64_t* words, std::uint32_t count, std::uint32_t mine)
      : words_(words), count_(count), mine_(words[mine]) {}

  /// The sum of every `step`th word from `first` on. Sums of different moments, if equal and
  /// quiet, say that nothing has changed between: the counts of what has ended only rise.
  WARPHEAP_DEVICE std::uint64_t look(std::uint32_t first = 0, std::uint32_t step = 1) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = first; i < count_; i += step) {
      sum += simt::atomic_ref(words_[i]).load(simt::order::relaxed);
    }
    simt::fence(simt::order::acq_rel);  // pairs with `end`
    return sum;
  }
  WARPHEAP_HD static constexpr bool quiet(std::uint64_t seen) {
    return static_cast<std::uint32_t>(seen) == 0;
  }
  /// How many were in progress in the caller's word before this one.
  WARPHEAP_DEVICE std::uint32_t begin() const {
    return static_cast<std::uint32_t>(mine_.fetch_add(1, simt::order::acq_rel));
  }
  WARPHEAP_DEVICE void end() const {
    mine_.fetch_add((std::uint64_t{1} << 32) - 1, simt::order::acq_rel);
  }

 private:
  std::uint64_t* words_;
  std::uint32_t count_;
  simt::atomic_ref<std::uint64_t> mine_;
};

template <warpheap_config Config>
class warpheap_classes {
 public:
  using chunks = warpheap_chunks<Config>;

  /// Counts of one class, a cache line of their own.
  struct alignas(128) record {
    std::uint32_t chunks;   ///< that belong to the class, for those who only guess
    std::uint32_t growers;  ///< lanes that are about to add some
  };

  /// `next` for no word.
  static constexpr std::uint64_t nowhere = std::uint64_t{1} << 40;

  /// What a multiprocessor knows about a class.
  struct alignas(32) desk {
    std::uint64_t next;  ///< the word to look at next: `warpheap_slot_search`
    std::uint32_t tree;  ///< where the class's tree begins, in lines of 16 words
    warpheap_slots slots;
  };

  /// Where everything lies.
  struct parts {
    record* records;
    desk* desks;             ///< `desks_for`
    std::uint64_t* changes;  ///< `changes_for`
    std::uint64_t* trees;    ///< `tree_words`
  };

  warpheap_classes() = default;
  warpheap_classes(const warpheap_size_classes& sizes, const parts& where, std::uint32_t universe,
                   std::uint32_t shards)
      : sizes_(sizes), where_(where), universe_(universe), shards_(shards) {}

  WARPHEAP_HD const warpheap_size_classes& sizes() const { return sizes_; }

  /// How the slots of a class lie: arithmetic alone.
  WARPHEAP_HD static warpheap_slots slots_of(const warpheap_size_classes& sizes, std::uint32_t of) {
    const std::uint32_t bytes = sizes.slot_bytes(of);
    const std::uint32_t count = sizes.chunk_bytes() / bytes;
    return {bytes, count, ceil_div<std::uint32_t>(count, chunks::word_slots)};
  }
  /// Words of the trees of all classes, each of which begins a cache line.
  static std::size_t tree_words(const warpheap_size_classes& sizes, std::uint32_t universe) {
    std::size_t words = 0;
    for (std::uint32_t of = 0; of < sizes.count(); ++of) {
      words += tree_words_of(slots_of(sizes, of), universe);
    }
    return words;
  }
  WARPHEAP_HD static std::size_t desks_for(const warpheap_size_classes& sizes,
                                           std::uint32_t shards) {
    return std::size_t{shards} * desk_stride(sizes);
  }
  WARPHEAP_HD static std::size_t changes_for(const warpheap_size_classes& sizes,
                                             std::uint32_t shards) {
    return std::size_t{shards} * sizes.count();
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    std::uint64_t tree = 0;
    for (std::uint32_t of = 0; of < sizes_.count(); ++of) {
      const warpheap_slots shape = slots_of(sizes_, of);
      if (of % count == rank) where_.records[of] = {0, 0};
      for (std::uint64_t i = rank; i < shards_; i += count) {
        where_.desks[i * desk_stride(sizes_) + of] = {
            nowhere, static_cast<std::uint32_t>(tree / line), shape};
      }
      bitmap_tree(where_.trees + tree, universe_ * shape.words).format(0, rank, count);
      tree += tree_words_of(shape, universe_);
    }
    for (std::uint64_t i = rank; i < changes_for(sizes_, shards_); i += count) {
      where_.changes[i] = 0;
    }
  }

  WARPHEAP_DEVICE warpheap_slots slots(std::uint32_t of) const { return slots_of(sizes_, of); }

  /// The multiprocessor's number among those that have desks.
  WARPHEAP_DEVICE std::uint32_t shard() const { return simt::sm_id() % shards_; }

  /// What a multiprocessor knows about a class: hints, and what never changes.
  WARPHEAP_DEVICE desk& desk_of(std::uint32_t of, std::uint32_t shard) const {
    return where_.desks[std::size_t{shard} * desk_stride(sizes_) + of];
  }

  /// The words that may have free slots of a class: all that have some, while no change of the
  /// class is in progress, and perhaps others, also of other owners.
  WARPHEAP_DEVICE bitmap_tree open(std::uint32_t of, const warpheap_slots& shape,
                                   std::uint32_t shard) const {
    return bitmap_tree(where_.trees + std::size_t{desk_of(of, shard).tree} * line,
                       universe_ * shape.words);
  }

  /// Chunks that come, and words that are being hidden or found again: a word for each
  /// multiprocessor.
  WARPHEAP_DEVICE warpheap_changes changes(std::uint32_t of, std::uint32_t shard) const {
    return warpheap_changes(where_.changes + std::size_t{of} * shards_, shards_, shard);
  }

  /// How many chunks a class has; relaxed, a guess while others add some.
  WARPHEAP_DEVICE std::uint32_t size(std::uint32_t of) const {
    return count(of).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE void gained(std::uint32_t of, int how_many) const {
    count(of).fetch_add(static_cast<std::uint32_t>(how_many), simt::order::relaxed);
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
  static constexpr std::size_t line = 16;  // words

  WARPHEAP_HD static std::size_t tree_words_of(const warpheap_slots& shape,
                                               std::uint32_t universe) {
    return round_up<std::size_t>(bitmap_tree::words_for(universe * shape.words), line);
  }
  /// Desks of one multiprocessor lie together, those of different ones in different cache lines.
  WARPHEAP_HD static std::uint32_t desk_stride(const warpheap_size_classes& sizes) {
    return round_up<std::uint32_t>(sizes.count(), 4);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> count(std::uint32_t of) const {
    return simt::atomic_ref(where_.records[of].chunks);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> growers(std::uint32_t of) const {
    return simt::atomic_ref(where_.records[of].growers);
  }

  warpheap_size_classes sizes_{8};
  parts where_{};
  std::uint32_t universe_ = 1;
  std::uint32_t shards_ = 1;
};

WARPHEAP_END_NAMESPACE
