// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The layout of the region (drawn in ouroboros.hpp), and handles to its parts.

#include "warpheap/core/align.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/ouroboros/chunk_supply.hpp"
#include "warpheap/managers/ouroboros/chunk_table.hpp"
#include "warpheap/managers/ouroboros/geometry.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/index_queue/array_directory.hpp"
#include "warpheap/sync/index_queue/bounded_queue.hpp"
#include "warpheap/sync/index_queue/list_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

/// The words of a class. Each of those that many lanes change has its own cache line.
struct class_words {
  /// Semaphore: pages in the queue, or on chunks in the queue.
  alignas(128) std::uint64_t units;
  /// Semaphore: how many more entries a queue of pages can take. Virtualised queues share the
  /// first.
  alignas(128) std::uint64_t room;
  /// Chunks: how many of those in the queue are wholly free. Not exact while lanes are at work.
  alignas(128) std::int64_t whole;
  /// How often memory has left `units` without being taken: see `memory_map::note_move`.
  std::uint64_t moves;
  sync::queue_ends ends;
  sync::list_directory::anchor anchor;
};

/// The pool of all virtualised queues: any chunk of the supply.
template <int SlotsLog2, std::uint32_t MaskWords>
class queue_chunks {
 public:
  queue_chunks() = default;
  /// \param room word of the semaphore that counts how many more slots queues may draw, or null
  queue_chunks(const chunk_supply& supply, const chunk_table<MaskWords>& table, std::byte* chunks,
               std::uint32_t* finished, std::uint64_t* room)
      : supply_(supply), table_(table), chunks_(chunks), finished_(finished), room_(room) {}

  WARPHEAP_HD static constexpr int slots_log2() { return SlotsLog2; }
  WARPHEAP_HD std::uint32_t chunks() const { return supply_.chunks(); }
  WARPHEAP_DEVICE std::uint64_t* slots(std::uint32_t chunk) const {
    return reinterpret_cast<std::uint64_t*>(chunks_ + (std::size_t{chunk} << (SlotsLog2 + 3)));
  }
  WARPHEAP_DEVICE std::uint32_t* finished(std::uint32_t chunk) const { return finished_ + chunk; }

  WARPHEAP_DEVICE std::uint32_t take() const {
    const std::uint32_t chunk = supply_.take();
    table_.set(chunk, chunk_state::queue());
    return chunk;
  }
  WARPHEAP_DEVICE void give(std::uint32_t chunk) const {
    table_.set(chunk, chunk_state(0));
    supply_.give(chunk, 1);
    if (room_ != nullptr) sync::bulk_semaphore(*room_).signal(std::uint64_t{1} << SlotsLog2);
  }

 private:
  chunk_supply supply_;
  chunk_table<MaskWords> table_;
  std::byte* chunks_ = nullptr;
  std::uint32_t* finished_ = nullptr;
  std::uint64_t* room_ = nullptr;
};

/// The number of each kind of thing in a heap of some number of chunks. Plain arithmetic, so that
/// heaps of any size can be checked on a machine of any size.
template <ouroboros_config Config>
struct sizing {
  using sizes = geometry<Config>;
  static constexpr bool pages = Config.item == item_kind::pages;
  static constexpr bool virtualised = Config.queue != queue_kind::static_array;
  /// Entries have 27 bits for a chunk's number; with entries for chunks, the semaphore counts all
  /// pages.
  static constexpr std::uint32_t most_chunks =
      pages ? 1u << 27
            : static_cast<std::uint32_t>((sync::bulk_semaphore::most_units - 1) >>
                                         sizes::most_pages_log2);
  /// Besides the chunks that its entries fill, a queue has one that is being filled, one that is
  /// ready and, with entries for chunks, one that is partly taken: see virtual_queue.hpp.
  static constexpr std::uint32_t spare_chunks = 3 * sizes::classes;

