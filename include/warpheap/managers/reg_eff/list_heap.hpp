// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Variants C, CF, CM and CFM: first fit in the list of chunks, from a memory offset on.

#include "warpheap/core/error.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/reg_eff/chunk_list.hpp"
#include "warpheap/managers/reg_eff/config.hpp"
#include "warpheap/managers/reg_eff/operations.hpp"
#include "warpheap/managers/reg_eff/presplit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

template <reg_eff_config Config>
class list_heap {
 public:
  using options = no_options;

  list_heap(const region& memory, const simt::device_properties& machine, const options& /*none*/) {
    const std::size_t most = memory.bytes / granule;
    if (most > list::most_granules) {
      throw invalid_argument(
          std::string(Config.name()) + ": a heap of " + std::to_string(memory.bytes) +
          " bytes; at most " + std::to_string(std::size_t{list::most_granules} * granule) +
          " are possible with granules of " + std::to_string(granule) + " bytes");
    }
    offset_count_ = Config.offsets == memory_offsets::one ? 1 : machine.multiprocessors;
    const std::uint32_t shards = std::min(machine.multiprocessors, operations::most_shards);
    lay_out_most(memory, Config.name(), 1u, most < 1 ? 1u : static_cast<std::uint32_t>(most),
                 [&](region_cursor& cursor, std::uint32_t granules) {
                   offsets_ = cursor.take<offset>(offset_count_, alignof(offset));
                   auto* const words =
                       cursor.take<operations::shard>(shards, alignof(operations::shard));
                   running_ = operations(words, shards, cursor.take<operations::proof>(1));
                   chunks_ = list(cursor, granules);
                 });
    fresh_ = presplit(chunks_.end(), static_cast<std::uint32_t>(Config.presplit_bytes / granule),
                      offset_count_);
  }

  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{chunks_.end()} * granule - Config.header_bytes();
  }

  /// The chunks of an empty heap.
  WARPHEAP_HD const presplit& fresh() const { return fresh_; }
  WARPHEAP_HD const chunk_list<Config>& chunks() const { return chunks_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < offset_count_; i += count) {
      offsets_[i].chunk = fresh_.tree_start(static_cast<std::uint32_t>(i));
    }
    running_.format(rank, count);
    chunks_.format(fresh_, rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const auto need = static_cast<std::uint32_t>(Config.granules_for(bytes));
    if (running_.is_proven(need)) return nullptr;
    std::uint32_t visits = 0;
    const std::uint32_t chunk = search(my_offset().load(simt::order::relaxed), need, visits);
    return chunk < chunks_.end() ? chunks_.block(chunk) : search_all(need);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const std::uint32_t chunk = chunks_.chunk_of(block);
    std::uint32_t next = chunks_.next_of(chunk);
    const std::uint32_t operation = running_.begin();
    if (Config.merges && chunks_.merge(next)) move_offset(next);
    chunks_.publish(chunk, next);
    running_.end(operation, 1);
  }

  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    const std::uint32_t chunk = chunks_.chunk_of(block);
    return std::size_t{chunks_.next_of(chunk) - chunk} * granule - Config.header_bytes();
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    chunks_.inspect(rank, count, findings);
    for (std::uint64_t i = rank; i < offset_count_; i += count) {
      findings.expect(offsets_[i].chunk < chunks_.end(), 5, i);
    }
    if (rank != 0) return;
    findings.expect(running_.in_progress() == 0, 6, running_.in_progress());
    const std::uint32_t need = running_.proven();
    findings.expect(need == 0 || !has_room(need), 7, need);
  }

 private:
  using list = chunk_list<Config>;
  static constexpr std::size_t granule = Config.granule_bytes;
  /// A request that others spoil each time gives up after so many visits of chunks, for in a heap
  /// of many each search costs a launch milliseconds; and after so many searches where few are
  /// free, all of which others may hold for a moment.
  static constexpr std::uint32_t least_searches = 4;
  static constexpr std::uint32_t most_searches = 1u << 16;
  static constexpr std::uint32_t most_visits = 1u << 17;
  static constexpr std::uint32_t few = 16;

  /// A cache line of its own, so that multiprocessors do not share one.
  struct alignas(128) offset {
    std::uint32_t chunk;
  };

  /// Any value below the end is good: a search only starts there. So relaxed suffices.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> my_offset() const {
    return simt::atomic_ref(
        offsets_[Config.offsets == memory_offsets::one ? 0 : simt::sm_id() % offset_count_].chunk);
  }
  WARPHEAP_DEVICE void move_offset(std::uint32_t next) const {
    my_offset().store(next == chunks_.end() ? 0 : next, simt::order::relaxed);
  }

  /// A search lost a chunk to another lane, and has not looked at all the others.
  static constexpr std::uint32_t lost = list::none - 1;

  /// The first chunk from `from` to the end that was free and large enough, now kept for the
  /// caller; none, or `lost`. Counts the free chunks that it visits.
  ///
  /// A lane that loses a race goes on a random distance ahead, the farther the more often it has
  /// lost: in step, a million lanes would lose a million races each.
  ///
  /// Ends: each step goes forward.
  WARPHEAP_DEVICE std::uint32_t search(std::uint32_t from, std::uint32_t need,
                                       std::uint32_t& visits) const {
    std::uint32_t result = list::none;
    std::uint32_t reach = need < chunks_.end() / 4 ? 4 * need : chunks_.end();
    std::uint32_t chunk = chunks_.next_free(from);
    while (chunk != list::none) {
      ++visits;
      // All chunks before the obstacle run into it, too.
      std::uint32_t next = chunks_.obstacle(chunk, need);
      if (next == list::none) {
        if (take(chunk, need)) return chunk;
        result = lost;
        next = chunk + 1 + scale_to(static_cast<std::uint32_t>(simt::noise()), reach);
        reach = reach < chunks_.end() / 4 ? 4 * reach : chunks_.end();
      }
      chunk = chunks_.next_free(next);
    }
    return result;
  }

  /// Claims a chunk, merges and splits it to fit, and keeps it. False if it is not free, or turns
  /// out to be too small.
  WARPHEAP_DEVICE bool take(std::uint32_t chunk, std::uint32_t need) const {
    const std::uint32_t operation = running_.begin();
    const bool is_mine = chunks_.claim(chunk);
    bool fits = false;
    std::uint32_t made_free = 0;
    if (is_mine) {
      std::uint32_t next = chunks_.next_of(chunk);
      while (next - chunk < need && chunks_.merge(next)) {
      }
      fits = next - chunk >= need;
      if (!fits) {
        chunks_.publish(chunk, next);
        made_free = 1;
      } else {
        if (Config.splits(next - chunk, need)) {
          chunks_.split(chunk + need);
          chunks_.publish(chunk + need, next);
          next = chunk + need;
          made_free = 1;
        }
        chunks_.keep(chunk, next);
        move_offset(next);
      }
    }
    running_.end(operation, made_free);
    return fits;
  }

  /// Searches all chunks until one fits, or there was a time when none did, or others have taken or
  /// freed chunks during each of a bounded number of searches.
  WARPHEAP_DEVICE void* search_all(std::uint32_t need) const {
    std::uint32_t wait = 64;
    std::uint32_t visits = 0;
    for (std::uint32_t searches = 0; searches < most_searches; ++searches) {
      if (searches >= least_searches && visits >= most_visits && visits > searches * few) break;
      const auto before = running_.now();
      const std::uint32_t chunk = search(0, need, visits);
      if (chunk < chunks_.end()) return chunks_.block(chunk);
      ++visits;
      if (chunk == list::none && running_.was_quiet(before)) {
        running_.prove(before, need);
        return nullptr;
      }
      simt::backoff(wait);
      wait = wait < 4096 ? wait * 2 : wait;
    }
    return nullptr;
  }

  /// Whether a search would find a chunk, while no lane allocates.
  WARPHEAP_DEVICE bool has_room(std::uint32_t need) const {
    std::uint32_t chunk = chunks_.next_free(0);
    while (chunk != list::none) {
      const std::uint32_t obstacle = chunks_.obstacle(chunk, need);
      if (obstacle == list::none) return true;
      chunk = chunks_.next_free(obstacle);
    }
    return false;
  }

  offset* offsets_;
  operations running_;
  list chunks_;
  presplit fresh_;
  std::uint32_t offset_count_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
