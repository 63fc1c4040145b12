// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "end_of_memory_cases.hpp"
#include "manager_cases.hpp"
#include "manager_world.hpp"
#include "untracked.hpp"

#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Chunks of 64 bytes with up to four pages, or eight entries of a queue; one stacked size.
template <queue_kind Queue, item_kind Item>
using small_ouroboros = ouroboros<ouroboros_config{
    .queue = Queue, .item = Item, .smallest_page = 16, .queues = 3, .second_queues = 1}>;

/// Chunks of 512 bytes with up to 32 pages, enough for a warp.
template <queue_kind Queue, item_kind Item>
using wide_ouroboros = ouroboros<ouroboros_config{
    .queue = Queue, .item = Item, .smallest_page = 16, .queues = 6, .second_queues = 0}>;

/// Chunks of 64 pages, and queues of 32: pages are parked.
using more_pages_than_slots = ouroboros<ouroboros_config{.queue = queue_kind::static_array,
                                                         .item = item_kind::pages,
                                                         .smallest_page = 16,
                                                         .queues = 7,
                                                         .second_queues = 0}>;

/// Of pages, as the header says: a chunk keeps its page size.
template <class M>
freed_memory freed_memory_of_queues() {
  if (M::about.reuse == memory_reuse::all) return {reuse_at_rest::of_any_size, ""};
  return {reuse_at_rest::of_its_size, "P: as in the paper, a chunk keeps its page size"};
}

/// \param chunks that are not for queues
template <class M>
setup<M> small_chunks(std::size_t region_bytes, int chunks) {
  return {.region_bytes = region_bytes,
          .sizes = {16, 24, 64},
          .holds = {4 * chunks, 2 * chunks, chunks},
          .reuses = true,
          .freed = freed_memory_of_queues<M>()};
}

/// Blocks of the stacked instance, which are runs of two chunks.
template <class M>
setup<M> stacked_chunks(int chunks) {
  return {.region_bytes = 12 * 1024,
          .sizes = {128, 64, 100},
          .holds = {chunks / 2, chunks, chunks / 2},
          .reuses = true,
          .freed = freed_memory_of_queues<M>()};
}

/// A wholly free chunk changes its size while a warp is short of one page: five pages of the first
/// size are free, four of them on one chunk.
inline named_case chunk_changes_size(const any_setup& how) {
  return {"large_among_small", [how] { return large_among_small(how, 5); }};
}
/// A wholly free chunk is reclaimed for two sizes: for one it will do, for the other it is too
/// short and goes back to the supply.
class chunk_is_too_short : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit chunk_is_too_short(const any_setup& how) : heap_world(how) {
    heap.fill_quietly();
    heap.empty_quietly(heap.blocks().count() - 5);
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      heap.take(128);
    } else if (heap.take(64) == nullptr) {
      heap.blocks().note("null, and a chunk was free all the time");
    }
  }
};

inline named_case chunk_for_one_size(const any_setup& how) {
  return case_of<chunk_is_too_short>("chunk_for_one_size", how);
}

/// There are fewer blocks than lanes that want one, and as many lanes are served as there are
/// blocks.
class few_blocks : public heap_world {
 public:
  few_blocks(const any_setup& how, int blocks) : heap_world(how), blocks_(blocks) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    std::fill_n(got_, case_lanes, nullptr);
  }

  std::string verdict() {
    const auto served = static_cast<int>(case_lanes - std::count(got_, got_ + case_lanes, nullptr));
    return served == blocks_
               ? heap.problem()
               : std::to_string(served) + " lanes were served, and there was memory for " +
                     std::to_string(blocks_);
  }

 protected:
  /// Takes a block for this lane. A lane wants one at most.
  void want(std::uint32_t bytes) { got_[simt::thread_rank()] = heap.take(bytes); }

 private:
  int blocks_;
  std::byte* got_[case_lanes] = {};
};

/// A run of chunks is left, and it is not where a run became free last: lanes that want it must
/// search. Each borrows the units of the run, finds nothing where it looks first, and gives the
/// units back, while another one finds none to borrow. In the end one of them has the run.
class one_run_left : public few_blocks {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit one_run_left(const any_setup& how) : few_blocks(how, 1) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const run = heap.take(heap.size(0))) all.push_back(run);
      give(all.front());
      give(all.back());
      heap.take(heap.size(0));  // the one that was freed last
    });
    heap.keep_state();
  }

  void lane() { want(heap.size(0)); }
};

inline named_case run_for_one_lane(const any_setup& how) {
  return case_of<one_run_left>("run_for_one_lane", how);
}

