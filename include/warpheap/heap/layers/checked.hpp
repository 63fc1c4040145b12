// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/hash.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/device_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

struct checked_config {
  /// Wrong uses that are recorded; further ones are only counted.
  std::uint32_t log_entries = 1024;
};

/// Finds wrong uses of any manager: double and foreign frees, which are then not passed on, writes
/// behind a block's end, and blocks that are never freed. `heap::incidents()` lists them, each with
/// the size and the thread of the malloc, and so does the heap's destructor on stderr.
///
/// A bit for each 16 bytes of the manager's region says whether a block starts there, so whether a
/// pointer may be freed is known for certain, also when its memory has been handed out again.
///
/// Layout: [ log ][ starts: 1 bit a granule of 16 B ][ the manager's region ]
///   block: [ bytes u64, thread u64, seal u64, 8 B unused ][ the caller's bytes ][ guard 16 B ]
///   seal:  a hash of the block's address; it stays when the block is freed, and tells a double
///   free
///          from a free of something that never was a block
template <block_manager M, checked_config Config = checked_config{}>
class checked {
  static constexpr std::size_t granule = 16;
  static constexpr std::size_t header = 32;
  static constexpr std::size_t guard = 16;

 public:
  using options = typename M::options;

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    if (inner.largest_block != 0) inner.largest_block -= header + guard;
    inner.alignment = granule;
    return inner;
  }();
  static_assert(M::about.uses_region, "checked needs a manager whose blocks lie in its region");

  checked(const region& memory, const simt::device_properties& machine, const options& settings)
      : parts_(memory),
        inner_({parts_.blocks, parts_.bytes}, machine,
               with_block_overhead<M>(settings, header + guard)) {}

  WARPHEAP_HD std::size_t largest_block() const {
    const std::size_t inner = inner_.largest_block();
    return inner < header + guard ? 0 : inner - header - guard;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) parts_.log->count = 0;
    for (std::uint64_t i = rank; i < parts_.bit_words(); i += count) parts_.starts[i] = 0;
    inner_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    auto* front = static_cast<std::byte*>(inner_.malloc(bytes + header + guard));
    if (front == nullptr) return nullptr;
    std::byte* block = front + header;
    *reinterpret_cast<block_header*>(front) = {bytes, simt::thread_rank(), seal(block)};
    for (std::size_t i = 0; i < guard; ++i) block[bytes + i] = guard_byte;
    // Release pairs with the acquire in `free`: whoever frees sees the header.
    const std::uint64_t bit = granule_of(block);
    simt::atomic_ref(parts_.starts[bit / 32]).fetch_or(1u << bit % 32, simt::order::release);
    return block;
  }

  WARPHEAP_DEVICE void free(void* pointer) const {
    auto* block = static_cast<std::byte*>(pointer);
    const auto offset = static_cast<std::size_t>(block - parts_.blocks);
    const bool inside =
        block >= parts_.blocks + header && offset < parts_.bytes && offset % granule == 0;
    if (!inside) {
      record({incident::kind::foreign_free, address(block), 0, simt::thread_rank()});
      return;
    }
    const std::uint64_t bit = granule_of(block);
    const std::uint32_t mask = 1u << bit % 32;
    const bool live =
        (simt::atomic_ref(parts_.starts[bit / 32]).fetch_and(~mask, simt::order::acquire) & mask) !=
        0;
    const auto& front = *reinterpret_cast<block_header*>(block - header);
    if (!live) {
      const bool was_block = front.seal == seal(block);
      record({was_block ? incident::kind::double_free : incident::kind::foreign_free,
              address(block), was_block ? front.bytes : 0,
              was_block ? front.thread : simt::thread_rank()});
      return;
    }
    if (overrun(block, front.bytes)) {
      record({incident::kind::overrun, address(block), front.bytes, front.thread});
    }
    inner_.free(block - header);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inner_.inspect(rank, count, findings);
  }

  /// What was recorded, then every block that is in use: as an overrun if its guard is broken, and
  /// as a leak. O(region / 16), on the device.
  std::vector<incident> incidents(const device& on) const {
    incident_log head;
    on.copy_to_host(&head, parts_.log, sizeof head);
    const std::uint64_t recorded =
        head.count < Config.log_entries ? head.count : Config.log_entries;
    std::vector<incident> found(recorded);
    if (recorded != 0) on.copy_to_host(found.data(), parts_.entries, recorded * sizeof(incident));
    if (head.count > recorded) {
      found.push_back({incident::kind::unrecorded, 0, head.count - recorded, 0});
    }
    // Once to count, once to write.
    const auto live = scan(on, 0).count;
    if (live != 0) {
      const auto blocks = scan(on, live).entries;
      found.insert(found.end(), blocks.begin(), blocks.end());
    }
    return found;
  }

  /// Appends what is wrong with the blocks that are in use; called by every lane of a grid.
  WARPHEAP_DEVICE void report_live(std::uint64_t* count, incident* entries,
                                   std::uint64_t room) const {
    for (std::uint64_t i = simt::thread_rank(); i < parts_.bit_words(); i += simt::grid_size()) {
      for (std::uint32_t rest = parts_.starts[i]; rest != 0; rest &= rest - 1) {
        std::byte* block =
            parts_.blocks + (i * 32 + static_cast<std::uint64_t>(lowest_bit(rest))) * granule;
        const auto& front = *reinterpret_cast<block_header*>(block - header);
        if (overrun(block, front.bytes)) {
          append({incident::kind::overrun, address(block), front.bytes, front.thread}, *count,
                 entries, room);
        }
        append({incident::kind::leak, address(block), front.bytes, front.thread}, *count, entries,
               room);
      }
    }
  }

 private:
  static constexpr std::size_t alignment = 128;
  static constexpr std::byte guard_byte{0xa5};

  struct block_header {
    std::uint64_t bytes;
    std::uint64_t thread;
    std::uint64_t seal;
  };
  struct incident_log {
    std::uint64_t count = 0;
  };
  struct scan_result {
    std::uint64_t count;
    std::vector<incident> entries;
  };

  /// Where everything lies.
  struct parts {
    explicit parts(const region& memory) {
      lay_out_most(memory, about.name, std::size_t{0}, memory.bytes / alignment,
                   [this](region_cursor& cursor, std::size_t lines) {
                     log = cursor.take<incident_log>(1);
                     entries = cursor.take<incident>(Config.log_entries);
                     bytes = lines * alignment;
                     starts = cursor.take<std::uint32_t>(bit_words());
                     blocks = cursor.take<std::byte>(bytes, alignment);
                   });
    }
    WARPHEAP_HD std::uint64_t bit_words() const { return (bytes / granule + 31) / 32; }

    incident_log* log;
    incident* entries;
    std::uint32_t* starts;
    std::byte* blocks;
    std::size_t bytes;
  };

  WARPHEAP_DEVICE std::uint64_t granule_of(const std::byte* block) const {
    return static_cast<std::uint64_t>(block - parts_.blocks) / granule;
  }
  WARPHEAP_DEVICE static std::uint64_t address(const void* block) {
    return reinterpret_cast<std::uintptr_t>(block);
  }
  WARPHEAP_DEVICE static std::uint64_t seal(const void* block) {
    return mix64(address(block) ^ 0x7761727068656170ull);
  }
  WARPHEAP_DEVICE static bool overrun(const std::byte* block, std::uint64_t bytes) {
    for (std::size_t i = 0; i < guard; ++i) {
      if (block[bytes + i] != guard_byte) return true;
    }
    return false;
  }

  WARPHEAP_DEVICE static void append(const incident& what, std::uint64_t& count, incident* entries,
                                     std::uint64_t room) {
    // Relaxed: the host reads when the device is idle.
    const std::uint64_t place = simt::atomic_ref(count).fetch_add(1, simt::order::relaxed);
    if (place < room) entries[place] = what;
  }
  WARPHEAP_DEVICE void record(const incident& what) const {
    append(what, parts_.log->count, parts_.entries, Config.log_entries);
  }

  scan_result scan(const device& on, std::uint64_t room) const;

  parts parts_;
  M inner_;
};

namespace detail {

template <class Checked>
struct report_live_lanes {
  Checked layer;
  std::uint64_t* count;
  incident* entries;
  std::uint64_t room;
  WARPHEAP_DEVICE void operator()() const { layer.report_live(count, entries, room); }
};

}  // namespace detail

template <block_manager M, checked_config Config>
auto checked<M, Config>::scan(const device& on, std::uint64_t room) const -> scan_result {
  const std::size_t bytes = sizeof(std::uint64_t) + room * sizeof(incident);
  const device_memory memory(on, bytes);
  auto* count = reinterpret_cast<std::uint64_t*>(memory.get());
  auto* entries = reinterpret_cast<incident*>(memory.get() + sizeof(std::uint64_t));
  on.fill(count, 0, sizeof(std::uint64_t));
  on.launch(simt::grid::covering(on.properties().resident_threads),
            detail::report_live_lanes<checked>{*this, count, entries, room});
  on.synchronize();
  scan_result result{0, std::vector<incident>(room)};
  on.copy_to_host(&result.count, count, sizeof result.count);
  if (room != 0) on.copy_to_host(result.entries.data(), entries, room * sizeof(incident));
  return result;
}

WARPHEAP_END_NAMESPACE
