// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The directory of the virtualised array-hierarchy queue (VAQ) of M. Winter et al., "Ouroboros"
/// (ICS 2020, section 5.1): a small ring of pointers to chunks.
///
///     number v  ->  entry v % capacity: [ v | chunk ], or [ v | none ] while v is not published
///
/// Entries carry their number, so a lane that looks for a chunk of a later lap is not misled. An
/// empty entry says which chunk it waits for: a lane that publishes a chunk of the next lap may
/// come first, and must not take the place of a chunk whose values others wait for.
///
/// Progress: `publish` waits until the chunk one lap earlier is retired. Lanes that publish lower
/// numbers wait only for still lower ones; and since there are at least as many entries as the
/// queue can have chunks, every value one lap earlier is about to be taken. Orders: an entry is
/// stored with release and loaded with acquire; it brings the cleared slots along.

#include "warpheap/sync/index_queue/virtual_queue.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

class array_directory {
 public:
  array_directory() = default;
  /// \param entries `2^capacity_log2` words; at least as many as a queue can have chunks
  WARPHEAP_HD array_directory(std::uint64_t* entries, int capacity_log2)
      : entries_(entries), capacity_log2_(capacity_log2) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count,
                              std::uint32_t first_chunk) const {
    for (std::uint64_t i = rank; i < std::uint64_t{1} << capacity_log2_; i += count) {
      entries_[i] =
          i == 0 ? numbered_chunk::encode(0, first_chunk) : numbered_chunk::without_chunk(i);
    }
  }

  WARPHEAP_DEVICE bool find(std::uint64_t number, std::uint32_t& chunk) const {
    const std::uint64_t word = simt::atomic_ref(entry(number)).load(simt::order::acquire);
    chunk = numbered_chunk::chunk_of(word);
    return numbered_chunk::names(word, number);
  }

  /// `find` while the queue is not in use, for a pool of `chunks` chunks: returns no others.
  WARPHEAP_DEVICE bool look(std::uint64_t number, std::uint32_t chunks,
                            std::uint32_t& chunk) const {
    return find(number, chunk) && chunk < chunks;
  }

  WARPHEAP_DEVICE void publish(std::uint64_t number, std::uint32_t chunk) const {
    const simt::atomic_ref word(entry(number));
    // Relaxed: only the lane that retired the old chunk must know that it is no longer in use.
    while (word.load(simt::order::relaxed) != numbered_chunk::without_chunk(number)) {
      simt::backoff(pause);
    }
    word.store(numbered_chunk::encode(number, chunk), simt::order::release);
  }

  /// Chunks are given back one by one, as early as possible.
  template <class Pool>
  WARPHEAP_DEVICE void tidy(const simt::group& /*members*/, const Pool& /*pool*/) const {}

  /// All slots of the chunk have been taken, so no lane looks for it any longer.
  template <class Pool>
  WARPHEAP_DEVICE void retire(const simt::group& members, std::uint64_t number, std::uint32_t chunk,
                              const Pool& pool) const {
    if (!members.is_leader()) return;
    simt::atomic_ref(entry(number))
        .store(numbered_chunk::without_chunk(number + (std::uint64_t{1} << capacity_log2_)),
               simt::order::relaxed);
    pool.give(chunk);
  }

 private:
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  WARPHEAP_DEVICE std::uint64_t& entry(std::uint64_t number) const {
    return entries_[number & ((std::uint64_t{1} << capacity_log2_) - 1)];
  }

  std::uint64_t* entries_ = nullptr;
  int capacity_log2_ = 0;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
