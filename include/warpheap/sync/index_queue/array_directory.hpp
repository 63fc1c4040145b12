// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The directory of the virtualised array-hierarchy queue (VAQ) of M. Winter et al., "Ouroboros"
/// (ICS 2020, section 5.1): a small ring of pointers to chunks.
///
///     number v  ->  entry v % capacity: [ v | chunk ], or [ v | none ] while v is not published
///
/// Entries carry their number, so a lane that looks for a chunk of a later lap is not misled, and
/// an empty entry says which chunk it waits for: the lane that publishes a lap later may be first,
/// and must not take the place of a chunk whose values others wait for.
///
/// Progress: `publish` waits for the chunk one lap before to be retired. Lanes that publish lower
/// numbers wait for none but lower ones, and with at least as many entries as the queue can have
/// chunks, a lap behind there is no value that nobody is about to take. Orders: an entry is stored
/// with release and loaded with acquire; it brings the cleared slots along.

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

  /// `find` while nobody uses the queue, of a pool of `chunks` chunks: names no others.
  WARPHEAP_DEVICE bool look(std::uint64_t number, std::uint32_t chunks,
                            std::uint32_t& chunk) const {
    return find(number, chunk) && chunk < chunks;
  }

  WARPHEAP_DEVICE void publish(std::uint64_t number, std::uint32_t chunk) const {
    const simt::atomic_ref word(entry(number));
    // Relaxed: that nobody uses the old chunk any more is its retirer's knowledge, not ours.
    while (word.load(simt::order::relaxed) != numbered_chunk::without_chunk(number)) {
      simt::backoff(pause);
    }
    word.store(numbered_chunk::encode(number, chunk), simt::order::release);
  }

  /// Chunks are given back one by one, as soon as they can be.
  template <class Pool>
  WARPHEAP_DEVICE void tidy(const simt::group& /*members*/, const Pool& /*pool*/) const {}

  /// All slots of the chunk have been taken: nobody looks for it any more.
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
