// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The size classes of the manager `warpheap` in device memory: the table of the chunks of each,
/// and what is known of them together.
///
/// A class's table is drawn from at random, so it may have holes, where chunks have left, and a
/// lane may see a chunk that has just left: the words of chunks tell. The count of entries only
/// rises. Lanes read the table as a hint, which the multiprocessor may keep.

#include "warpheap/core/align.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <warpheap_config Config>
class warpheap_classes {
 public:
  using chunks = warpheap_chunks<Config>;
  using search = shared_search<Config.chunks_a_slice>;

  static constexpr std::uint32_t no_chunk = 0xffffffffu;

  /// What changes of a class.
  struct record {
    search full;                         ///< for a free slot in its chunks
    alignas(128) std::uint32_t entries;  ///< of the table, holes included
    alignas(128) std::uint32_t hole;     ///< number of an entry that may be a hole, or no_chunk
    std::uint32_t waiting;               ///< lanes that look for slots in vain
    std::uint32_t growing;               ///< groups that are about to add a chunk
  };

  /// Where everything lies.
  struct parts {
    record* records;
    warpheap_slots* shapes;
    std::uint32_t* tables;  ///< `universe` a class
    std::uint32_t* places;  ///< of each chunk in its class's table
  };

  warpheap_classes() = default;
  warpheap_classes(const warpheap_size_classes& sizes, const parts& where, std::uint32_t universe)
      : sizes_(sizes), where_(where), universe_(universe) {}

  WARPHEAP_HD const warpheap_size_classes& sizes() const { return sizes_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t of = rank; of < sizes_.count(); of += count) {
      const std::uint32_t bytes = sizes_.slot_bytes(static_cast<std::uint32_t>(of));
      const std::uint32_t slots = sizes_.chunk_bytes() / bytes;
      where_.shapes[of] = {bytes, slots, ceil_div<std::uint32_t>(slots, chunks::word_slots)};
      record& fresh = where_.records[of];
      fresh.full.format();
      fresh.entries = 0;
      fresh.hole = no_chunk;
      fresh.waiting = 0;
      fresh.growing = 0;
    }
    for (std::uint64_t i = rank; i < std::uint64_t{universe_} * sizes_.count(); i += count) {
      where_.tables[i] = no_chunk;
    }
  }

  /// Never changes after `format`.
  WARPHEAP_DEVICE warpheap_slots slots(std::uint32_t of) const { return where_.shapes[of]; }
  WARPHEAP_DEVICE search& full(std::uint32_t of) const { return where_.records[of].full; }
  WARPHEAP_DEVICE record& of(std::uint32_t number) const { return where_.records[number]; }

  /// Entries of the table, as a hint.
  WARPHEAP_DEVICE std::uint32_t entries_hint(std::uint32_t of) const {
    const std::uint32_t found = simt::load_hint(where_.records[of].entries);
    return found < universe_ ? found : universe_;
  }
  WARPHEAP_DEVICE std::uint32_t entries(std::uint32_t of) const {
    const std::uint32_t found =
        simt::atomic_ref(where_.records[of].entries).load(simt::order::acquire);
    return found < universe_ ? found : universe_;
  }
  /// A chunk, or no_chunk, as a hint. \pre `entry < universe`
  WARPHEAP_DEVICE std::uint32_t chunk_hint(std::uint32_t of, std::uint32_t entry) const {
    return simt::load_hint(table(of)[entry]);
  }
  /// The same two as searches look: a lane that adds a chunk later sees that they are under way.
  WARPHEAP_DEVICE std::uint32_t examine_entries(std::uint32_t of) const {
    const std::uint32_t found =
        simt::atomic_ref(where_.records[of].entries).fetch_add(0, simt::order::acq_rel);
    return found < universe_ ? found : universe_;
  }
  WARPHEAP_DEVICE std::uint32_t examine_chunk(std::uint32_t of, std::uint32_t entry) const {
    return simt::atomic_ref(table(of)[entry]).fetch_or(0, simt::order::acq_rel);
  }

  /// Puts a chunk into the table. Lock-free: an entry is lost only to another chunk. There is one
  /// for each chunk of the heap, so a hole is found.
  WARPHEAP_DEVICE void add(std::uint32_t of, std::uint32_t chunk) const {
    record& to = where_.records[of];
    const std::uint32_t hole = simt::atomic_ref(to.hole).exchange(no_chunk, simt::order::relaxed);
    if (hole != no_chunk && put(of, hole, chunk)) return;
    // Release pairs with the acquire in `entries`. Beyond the last entry it only tells where to
    // begin.
    std::uint32_t entry = entries(of);
    if (entry < universe_) {
      entry = simt::atomic_ref(to.entries).fetch_add(1, simt::order::acq_rel);
    }
    while (entry >= universe_ || !put(of, entry, chunk))
      entry = entry + 1 < universe_ ? entry + 1 : 0;
  }
  /// Takes a chunk out of the table. \pre it is there, and the caller alone may do so
  WARPHEAP_DEVICE void remove(std::uint32_t of, std::uint32_t chunk) const {
    const std::uint32_t entry = where_.places[chunk];
    simt::atomic_ref(table(of)[entry]).store(no_chunk, simt::order::relaxed);
    simt::atomic_ref(where_.records[of].hole).store(entry, simt::order::relaxed);
  }

  /// Whether a chunk is where it says, while no lane allocates.
  WARPHEAP_DEVICE bool has(std::uint32_t of, std::uint32_t chunk) const {
    const std::uint32_t entry = where_.places[chunk];
    return entry < entries(of) && table(of)[entry] == chunk;
  }

 private:
  WARPHEAP_DEVICE std::uint32_t* table(std::uint32_t of) const {
    return where_.tables + std::size_t{of} * universe_;
  }
  WARPHEAP_DEVICE bool put(std::uint32_t of, std::uint32_t entry, std::uint32_t chunk) const {
    std::uint32_t hole = no_chunk;
    // Before others can see the chunk in the table, and take it away again. Release pairs with the
    // acquire by which the chunk is closed; acquire: see `examine_chunk`.
    where_.places[chunk] = entry;
    return simt::atomic_ref(table(of)[entry]).compare_exchange(hole, chunk, simt::order::acq_rel);
  }

  warpheap_size_classes sizes_{8};
  parts where_{};
  std::uint32_t universe_ = 1;
};

WARPHEAP_END_NAMESPACE