/// Entries of the first chunk of a run are still queued, ahead of that of the only free chunk. A
/// lane that has the unit of the latter may come to the former while another lane frees the run:
/// what it writes there must come after all accesses to the run.
class queued_chunk_of_a_run : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit queued_chunk_of_a_run(const any_setup& how) : freeing_world(how, run) {
    heap.run_quietly([&] {
      std::byte* const pair = heap.take(run);
      std::byte* last = nullptr;
      while (std::byte* const one = heap.take(chunk)) last = one;
      heap.give(pair);
      freed_ = heap.take(run);
      heap.give(last);
    });
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
    } else if (heap.take(chunk) == nullptr) {
      heap.blocks().note("null, and a chunk was free all the time");
    }
  }

 private:
  static constexpr std::uint32_t run = 128;
  static constexpr std::uint32_t chunk = 64;
};

inline named_case run_with_queued_entries(const any_setup& how) {
  return case_of<queued_chunk_of_a_run>("run_with_queued_entries", how);
}

inline std::vector<named_case> stacked_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  cases.push_back(run_for_one_lane(how));
  cases.push_back(run_with_queued_entries(how));
  return cases;
}

inline std::vector<named_case> chunk_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  cases.push_back(chunk_changes_size(how));
  cases.push_back(chunk_for_one_size(how));
  return cases;
}

/// The only free memory that 32 bytes fit in is a chunk of two pages: one that is parked, or the
/// last one of the supply. Smaller pages have all the room of the queues. A lane takes a page and
/// parks the chunk, while a warp that wants two finds neither the chunk nor enough that is
/// expected: one of both pages is for it.
class one_pair_left : public few_blocks {
 public:
  static constexpr simt::grid shape{2, 2};

  one_pair_left(const any_setup& how, bool parked) : few_blocks(how, 2) {
    std::size_t pairs = 0;
    hold_all_but([&](std::vector<std::byte*>& all) {
      pairs = all.size() / 2;
      if (!parked) return;
      std::sort(all.begin(), all.end());
      const auto first = std::adjacent_find(all.begin(), all.end(), [](auto* a, auto* b) {
        return b - a == bytes && reinterpret_cast<std::uintptr_t>(a) % chunk_bytes == 0;
      });
      for (std::byte* const page : {first[0], first[1]}) heap.give(page);
    });
    if (!parked) {
      heap.restore();
      hold_all_but([](const std::vector<std::byte*>& /*all*/) {}, 2 * (pairs - 1));
    }
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() != 0) want(bytes);
  }

 private:
  static constexpr std::uint32_t bytes = 32;
  static constexpr std::size_t chunk_bytes = 64;
  static constexpr std::size_t pages_in_queues = 32;

  /// Takes up to `most` blocks, and lets `act` give some of them back once the queues are full.
  template <class Act>
  void hold_all_but(const Act& act, std::size_t most = ~std::size_t{0}) {
    heap.run_quietly([&] {
      std::vector<std::byte*> small(pages_in_queues);
      for (std::byte*& page : small) page = heap.take(16);
      std::vector<std::byte*> all;
      while (all.size() < most) {
        std::byte* const page = heap.take(bytes);
        if (page == nullptr) break;
        all.push_back(page);
      }
      for (std::byte* const page : small) heap.give(page);
      act(all);
    });
  }
};

inline std::vector<named_case> pair_cases(const any_setup& how) {
  return {case_of<one_pair_left>("one_parked_chunk", how, true),
          case_of<one_pair_left>("one_new_chunk", how, false)};
}

/// A lane frees a page for which the queue has no room, and takes all pages that are queued.
/// Another lane, which then finds the queue empty, must find the page where it is parked.
class parked_before_all_are_taken : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit parked_before_all_are_taken(const any_setup& how) : freeing_world(how, bytes) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const page = heap.take(bytes)) all.push_back(page);
      freed_ = all.back();
      for (int i = 0; i < queued; ++i) heap.give(all[static_cast<std::size_t>(i)]);
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    freeing_world::reset(seed);
    queue_is_empty_ = false;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
      for (int i = 0; i < queued; ++i) want();
      queue_is_empty_ = true;
    } else {
      // Ends: the other lane does not wait for this one. Orders nothing: only the manager's own
      // words do.
      while (!queue_is_empty_) simt::backoff(1);
      want();
    }
  }

 private:
  static constexpr std::uint32_t bytes = 16;
  static constexpr int queued = 32;

  void want() {
    if (heap.take(bytes) == nullptr) heap.blocks().note("null, and a page was free all the time");
  }

  untracked<bool> queue_is_empty_;
};

inline std::vector<named_case> parked_page_cases(const any_setup& how) {
  return {case_of<parked_before_all_are_taken>("parked_before_all_are_taken", how)};
}

template <class M>
setup<M> wide_chunks(std::size_t region_bytes, int pages) {
  return {.region_bytes = region_bytes,
          .sizes = {16, 12, 8},
          .holds = {pages, pages, pages},
          .reuses = true,
          .freed = freed_memory_of_queues<M>()};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
