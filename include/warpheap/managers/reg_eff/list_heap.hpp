// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Variants C, CF, CM and CFM: first fit in the list of chunks, from a memory offset on.

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/reg_eff/chunk_list.hpp"
#include "warpheap/managers/reg_eff/config.hpp"
#include "warpheap/managers/reg_eff/inspection.hpp"
#include "warpheap/managers/reg_eff/operations.hpp"
#include "warpheap/managers/reg_eff/presplit.hpp"
#include "warpheap/managers/reg_eff/runs_left.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

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
                   searches_ = cursor.take<shared_searches>(1, 128);
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
    if (rank == 0) searches_->format(running_);
    chunks_.format(fresh_, rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const auto need = static_cast<std::uint32_t>(Config.granules_for(bytes));
    if (running_.is_out(need)) return nullptr;
    std::uint32_t chunk = search(my_offset().load(simt::order::relaxed), need);
    if (chunk == list::none) chunk = search_all(need);
    return chunk == list::none ? nullptr : chunks_.block(chunk);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    if (!chunks_.holds(block)) return;  // not of this heap
    const std::uint32_t chunk = chunks_.chunk_of(block);
    std::uint32_t next = chunks_.next_of(chunk);
    const std::uint32_t operation = running_.begin();
    if (Config.merges && chunks_.merge(next)) move_offset(next);
    chunks_.publish(chunk, next);
    running_.end(operation, 1);
  }

  /// 0 for a pointer outside the heap.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    if (!chunks_.holds(block)) return 0;
    const std::uint32_t chunk = chunks_.chunk_of(block);
    return std::size_t{chunks_.next_of(chunk) - chunk} * granule - Config.header_bytes();
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    list_inspector<Config>(chunks_, findings).run(rank, count);
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
  /// The number of free chunks that a request visits on its own.
  static constexpr std::uint32_t most_visits = 64;
  /// Granules of one place in the searches that requests share.
  static constexpr std::uint32_t place = 64;
  using shared_searches = shared_search<128, runs_left, 1>;
  /// A lane gives up after two rounds that others spoilt if they have seen this many runs; else it
  /// searches again: where there are few, others may hold the ones that suit it for a moment.
  static constexpr std::uint32_t most_runs = 1u << 11;
  static constexpr int most_rounds = 1024;
  /// Nor does it give up before this many rounds if others found as much together in the last one:
  /// it may have come too late, or lost a race.
  static constexpr int patient_rounds = 16;
  /// Granules of a run that are inspected in any case.
  static constexpr std::uint32_t least_looks = 4096;

  /// The sizes that the members of a team need.
  struct bounds {
    std::uint32_t least;
    std::uint32_t most;
  };
  /// Consecutive free chunks; length 0: none.
  struct run {
    std::uint32_t start;
    std::uint32_t length;
  };

  /// From run to run of those that start before `last`.
  struct walk {
    std::uint32_t next;
    std::uint32_t last;
    run at;
    runs_left::seen left;
    bool roomy;  ///< a run was longer than any lane needs, and than `least_looks`

    /// Moves to the first run of `least` granules or more. A run is inspected only as far as a
    /// member needs it: beyond that, it counts as one that suits any request.
    WARPHEAP_DEVICE void go_on(const list& chunks, const bounds& wanted) {
      while (at.length < wanted.least) {
        if (at.length != 0) {
          left.longest = at.length > left.longest ? at.length : left.longest;
          ++left.count;
        }
        at = {next < last ? chunks.next_free(next) : list::none, 0};
        if (at.start >= last) {
          next = last;
          return;
        }
        const std::uint32_t rest = chunks.end() - at.start;
        const std::uint32_t look = wanted.most < rest ? wanted.most : rest;
        const std::uint32_t end = chunks.obstacle(at.start, look);
        next = end != list::none ? end : at.start + look;
        at.length = end != list::none || look == rest ? next - at.start : chunks.end();
        roomy = roomy || at.length == chunks.end();
      }
    }
    /// The current run has changed.
    WARPHEAP_DEVICE void look_again() {
      next = at.start;
      at.length = 0;
    }
  };

  /// A cache line of its own, so that multiprocessors do not share one.
  struct alignas(128) offset {
    std::uint32_t chunk;
  };

  /// Any value below the end will do, because a search only starts there. So relaxed suffices.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> my_offset() const {
    return simt::atomic_ref(
        offsets_[Config.offsets == memory_offsets::one ? 0 : simt::sm_id() % offset_count_].chunk);
  }
  WARPHEAP_DEVICE void move_offset(std::uint32_t next) const {
    my_offset().store(next == chunks_.end() ? 0 : next, simt::order::relaxed);
  }

  /// The first chunk from `from` on, wrapping around, that was free and large enough, now kept for
  /// the caller; none if there is none among the first free ones.
  ///
  /// A lane that loses a race skips a random distance, which is greater the more often it has lost:
  /// in step, a million lanes would lose a million races each.
  WARPHEAP_DEVICE std::uint32_t search(std::uint32_t from, std::uint32_t need) const {
    std::uint32_t reach = need < chunks_.end() / 4 ? 4 * need : chunks_.end();
    std::uint32_t chunk = chunks_.next_free(from);
    for (std::uint32_t visits = 0; visits < most_visits && chunk != list::none; ++visits) {
      // All chunks before the obstacle also run into it.
      std::uint32_t next = chunks_.obstacle(chunk, need);
      if (next == list::none) {
        if (take(chunk, need)) return chunk;
        next = chunk + 1 + scale_to(static_cast<std::uint32_t>(simt::noise()), reach);
        reach = reach < chunks_.end() / 4 ? 4 * reach : chunks_.end();
      }
      chunk = chunks_.next_free(next);
      if (chunk == list::none) chunk = chunks_.next_free(0);
    }
    return list::none;
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
        chunks_.publish(simt::as_needed(chunk), next);
        made_free = 1;
      } else {
        if (Config.splits(next - chunk, need)) {
          made_free = free_rest(chunk + need, next, need);
          next = chunk + need;
        }
        chunks_.keep(chunk, next);
        move_offset(next);
      }
    }
    running_.end(operation, made_free);
    return fits;
  }

  /// Frees what a request of `need` granules leaves of the caller's chunk, from `rest` to `end`, as
  /// one chunk or two. Returns how many.
  WARPHEAP_DEVICE std::uint32_t free_rest(std::uint32_t rest, std::uint32_t end,
                                          std::uint32_t need) const {
    chunks_.split(rest);
    const std::uint32_t half = Config.half_of(end - rest, need);
    if (half != 0) {
      chunks_.split(rest + half);
      chunks_.publish(rest + half, end);
      end = rest + half;
    }
    chunks_.publish(rest, end);
    return half != 0 ? 2 : 1;
  }

  /// Searches all chunks, together with other lanes that search. None means that there was a time
  /// when no run was long enough, or that others took or freed chunks during each of the rounds.
  WARPHEAP_DEVICE std::uint32_t search_all(std::uint32_t need) const {
    const simt::group team = simt::coalesced(searches_);
    std::uint32_t chunk = list::none;
    std::uint32_t seen = 0;
    bool done = false;
    for (int rounds = 1; rounds <= most_rounds && !done; ++rounds) {
      searches_->search(
          team, ceil_div(chunks_.end(), place), [&] { return chunk == list::none ? need : 0u; },
          [&](std::uint32_t first, std::uint32_t count) {
            return visit(team, first, count, need, chunk);
          });
      seen += searches_->known().count();
      const bool wait = rounds < patient_rounds && searches_->known().wanted() >= need;
      const bool enough = rounds > 1 && seen > most_runs && !wait;
      done = team.all(chunk != list::none || running_.is_out(need) || enough);
    }
    team.sync();  // a receiver's accesses come after the acquire of the lane that claimed for it
    return chunk;
  }

  /// Examines `count` places from `first` on, each member a part of them, and serves the members
  /// from what it finds. Returns what is left in the caller's part.
  WARPHEAP_DEVICE runs_left::seen visit(const simt::group& team, std::uint32_t first,
                                        std::uint32_t count, std::uint32_t need,
                                        std::uint32_t& chunk) const {
    const auto lanes = static_cast<std::uint32_t>(team.size());
    const std::uint32_t part = ceil_div(count, lanes);
    const std::uint32_t begin = part * static_cast<std::uint32_t>(team.rank());
    const std::uint32_t end = begin + part < count ? begin + part : count;
    walk mine{
        (first + begin) * place, begin < end ? (first + end) * place : 0, {0, 0}, {0, 0, 0}, false};
    // Each member counts a run here, so that lanes give up soon if all compete for short ones; but
    // a run with room for many counts once.
    const auto uncertain = [&] {
      return runs_left::seen{chunks_.end(), team.any(mine.roomy) && !team.is_leader() ? 0u : 1u,
                             mine.left.wanted};
    };
    // Each turn serves a member, or loses a race for a chunk: not too many of those.
    for (std::uint32_t turns = 0; turns < lanes + 4; ++turns) {
      const bounds wanted = bounds_of(team, team.ballot(chunk == list::none), need);
      mine.go_on(chunks_, wanted);
      if (!team.any(mine.at.length >= wanted.least)) {
        // The rest of a run that was taken may start in a place that has already been inspected.
        return turns == 0 ? mine.left : uncertain();
      }
      serve(team, mine, need, chunk);
    }
    return uncertain();  // others are busy here
  }

  /// What the members of `unserved` need.
  WARPHEAP_DEVICE bounds bounds_of(const simt::group& team, simt::lane_mask unserved,
                                   std::uint32_t need) const {
    bounds all{list::none, least_looks};
    for (; !unserved.empty(); unserved = unserved.without(unserved.lowest())) {
      const std::uint32_t wanted = team.shuffle(need, unserved.lowest());
      all.least = wanted < all.least ? wanted : all.least;
      all.most = wanted > all.most ? wanted : all.most;
    }
    return all;
  }

  /// Serves members that are still without a chunk from the runs at which the members are.
  WARPHEAP_DEVICE void serve(const simt::group& team, walk& mine, std::uint32_t need,
                             std::uint32_t& chunk) const {
    const int me = simt::lane_id();
    for (simt::lane_mask left = team.ballot(chunk == list::none); !left.empty();
         left = left.without(left.lowest())) {
      const int who = left.lowest();
      const std::uint32_t wanted = team.shuffle(need, who);
      const simt::lane_mask able = team.ballot(mine.at.length >= wanted);
      if (able.empty()) continue;
      std::uint32_t got = list::none;
      if (me == able.lowest()) {
        if (take(mine.at.start, wanted)) got = mine.at.start;
        if (mine.left.wanted < wanted) mine.left.wanted = wanted;
        mine.look_again();
      }
      got = team.shuffle(got, able.lowest());
      if (me == who) chunk = got;
    }
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
  shared_searches* searches_;
  list chunks_;
  presplit fresh_;
  std::uint32_t offset_count_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
