// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "manager_world.hpp"
#include "untracked.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Flat pages of 256 bytes with 8, 5 and 2 chunks, single pages, and runs of two.
template <class M>
setup<M> flat_pages() {
  constexpr int pages = 11;
  return {.region_bytes = 1280 + pages * 256,
          .sizes = {32, 100, 48, 200, 300},
          .holds = {pages * (256 / 32), pages * (256 / 112), pages * (256 / 48), pages, pages / 2},
          .exact = false};
}

/// Pages of 1 KiB, most of them with two levels: 63 chunks of 16 bytes. Three behind 1792 bytes;
/// what is left is less than one.
template <class M>
setup<M> two_level_pages() {
  constexpr int pages = 3;
  // A segment of 32 chunks and a second one, which is full with one chunk less, and their masks.
  constexpr int chunks = (1024 - 2 * 4) / 16;
  return {.region_bytes = 5120,
          .sizes = {16, 100, 600},
          .holds = {pages * chunks, pages * (1024 / 112), pages},
          .exact = false};
}

/// A lane frees a chunk of a segment that is full otherwise, while another one looks there, notes
/// that it is full, and takes the last chunk of the other segment. A note that stays is wrong.
class freed_while_seen_full : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit freed_while_seen_full(const any_setup& how) : freeing_world(how, bytes) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const chunk = heap.take(bytes)) all.push_back(chunk);
      std::sort(all.begin(), all.end());
      // The lane that takes the last chunk of a segment does not note that it is full.
      heap.give(all[0]);
      freed_ = heap.take(bytes);
      heap.give(all[segment]);
    });
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
    } else {
      heap.take(bytes);
    }
  }

 private:
  static constexpr std::uint32_t bytes = 16;
  static constexpr std::size_t segment = 32;
};

/// Two pages are free, on both sides of a boundary in the set of free pages. A lane that wants both
/// as a run may take one and put it back, as another lane has the other one; a third lane finds
/// nothing meanwhile. Afterwards, what is free must be served.
class run_put_back : public heap_world {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit run_put_back(const any_setup& how) : heap_world(how) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const page = heap.take(page_bytes)) all.push_back(page);
      std::sort(all.begin(), all.end());
      for (std::size_t i : {boundary - 1, boundary}) heap.give(all.at(i));
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    served_ = 0;
  }

  void lane() { take(simt::thread_rank() == 0 ? 2 : 1); }

  std::string verdict() {
    heap.run_quietly([&] {
      while (take(1)) {
      }
    });
    if (served_ != 2) return std::to_string(served_) + " pages were served, and two were free";
    return heap.problem();
  }

 private:
  static constexpr std::uint32_t page_bytes = 256;
  static constexpr std::size_t boundary = 64;

  bool take(std::uint32_t pages) {
    const bool served = heap.take(pages * page_bytes) != nullptr;
    if (served) served_ = served_ + static_cast<int>(pages);
    return served;
  }

  untracked<int> served_ = 0;
};

/// A lane frees a run, and another one wants a page: now or later it gets one.
class run_comes_back : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit run_comes_back(const any_setup& how) : freeing_world(how, 2 * page_bytes) {
    heap.run_quietly([&] {
      freed_ = heap.take(2 * page_bytes);
      while (heap.take(page_bytes) != nullptr) {
      }
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    freeing_world::reset(seed);
    served_ = 0;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
    } else if (heap.take(page_bytes) != nullptr) {
      ++served_;
    }
  }

  std::string verdict() {
    heap.run_quietly([&] {
      while (heap.take(page_bytes) != nullptr) ++served_;
    });
    if (served_ != 2) return std::to_string(served_) + " pages were served, and two were freed";
    return heap.problem();
  }

 private:
  static constexpr std::uint32_t page_bytes = 256;

  untracked<int> served_ = 0;
};

/// Flat pages behind more than a word of the set.
template <class M>
setup<M> many_flat_pages() {
  constexpr int pages = 73;
  return {.region_bytes = 2304 + pages * 256, .sizes = {200}, .holds = {pages}, .exact = false};
}

inline std::vector<named_case> page_cases(const any_setup& how) {
  return {case_of<run_put_back>("run_put_back", how),
          case_of<run_comes_back>("run_comes_back", how)};
}

inline std::vector<named_case> segment_cases(const any_setup& how) {
  return {case_of<freed_while_seen_full>("freed_while_seen_full", how)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