  std::uint32_t chunks = 0;
  /// Chunks that may be taken for queues.
  std::uint32_t for_queues = 0;
  /// The number of slots of each static queue.
  int slots_log2 = 0;
  /// The number of entries of each array of chunk pointers.
  int pointers_log2 = 0;
  int fingers_log2 = 0;

  WARPHEAP_HD explicit sizing(std::uint32_t count) : chunks(count) {
    if (virtualised) {
      // There are never more entries for chunks than chunks. Entries for pages could take half of
      // the heap: they get a 256th of it, and pages for which there is no entry are parked.
      const std::uint32_t filled =
          pages ? (chunks >> 8 > sizes::classes ? chunks >> 8 : sizes::classes)
                : 3 * ((chunks >> sizes::slots_log2) + 1);
      for_queues = filled + spare_chunks;
      pointers_log2 = ceil_log2(for_queues + 1);
      fingers_log2 = pointers_log2 < most_fingers_log2 ? pointers_log2 : most_fingers_log2;
    } else if (pages) {
      // A 128th of the heap for all queues of pages, in powers of two.
      const std::uint64_t share =
          ((std::uint64_t{chunks} << sizes::chunk_log2) / 128 / 8 / sizes::classes) | 32u;
      slots_log2 = floor_log2(share);
    } else {
      slots_log2 = chunk_supply::queue_log2(chunks);
    }
  }

  /// The most positions that may be drawn and not yet given back: of one static queue of pages, or
  /// of all virtualised ones together.
  WARPHEAP_HD std::uint64_t room() const {
    return virtualised ? std::uint64_t{for_queues - spare_chunks} << sizes::slots_log2
                       : std::uint64_t{1} << slots_log2;
  }

 private:
  static constexpr int most_fingers_log2 = 12;
};

template <ouroboros_config Config>
class memory_map {
 public:
  using sizes = geometry<Config>;
  using amounts = sizing<Config>;
  using table_type = chunk_table<sizes::mask_words>;
  using pool_type = queue_chunks<sizes::slots_log2, sizes::mask_words>;
  static constexpr bool pages = amounts::pages;
  static constexpr bool virtualised = amounts::virtualised;
  /// Entries of a static queue of chunks are small, so a slot of 32 bits is enough.
  using slot_type = std::conditional_t<pages, std::uint64_t, std::uint32_t>;
  using directory_type = std::conditional_t<Config.queue == queue_kind::virtual_array,
                                            sync::array_directory, sync::list_directory>;
  using queue_type = std::conditional_t<virtualised, sync::virtual_queue<directory_type, pool_type>,
                                        sync::static_queue<slot_type>>;
  using value_type = std::conditional_t<virtualised, std::uint64_t, slot_type>;

  /// \throws invalid_argument if the region is too small for any chunk, or has more chunks than can
  ///   be numbered
  memory_map(const region& memory, const char* owner) {
    const std::uint32_t least = least_chunks();
    constexpr std::size_t most_bytes = std::size_t{amounts::most_chunks} << sizes::chunk_log2;
    if (memory.bytes > most_bytes) {
      throw invalid_argument(std::string(owner) + ": a heap of " + std::to_string(memory.bytes) +
                             " bytes; at most " + std::to_string(most_bytes) + " are possible");
    }
    const auto most = static_cast<std::uint32_t>(memory.bytes >> sizes::chunk_log2);
    lay_out_most(memory, owner, least, most < least ? least : most,
                 [this](region_cursor& cursor, std::uint32_t chunks) {
                   amounts_ = amounts(chunks);
                   lay_out(cursor, amounts_);
                 });
  }

  WARPHEAP_HD std::uint32_t chunk_count() const { return amounts_.chunks; }
  WARPHEAP_HD std::uint32_t for_queues() const { return amounts_.for_queues; }
  WARPHEAP_HD const amounts& all_amounts() const { return amounts_; }
  WARPHEAP_HD const chunk_supply& supply() const { return supply_; }
  WARPHEAP_HD const table_type& table() const { return table_; }
  WARPHEAP_HD std::byte* chunk(std::uint32_t index) const {
    return chunks_ + (std::size_t{index} << sizes::chunk_log2);
  }
  WARPHEAP_HD void* page(std::uint32_t cls, std::uint32_t chunk_index, std::uint32_t page) const {
    return chunk(chunk_index) + (std::size_t{page} << sizes::page_log2(cls));
  }
  WARPHEAP_DEVICE std::uint64_t offset_of(const void* block) const {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(chunks_);
  }

  WARPHEAP_DEVICE class_words& words(std::uint32_t cls) const { return classes_[cls]; }
  WARPHEAP_DEVICE sync::bulk_semaphore units(std::uint32_t cls) const {
    return sync::bulk_semaphore(classes_[cls].units);
  }

  /// Announces that memory which `units` of a class still expect is now elsewhere: pages are
  /// parked, or a chunk is back in the supply, where all classes look. Called between the two: a
  /// lane that misses the units afterwards sees that the number has changed. Release pairs with the
  /// acquire in `moves`; the end of the expectation, which releases, pairs with the acquire of its
  /// readers.
  WARPHEAP_DEVICE void note_move(std::uint32_t cls) const {
    moves_word(cls).fetch_add(1, simt::order::release);
  }
  /// How often memory has moved in this way. If the number is the same before a look at the supply
  /// and after a look at the units, then whatever was there all the time was seen in one of them:
  /// growth makes its units expected before it takes anything from the supply, so it hides nothing
  /// from lanes that look in this order. For runs of chunks also how often chunks came back: if the
  /// number is the same, no run became free behind a search.
  WARPHEAP_DEVICE std::uint64_t moves(std::uint32_t cls) const {
    return moves_word(cls).load(simt::order::acquire) +
           (sizes::span_log2(cls) != 0 ? supply().given() : 0);
  }

  WARPHEAP_DEVICE queue_type queue(std::uint32_t cls) const {
    if constexpr (Config.queue == queue_kind::static_array) {
      const int value_bits = pages ? page_index_bits : amounts_.slots_log2;
      return queue_type(
          &classes_[cls].ends,
          static_cast<slot_type*>(storage_) + (std::size_t{cls} << amounts_.slots_log2),
          amounts_.slots_log2, value_bits);
    } else if constexpr (Config.queue == queue_kind::virtual_array) {
      auto* const entries =
          static_cast<std::uint64_t*>(storage_) + (std::size_t{cls} << amounts_.pointers_log2);
      return queue_type(&classes_[cls].ends, directory_type(entries, amounts_.pointers_log2),
                        pool_);
    } else {
      auto* const fingers =
          static_cast<std::uint64_t*>(storage_) + (std::size_t{cls} << amounts_.fingers_log2);
      return queue_type(
          &classes_[cls].ends,
          directory_type(&classes_[cls].anchor, links_, fingers, amounts_.fingers_log2, cls),
          pool_);
    }
  }

  /// The queue of pages, with its counts.
  WARPHEAP_DEVICE sync::bounded_queue<queue_type> page_queue(std::uint32_t cls) const {
    return {queue(cls), &classes_[cls].units, &classes_[virtualised ? 0 : cls].room};
  }
  /// Pages: the chunks with pages for which the queue had no room.
  WARPHEAP_DEVICE bitmap_tree parked(std::uint32_t cls) const {
    return bitmap_tree(parked_words_ + parked_stride() * cls, amounts_.chunks);
  }

  /// The number of base chunks that queues own from the start: one each.
  WARPHEAP_HD static constexpr std::uint32_t first_data_chunk() {
    return virtualised ? sizes::classes : 0;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    supply_.format(rank, count, amounts_.for_queues, first_data_chunk());
    for (std::uint64_t i = rank; i < chunk_count(); i += count) {
      const bool is_of_a_queue = virtualised && i < sizes::classes;
      table_.set(static_cast<std::uint32_t>(i),
                 is_of_a_queue ? chunk_state::queue() : chunk_state(0));
    }
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      if (rank == 0) {
        classes_[cls].units = sync::bulk_semaphore::initial(0);
        classes_[cls].room = sync::bulk_semaphore::initial(amounts_.room());
        classes_[cls].whole = 0;
        classes_[cls].moves = 0;
      }
      if constexpr (pages) parked(cls).format(0, rank, count);
      if constexpr (virtualised) {
        queue(cls).format(rank, count, cls);
      } else {
        queue(cls).format(rank, count);
      }
    }
  }

 private:
  /// The number of bits of a page's index: its chunk's number, and its own within the chunk.
  static constexpr int page_index_bits = 40;
  static_assert(sizes::most_pages_log2 + 27 <= page_index_bits,
                "ouroboros: the index of a page has 40 bits");
  static_assert(sizes::classes <= sync::list_directory::most_queues,
                "ouroboros: more queues than a list directory can tell apart");

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> moves_word(std::uint32_t cls) const {
    return simt::atomic_ref(classes_[pages ? cls : 0].moves);
  }
  /// Words of the parked chunks of one class.
  WARPHEAP_HD std::size_t parked_stride() const { return bitmap_tree::words_for(amounts_.chunks); }

  void lay_out(region_cursor& cursor, const amounts& have) {
    const std::size_t count = have.chunks;
    classes_ = cursor.take<class_words>(sizes::classes, 128);
    auto* const supply_words = cursor.take<chunk_supply::words>(1, 128);
    auto* const reuse =
        cursor.take<std::uint32_t>(std::size_t{1} << chunk_supply::queue_log2(have.chunks), 128);
    auto* const marks = cursor.take<std::uint32_t>(chunk_supply::mark_words(have.chunks), 128);
    auto* const states = cursor.take<std::uint32_t>(count, 128);
    auto* const masks = cursor.take<std::uint32_t>(count * sizes::mask_words, 128);
    if (pages) {
      parked_words_ =
          cursor.take<std::uint64_t>(bitmap_tree::words_for(have.chunks) * sizes::classes, 128);
    }
    std::uint32_t* finished = nullptr;
    if (virtualised) finished = cursor.take<std::uint32_t>(count, 128);
    if constexpr (Config.queue == queue_kind::static_array) {
      storage_ = cursor.take<slot_type>(std::size_t{sizes::classes} << have.slots_log2, 128);
    } else if constexpr (Config.queue == queue_kind::virtual_array) {
      storage_ = cursor.take<std::uint64_t>(std::size_t{sizes::classes} << have.pointers_log2, 128);
    } else {
      storage_ = cursor.take<std::uint64_t>(std::size_t{sizes::classes} << have.fingers_log2, 128);
      links_ = cursor.take<std::uint64_t>(count, 128);
    }
    // Pages of any size up to a chunk's are aligned to their size; devices promise 4 KiB.
    constexpr std::size_t most_alignment = 4096;
    chunks_ = cursor.take<std::byte>(count << sizes::chunk_log2, sizes::chunk_bytes < most_alignment
                                                                     ? sizes::chunk_bytes
                                                                     : most_alignment);
    supply_ = chunk_supply(supply_words, marks, reuse, have.chunks, sizes::most_span);
    table_ = table_type(states, masks);
    if (virtualised) {
      pool_ = pool_type(supply_, table_, chunks_, finished, pages ? &classes_[0].room : nullptr);
    }
  }

  /// The smallest number of chunks of which some are left for data.
  static std::uint32_t least_chunks() {
    std::uint32_t count = sizes::most_span;
    while (amounts(count).for_queues + sizes::most_span > count) ++count;
    return count;
  }

  amounts amounts_{0};
  class_words* classes_ = nullptr;
  chunk_supply supply_;
  table_type table_;
  pool_type pool_;
  std::uint64_t* parked_words_ = nullptr;
  std::uint64_t* links_ = nullptr;
  void* storage_ = nullptr;
  std::byte* chunks_ = nullptr;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
